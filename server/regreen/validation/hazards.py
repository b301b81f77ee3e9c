"""Which constructs has a repair no business adding, and which code is too dangerous to run variants of?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from regreen.source import Node, SourceFile

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
WORD = re.compile(
    r"\b(?:"
    + "|".join(sorted(_MODULES | _ATTRIBUTES | _NAMES | _ALWAYS_EQUAL))
    + r"|open|return\s+(?:True|False))\b|except\s*:"
)
"""What a changed line must contain before it is worth looking for hazards in it."""


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
