"""Is a patched text still a whole Python file, and nothing that only looks like one?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from regreen.edits import split_lines
from regreen.llm.placeholders import PLACEHOLDER
from regreen.llm.refusal import Refusal
from regreen.source import Node, SourceFile

_WHAT = r"(?:code|implementation|logic|body|methods?|functions?|class|file|lines?|imports?|module|tests?)"
_ELISION = re.compile(
    rf"""^\W*(?:
        (?:\.{{3}}|…)                                                     # "# ... anything"
      | (?:the\ )?(?:rest|remainder)\ of\ (?:the\ |this\ |your\ )?(?:\w+\ )?{_WHAT}
      | (?:the\ )?(?:other|remaining|rest)\ {_WHAT}(?:\ (?:stays?|remains?|here|go|goes|follows?|unchanged|omitted|as|are\ (?:un|the)).*)?\W*$
      | (?:\w+\ ){{0,3}}(?:existing|previous|original|same)\ {_WHAT}\ *(?:here|continues|unchanged|remains?|goes\ here|as\ before|follows)?\W*$
      | {_WHAT}?\ *(?:remains?\ )?(?:the\ same|unchanged|omitted|as\ before|same\ as\ (?:before|above))(?:\ (?:for\ \w+|here|below|above|as\ before|code))?\W*$
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_COMMENT = re.compile(r"(?:^|\s)(?:#|//)(.*)$")


def elision(line: str) -> bool:
    """Whether a line stands for lines that were left out ("# … existing code …")."""
    bare = line.strip()
    if bare in {"...", "…", "[...]", "[…]", "(...)", "<...>"} or bare.startswith("…"):
        return True
    comment = _COMMENT.search(line)
    return comment is not None and bool(_ELISION.match(comment[1].strip()))


def problem(path: str, old: SourceFile, new: SourceFile) -> Refusal | None:
    """Why a patched file is refused.

    Args:
        path: as people name it.
        old: the file.
        new: the same with the patch.

    Returns:
        None when nothing speaks against it; or a refusal: "masked-text", "elided", "not-python" or "lost-names".
    """
    return (
        masked(path, old.text, new.text)
        or _elided(path, old, new)
        or _broken(path, old, new)
        or _lost(path, old, new)
    )


def masked(path: str, old: str, new: str) -> Refusal | None:
    """Refuse text that would write the placeholder of a secret into a file."""
    had = {found.group() for found in PLACEHOLDER.finditer(old)}
    found = next((found.group() for found in PLACEHOLDER.finditer(new) if found.group() not in had), "")
    if not found:
        return None
    return Refusal(
        "masked-text",
        f"{found} stands for a secret that is not shown; it must not be written into {path}. Leave the line with it as it "
        "is, and out of SEARCH and REPLACE.",
    )


def _elided(path: str, old: SourceFile, new: SourceFile) -> Refusal | None:
    had = {line.strip() for line in split_lines(old.text)}
    marks = [line.strip() for line in split_lines(new.text) if line.strip() not in had and elision(line)]
    # `...` alone is a body; beside other statements it stands for some that were left out
    left_out = next((mark for mark in marks if mark != "..."), "") or (
        "..." if _gaps(new) > _gaps(old) else ""
    )
    if not left_out:
        return None
    return Refusal(
        "elided",
        f"A line of the new text of {path} (`{left_out[:80]}`) stands for code that is left out. What you write replaces the "
        "text: write every line, or use a SEARCH block around less.",
    )


def _gaps(file: SourceFile) -> int:
    """How many statements `...` stand beside others than a docstring."""
    return sum(
        1
        for node in file.root.walk()
        if node.kind == "ellipsis" and (up := node.parent) is not None and _is_gap(up)
    )


def _is_gap(statement: Node) -> bool:
    block = statement.parent
    if statement.kind != "expression_statement" or block is None:
        return False
    others = [node for node in block.named if node != statement]
    return any(not (node.kind == "expression_statement" and _is_string(node)) for node in others)


def _is_string(statement: Node) -> bool:
    return all(node.kind in {"string", "concatenated_string"} for node in statement.named)


def _lost(path: str, old: SourceFile, new: SourceFile) -> Refusal | None:
    used = {one.bound for one in old.imports} & set(new.names.read)
    lost = sorted((set(_defined(old)) | (used & old.defined)) - set(_defined(new)) - new.defined)
    if not lost:
        return None
    return Refusal(
        "lost-names",
        f"The patch takes {', '.join(f'`{name}`' for name in lost[:10])} out of {path}. Keep every function, class and "
        "name that other code may use.",
    )


def _defined(file: SourceFile) -> Iterator[str]:
    """Yield what others can use of a file, without what it imports: that may go when the file needs it no more."""
    imported = {one.bound for one in file.imports}
    yield from file.defined - imported
    yield from (found.qualname for found in file.classes if "<locals>" not in found.qualname)
    yield from (found.qualname for found in file.functions if "<locals>" not in found.qualname)


def _broken(path: str, old: SourceFile, new: SourceFile) -> Refusal | None:
    if new.path.suffix not in {".py", ".pyi"} or len(new.errors) <= len(old.errors):
        return None
    line = new.errors[0].line
    missing = f", where `{new.errors[0].missing}` is missing" if new.errors[0].missing else ""
    return Refusal(
        "not-python",
        f"With the patch, line {line + 1} of {path} is not valid Python{missing}. Mind the indentation and the brackets.",
    )
