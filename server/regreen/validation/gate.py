"""Which candidates are refused before anything of them runs?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from regreen.errors import UnreadableText
from regreen.source import Node, ProjectSources, SourceFile, parse
from regreen.values import Candidate, FileEdit

_MODULES = frozenset(
    [
        "pytest",
        "_pytest",
        "unittest",
        "pluggy",
        "gc",
        "inspect",
        "ctypes",
        "atexit",
        "signal",
        "builtins",
        "importlib",
        "marshal",
        "pickle",
        "subprocess",
        "socket",
        "multiprocessing",
        "faulthandler",
        "code",
        "codeop",
        "trace",
        "bdb",
        "pdb",
        "sysconfig",
        "site",
        "runpy",
        "imp",
        "pkgutil",
        "_thread",
        "resource",
        "mmap",
        "fcntl",
        "pty",
        "cffi",
        "dis",
        "shutil",
    ]
)
_ATTRIBUTES = frozenset(
    [
        "_exit",
        "abort",
        "kill",
        "killpg",
        "fork",
        "forkpty",
        "system",
        "popen",
        "execv",
        "execve",
        "execvp",
        "dup2",
        "closerange",
        "settrace",
        "setprofile",
        "_getframe",
        "meta_path",
        "path_hooks",
        "path_importer_cache",
        "exit",
        "excepthook",
        "unraisablehook",
        "__globals__",
        "__code__",
        "__closure__",
        "f_globals",
        "f_locals",
        "f_back",
        "gi_frame",
        "tb_frame",
        "__subclasses__",
        "__builtins__",
        "__bases__",
        "__mro__",
        "get_objects",
        "get_referrers",
        "addaudithook",
        "_current_frames",
        "environ",
        "putenv",
        "register_at_fork",
        "rmtree",
        "symlink",
        "link",
        "write_text",
        "write_bytes",
        "unlink",
        "rmdir",
        "removedirs",
        "truncate",
        "chmod",
    ]
)
_NAMES = frozenset(
    [
        "exit",
        "quit",
        "eval",
        "exec",
        "compile",
        "__import__",
        "globals",
        "vars",
        "breakpoint",
        "SystemExit",
        "KeyboardInterrupt",
        "BaseException",
        "AssertionError",
        "__builtins__",
        "__loader__",
        "__spec__",
        "setattr",
        "delattr",
    ]
)
_ALWAYS_EQUAL = frozenset({"__eq__", "__ne__", "__bool__", "__getattribute__", "__instancecheck__"})
_WORD = re.compile(
    r"\b(?:"
    + "|".join(sorted(_MODULES | _ATTRIBUTES | _NAMES | _ALWAYS_EQUAL))
    + r"|open|return\s+(?:True|False))\b|except\s*:"
)
_TOP_LEVEL = re.compile(r"^[^\s#)\]}]", re.MULTILINE)
_RECOGNISES = re.compile(r"==|!=|\bin\b|\bis\b")
_TRIVIAL = frozenset({"0", "1", "''", '""', "-1"})
_BRANCH = re.compile(r"\bif\b")
_ELISION = ("... existing code ...", "... rest of", "# ...existing", "…existing code…")


class Gate:
    """The static rung of the ladder.

    Args:
        sources: the unpatched text.
        protected: why a file may not be changed, "" when it may.
        test_literals: literals (as written) that occur in the target test.
    """

    def __init__(
        self, sources: ProjectSources, protected: Callable[[Path], str], test_literals: frozenset[str]
    ) -> None:
        self._sources = sources
        self._protected = protected
        self._literals = test_literals
        self._old: dict[Path, Counter[str]] = {}

    def forbids(self, candidate: Candidate) -> str:
        """Say which file of the candidate may not be changed, and why; "" when all may be."""
        for edit in candidate.edits:
            if reason := self._protected(edit.path):
                return f"{edit.path.name}: {reason}"
        return ""

    def refuses(self, candidate: Candidate, overlay: Mapping[Path, bytes]) -> str:
        """Say why the candidate must not run; "" when nothing speaks against it.

        Args:
            candidate: the patch.
            overlay: the full new bytes of each file it changes.
        """
        if reason := self.forbids(candidate):
            return reason
        for edit in candidate.edits:
            path, data = edit.path, overlay[edit.path]
            old = self._sources.get(path)
            try:
                new = parse(path, data)
            except UnreadableText as error:
                return f"{path.name}: {error}"
            reason = self._text(edit, old, new) if old is not None else ""
            if reason:
                return f"{path.name}: {reason}"
        return ""

    def _text(self, edit: FileEdit, old: SourceFile, new: SourceFile) -> str:
        if any(mark in new.text and mark not in old.text for mark in _ELISION):
            return "part of the code was left out"
        if old.text == new.text:
            return "changes nothing"
        if not old.has_errors and new.has_errors:
            return "is not valid Python"
        before, after = _changed_lines(old.text, edit)
        if _TOP_LEVEL.search(before) and not old.has_errors:
            lost = old.defined - new.defined - _imported(old)
            if lost:
                return f"removes {', '.join(sorted(lost))} from the module"
        risky = Counter(_WORD.findall(after)) - Counter(_WORD.findall(before))
        if risky or ("return" in after and "exit__" in new.text):
            # Walking a whole file is slow, so it is done only when a changed line has one of the words.
            if old.path not in self._old:
                self._old[old.path] = Counter(hazards(old.root))
            added = Counter(hazards(new.root)) - self._old[old.path]
            if added:
                return f"adds {', '.join(sorted(added))}"
        return self._special_case(old, new) if _BRANCH.search(after) else ""

    def _special_case(self, old: SourceFile, new: SourceFile) -> str:
        """A new branch that recognises the test's own literal and returns another of its literals."""
        known = {branch.text: _answer(branch) for branch in _branches(old.root)}
        for branch in _branches(new.root):
            if branch.text in known:
                continue
            compared, returned = _answer(branch)
            if any(compared <= theirs and returned <= given for theirs, given in known.values()):
                continue  # the project's own branch, changed elsewhere than in its literals
            if compared & self._literals - _TRIVIAL and returned & self._literals:
                return "answers the test's own input with the test's own answer"
        return ""


