"""Which changes does a reply ask for, before any file is looked at?

Two forms: search/replace blocks under a line `FILE: path`, and whole functions under `FUNCTION: path::name`. Both may
stand in a Markdown fence, and prose around them is ignored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from regreen.edits import split_lines
from regreen.llm.refusal import Refusal

FORMAT = """\
Answer either with blocks of this form, under a line that names the file:
FILE: path/of/the/file.py
<<<<<<< SEARCH
lines as they are
=======
lines as they should be
>>>>>>> REPLACE
or with one whole function:
FUNCTION: path/of/the/file.py::Class.method
```python
def method(self): ...
```"""

_FILE = re.compile(r"[ \t>*#-]*FILE:[ \t*]*(\S.*?)[ \t*]*")
_FUNCTION = re.compile(r"[ \t>*#-]*FUNCTION:[ \t*]*(\S.*?)::(\S.*?)[ \t*]*")
_SEARCH = re.compile(r"<{5,9} ?SEARCH[ \t]*")
_DIVIDER = re.compile(r"={5,9}[ \t]*")
_REPLACE = re.compile(r">{5,9} ?REPLACE[ \t]*")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*[\w+-]*[ \t]*")

Lines = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SearchBlock:
    """Lines to be found in a file, and what replaces them.

    Args:
        path: as the reply writes it; "" when no file was named.
        readings: (search, replacement) lines without their ends, one for each line that may divide them: text with
            headings underlined by `=======` has several.
    """

    path: str
    readings: tuple[tuple[Lines, Lines], ...]


@dataclass(frozen=True, slots=True)
class WholeFunction:
    """A function that replaces the one of its name.

    Args:
        path: as the reply writes it.
        qualname: its qualified name.
        readings: its text, shortest first, one for each line that may end it: docstrings may hold Markdown.
    """

    path: str
    qualname: str
    readings: tuple[str, ...]


def split(reply: str) -> tuple[SearchBlock | WholeFunction, ...] | Refusal:
    """Find the changes in a reply, in order.

    Returns:
        At least one; or a refusal: "no-block" or "unclosed-block".
    """
    lines = [line.rstrip("\r\n") for line in split_lines(reply)]
    found: list[SearchBlock | WholeFunction] = []
    path, at = "", 0
    while at < len(lines):
        here = lines[at]
        at += 1
        part: tuple[SearchBlock | WholeFunction, int] | Refusal | None = None
        if named := _FILE.fullmatch(here):
            path = _bare(named[1])
        elif _SEARCH.fullmatch(here):
            part = _block(path, lines, at)
        elif named := _FUNCTION.fullmatch(here):
            part = _function(_bare(named[1]), _bare(named[2]), lines, at)
        if isinstance(part, Refusal):
            return part
        if part is not None:
            found.append(part[0])
            at = part[1]
    return tuple(found) or Refusal("no-block", f"The reply holds no change that can be read. {FORMAT}")


def _block(path: str, lines: list[str], start: int) -> tuple[SearchBlock, int] | Refusal:
    end = start
    dividers: list[int] = []
    while end < len(lines) and not _REPLACE.fullmatch(lines[end]):
        if _SEARCH.fullmatch(lines[end]):
            end = len(lines)
            break
        if _DIVIDER.fullmatch(lines[end]):
            dividers.append(end)
        end += 1
    if end >= len(lines) or not dividers:
        missing = ">>>>>>> REPLACE" if dividers else "======="
        return Refusal("unclosed-block", f"A SEARCH block has no line `{missing}`. {FORMAT}")
    readings = tuple((tuple(lines[start:middle]), tuple(lines[middle + 1 : end])) for middle in dividers)
    return SearchBlock(path, readings), end + 1


def _function(path: str, qualname: str, lines: list[str], start: int) -> tuple[WholeFunction, int] | Refusal:
    while start < len(lines) and not lines[start].strip():
        start += 1
    opening = _FENCE.fullmatch(lines[start]) if start < len(lines) else None
    if opening is None:
        return Refusal("no-block", f"After the line FUNCTION comes the function in a fenced block. {FORMAT}")
    first = start + 1
    ends: list[int] = []
    for at in range(first, len(lines)):
        if _FUNCTION.fullmatch(lines[at]) or _SEARCH.fullmatch(lines[at]):
            break
        bare = lines[at].strip()
        if len(bare) >= len(opening[1]) and set(bare) == {opening[1][0]}:
            ends.append(at)
    if not ends:
        return Refusal("unclosed-block", f"The fenced block of `{qualname}` does not end. {FORMAT}")
    return WholeFunction(path, qualname, tuple("\n".join(lines[first:end]) for end in ends)), ends[0] + 1


def _bare(name: str) -> str:
    """Take a name out of the quotes and Markdown that replies put around it."""
    return name.strip("`'\"* ").removeprefix("./")
