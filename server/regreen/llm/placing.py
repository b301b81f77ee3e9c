"""Where in a file do the lines of a search/replace block stand, and what does the file say instead?"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from regreen.edits import Newline, split_lines
from regreen.llm.blocks import Lines, SearchBlock
from regreen.llm.fence import fenced
from regreen.llm.refusal import Refusal
from regreen.source import SourceFile

SHOWN = 14
"""How many of the nearest lines a refusal shows."""


@dataclass(frozen=True, slots=True, order=True)
class Replacement:
    """A range of a file's text (code points) and what replaces it."""

    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True)
class _Match:
    """Where search lines stand: the file's lines from `first` on, told apart from them by `key` and an indentation."""

    first: int
    key: Callable[[str], str]
    ours: str = ""
    theirs: str = ""


def place(block: SearchBlock, source: SourceFile) -> Replacement | Refusal:
    """Find the one place that a block means.

    Its search text must be whole lines of the file, exactly. Only where these are nowhere, and only if one place is
    left, blanks at the ends of lines and an indentation that all lines have or lack are not minded. What the file has
    and the replacement repeats keeps its line ends and blanks.

    Returns:
        The replacement; or a refusal: "no-match" or "ambiguous".
    """
    raw = split_lines(source.text)
    file = [line.rstrip("\r\n") for line in raw]
    fitting = [(reading, found) for reading in block.readings if (found := _matches(reading[0], file))]
    if not fitting:
        return _no_match(block.readings[0][0], file, block.path)
    (search, replacement), found = fitting[
        -1
    ]  # the longest search text that is in the file is the whole of it
    if len(found) > 1:
        where = ", ".join(str(match.first + 1) for match in found[:10])
        return Refusal(
            "ambiguous",
            f"The SEARCH part stands in {block.path} more than once (from line {where}). "
            "Add lines above or below it, so that it stands there once.",
        )
    match = found[0]
    shifted = _shifted(replacement, match)
    if shifted is None:
        return _no_match(search, file, block.path)
    old = raw[match.first : match.first + len(search)]
    start = sum(map(len, raw[: match.first]))
    return Replacement(start, start + sum(map(len, old)), _rewritten(old, shifted, match.key, source.newline))


def _matches(search: Lines, file: Sequence[str]) -> list[_Match]:
    """Find where the lines stand: by the strictest comparison by which they stand anywhere."""
    if not any(line.strip() for line in search):
        return []
    for key in (_whole, str.rstrip):
        wanted = [key(line) for line in search]
        compared = [key(line) for line in file]
        if found := [_Match(first, key) for first in _runs(wanted, compared)]:
            return found
    wanted = [line.strip() for line in search]
    theirs = _indentation(search)
    found = []
    for first in _runs(wanted, [line.strip() for line in file]):
        ours = _indentation(file[first : first + len(search)])
        if _without(search, theirs) == _without(file[first : first + len(search)], ours):
            found.append(_Match(first, str.rstrip, ours, theirs))
    return found


def _runs(wanted: list[str], lines: list[str]) -> Iterator[int]:
    for first in range(len(lines) - len(wanted) + 1):
        if lines[first] == wanted[0] and lines[first : first + len(wanted)] == wanted:
            yield first


def _whole(line: str) -> str:
    return line


def _indentation(lines: Sequence[str]) -> str:
    """The white space that all lines begin with that are not blank."""
    heads = [line[: len(line) - len(line.lstrip(" \t"))] for line in lines if line.strip()]
    if not heads:
        return ""
    low, high = min(heads), max(heads)  # what these two share, all do
    shared = next(
        (at for at, (one, other) in enumerate(zip(low, high, strict=False)) if one != other), len(low)
    )
    return low[:shared]


def _without(lines: Sequence[str], indentation: str) -> list[str]:
    return [line[len(indentation) :].rstrip() if line.strip() else "" for line in lines]


def _shifted(replacement: Lines, match: _Match) -> list[str] | None:
    """Give the new lines the file's indentation; None where one is further out than the search text was."""
    if match.ours == match.theirs:
        return list(replacement)
    shifted = []
    for line in replacement:
        if line.strip() and not line.startswith(match.theirs):
            return None
        shifted.append(match.ours + line[len(match.theirs) :] if line.strip() else "")
    return shifted


def _rewritten(old: Sequence[str], new: Sequence[str], key: Callable[[str], str], newline: Newline) -> str:
    """Write the new lines, taking those that the file has from the file."""
    matcher = difflib.SequenceMatcher(
        None, [key(line.rstrip("\r\n")) for line in old], [key(line) for line in new], autojunk=False
    )
    parts: list[str] = []
    for tag, low, high, new_low, new_high in matcher.get_opcodes():
        parts += old[low:high] if tag == "equal" else [line + newline for line in new[new_low:new_high]]
    ended = [part if part.endswith(("\n", "\r")) else part + newline for part in parts]
    if ended and not old[-1].endswith(("\n", "\r")):  # the file's last line, which has no end
        ended[-1] = ended[-1].rstrip("\r\n")
    return "".join(ended)


def _no_match(search: Lines, file: Sequence[str], path: str) -> Refusal:
    """Say which lines are not in the file, and what stands nearest."""
    if not any(line.strip() for line in search):
        return Refusal(
            "no-match", f"The SEARCH part for {path} is empty; it must hold the lines to be replaced."
        )
    first = _nearest(search, file)
    if first is None:
        return Refusal(
            "no-match",
            f"Nothing in {path} is like the SEARCH part. Copy the lines to be replaced from the file.",
        )
    near = file[first : first + len(search)]
    pairs = list(zip(search, [*near, *[""] * len(search)], strict=False))
    wrong = next((at for at, (one, other) in enumerate(pairs) if one != other), 0)
    parts = [f"The SEARCH part is not in {path}."]
    parts.append(
        f"Its line {wrong + 1} is not line {first + wrong + 1} of the file, where the rest is nearest:"
    )
    parts.append(fenced(search[wrong][:200], "line of search"))
    low, high = max(0, first + max(0, wrong - SHOWN // 2)), first + len(search) + 2
    shown = list(enumerate(file[low : min(high, low + SHOWN)], low + 1))
    parts.append("The nearest lines of the file, each after its number and ` | `, which are not part of it:")
    parts.append(fenced("\n".join(f"{number:>4} | {line[:200]}" for number, line in shown), "file"))
    parts.append("Copy the lines exactly, with their indentation, leaving none out.")
    return Refusal("no-match", "\n".join(parts))


def _nearest(search: Lines, file: Sequence[str]) -> int | None:
    """Find the line from which on the file is most like the search text: by equal lines, then by a similar one."""
    stripped = [line.strip() for line in file]
    votes: dict[int, int] = {}
    for offset, line in enumerate(search):
        for at, other in enumerate(stripped):
            if line.strip() and other == line.strip():
                votes[at - offset] = votes.get(at - offset, 0) + len(other)
    if not votes:
        for offset, line in enumerate(search[:20]):
            close = difflib.get_close_matches(line.strip(), stripped, n=1, cutoff=0.6) if line.strip() else []
            if close:
                return max(0, stripped.index(close[0]) - offset)
        return None
    return max(0, max(votes, key=lambda first: (votes[first], -first)))