def _answer(branch: Node) -> tuple[frozenset[str], frozenset[str]]:
    """The literals that a branch recognises, and those it returns.

    A literal that is only compared by order (`x >= 10`) is a bound, not an input that is recognised.
    """
    condition = branch.field("condition")
    compared: set[str] = set()
    if condition is not None:
        bounds = {
            literal.text
            for node in condition.walk()
            if node.kind == "comparison_operator" and not _RECOGNISES.search(node.text)
            for literal in _literals(node)
        }
        compared = {literal.text for literal in _literals(condition)} - bounds
    returned = {
        literal.text
        for node in branch.walk()
        if node.kind == "return_statement"
        for literal in _literals(node)
    }
    return frozenset(compared), frozenset(returned)


def hazards(root: Node) -> Iterator[str]:
    """Name every construct that a repair has no business adding, once for each time it occurs."""
    for node in root.walk():
        kind = node.kind
        if kind in {"import_statement", "import_from_statement"}:
            for part in node.walk():
                if part.kind == "dotted_name" and part.text.partition(".")[0] in _MODULES:
                    yield f"import {part.text}"
        elif kind == "attribute":
            name = node.field("attribute")
            if name is not None and name.text in _ATTRIBUTES:
                yield f".{name.text}"
        elif kind == "identifier" and node.text in _NAMES:
            yield node.text
        elif kind == "except_clause" and not any(
            c.kind != "block" for c in node.named if c.kind != "comment"
        ):
            yield "bare except"
        elif kind == "call" and _opens_for_writing(node):
            yield "open for writing"
        elif kind == "function_definition":
            if _constant_verdict(node):
                yield "a comparison that ignores its operands"
            yield from _swallowing(node)


def _opens_for_writing(call: Node) -> bool:
    function = call.field("function")
    if function is None or function.text.rpartition(".")[2] != "open":
        return False
    arguments = call.field("arguments")
    return arguments is not None and any(
        n.kind == "string"
        and set(n.text.strip("\"'")) & set("wax+")
        and set(n.text.strip("\"'")) <= set("wax+bt")
        for n in arguments.walk()
    )


def _swallowing(function: Node) -> Iterator[str]:
    """Name returns that make a `with` block swallow what is raised in it, a test's own assertion included."""
    name, body = function.field("name"), function.field("body")
    if name is None or body is None or name.text not in {"__exit__", "__aexit__"}:
        return
    for node in body.walk():
        if node.kind == "return_statement" and node.named and node.named[0].text not in {"False", "None"}:
            yield "a return in __exit__ that swallows exceptions"


def _constant_verdict(function: Node) -> bool:
    name, body = function.field("name"), function.field("body")
    if name is None or body is None or name.text not in _ALWAYS_EQUAL:
        return False
    statements = [n for n in body.named if n.kind != "comment"]
    return len(statements) == 1 and statements[0].text in {"return True", "return False"}


def _changed_lines(text: str, edit: FileEdit) -> tuple[str, str]:
    """Return the whole lines that the edits touch, before and after."""
    before: list[str] = []
    after: list[str] = []
    for one in edit.edits:
        start = text.rfind("\n", 0, one.start) + 1
        end = text.find("\n", one.end)
        end = len(text) if end < 0 else end
        before.append(text[start:end])
        after.append(text[start : one.start] + one.new + text[one.end : end])
    return "\n".join(before), "\n".join(after)


def _imported(file: SourceFile) -> frozenset[str]:
    return frozenset(one.bound for one in file.imports)


def _branches(root: Node) -> Iterator[Node]:
    yield from (
        node for node in root.walk() if node.kind in {"if_statement", "elif_clause", "conditional_expression"}
    )


def _literals(root: Node) -> Iterator[Node]:
    yield from (node for node in root.walk() if node.kind in {"integer", "float", "string"})


def literals_of(source: SourceFile, line: int) -> frozenset[str]:
    """Return the literals, as written, of the function (or statement) on a 0-based line: a test's own data."""
    function = source.function_at(line)
    node = function.node if function else source.statement_at(line)
    return frozenset(n.text for n in _literals(node)) if node else frozenset()


def dangerous(source: SourceFile, line: int) -> str:
    """Name what makes running variants of the function on a 0-based line unsafe where files are unprotected.

    Functions that delete, overwrite, spawn or send get no candidates there; "" when nothing was found.
    """
    function = source.function_at(line)
    if function is None:
        return ""
    for node in function.node.walk():
        if node.kind == "call":
            called = node.field("function")
            name = called.text if called else ""
            if (
                _opens_for_writing(node)
                or name.rpartition(".")[2] in _UNSAFE_CALLS
                or name.startswith(_UNSAFE_OWNERS)
            ):
                return name
    return ""


_UNSAFE_CALLS = frozenset(
    [
        "unlink",
        "remove",
        "rmdir",
        "rmtree",
        "removedirs",
        "rename",
        "replace_file",
        "truncate",
        "write_text",
        "write_bytes",
        "system",
        "popen",
        "Popen",
        "run_command",
        "check_call",
        "check_output",
        "kill",
        "killpg",
        "send",
        "sendall",
        "sendto",
        "sendmail",
        "urlopen",
        "execute",
        "executemany",
        "move",
        "copyfile",
        "copytree",
        "chmod",
        "chown",
    ]
)
_UNSAFE_OWNERS = (
    "subprocess.",
    "shutil.",
    "socket.",
    "requests.",
    "httpx.",
    "smtplib.",
    "os.exec",
    "os.spawn",
)
