"""What is the difference between two texts: as edits, for people, and for `git apply`?"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path

from regreen.edits.text import decode, digest, split_lines
from regreen.values import FileEdit, TextEdit

_ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}


def minimal(old: str, new: str) -> tuple[TextEdit, ...]:
    """Find the edits from `old` to `new`: hunks of lines by difflib, trimmed to the characters that differ.

    No edit begins or ends between a CR and its LF, so that each end has a position in every editor.
    """
    edits: list[TextEdit] = []
    old_lines, new_lines = split_lines(old), split_lines(new)
    old_at, new_at = _starts(old_lines), _starts(new_lines)
    for low, high, new_low, new_high in _by_line(_hunks(old_lines, new_lines)):
        before = old[old_at[low] : old_at[high]]
        after = new[new_at[new_low] : new_at[new_high]]
        if before == after:
            continue
        head, tail = _common_ends(before, after)
        edits.append(TextEdit(old_at[low] + head, old_at[high] - tail, after[head : len(after) - tail]))
    return tuple(edits)


def file_edit(path: Path, data: bytes, new: str) -> FileEdit:
    """Make the minimal edit that turns the file's bytes into the text `new`.

    Raises:
        UnreadableText: the bytes cannot be decoded.
    """
    return FileEdit(path, digest(data), minimal(decode(data).text, new))


def changed_lines(old: str, new: str) -> int:
    """How many lines a change touches: of each hunk, the larger side."""
    hunks = _hunks(split_lines(old), split_lines(new))
    return sum(max(high - low, new_high - new_low) for low, high, new_low, new_high in hunks)


def relative(path: Path, root: Path) -> str:
    """Return the path as people and diffs name it: below the root where it is, else whole, with forward slashes."""
    return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()


def unified_diff(path: str, old: str, new: str, *, context: int = 3) -> str:
    """Show the difference of one file to people, with `git apply`'s headers; empty when equal.

    Args:
        path: relative, with forward slashes.
        old: the text before.
        new: the text after.
        context: lines of context.
    """
    sides = old.encode("utf-8", "surrogatepass"), new.encode("utf-8", "surrogatepass")
    return git_patch([(path, *sides)], context=context).decode("utf-8", "surrogatepass")


def git_patch(files: Sequence[tuple[str, bytes, bytes]], *, context: int = 3) -> bytes:
    """Make a patch of several files that `git apply` takes, byte for byte: encodings and CRLF are kept.

    Args:
        files: (path relative to the repository with forward slashes, old bytes, new bytes).
        context: lines of context.
    """
    return b"".join(_file_patch(path, old, new, context) for path, old, new in files if old != new)


def _file_patch(path: str, old: bytes, new: bytes, context: int) -> bytes:
    """One file's part of a patch. Lines end at LF alone, because that is how git counts them."""
    before, after = _lf_lines(old), _lf_lines(new)
    parts = [f"diff --git {_quoted('a/' + path)} {_quoted('b/' + path)}\n".encode()]
    for sign, side in ((b"--- ", "a/"), (b"+++ ", "b/")):
        # git ends a name that holds a blank with a tab, to tell it from a time stamp
        parts.append(sign + _quoted(side + path).encode() + (b"\t\n" if " " in path else b"\n"))
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for group in matcher.get_grouped_opcodes(context):
        low, high, new_low, new_high = group[0][1], group[-1][2], group[0][3], group[-1][4]
        parts.append(f"@@ -{_range(low, high)} +{_range(new_low, new_high)} @@\n".encode())
        for tag, start, end, new_start, new_end in group:
            if tag == "equal":
                parts += (_diff_line(b" ", line) for line in before[start:end])
                continue
            parts += (_diff_line(b"-", line) for line in before[start:end])
            parts += (_diff_line(b"+", line) for line in after[new_start:new_end])
    return b"".join(parts)


def _diff_line(sign: bytes, line: bytes) -> bytes:
    return sign + line if line.endswith(b"\n") else sign + line + b"\n\\ No newline at end of file\n"


def _range(low: int, high: int) -> str:
    """Write a hunk's range; an empty one names the line before it."""
    length = high - low
    return f"{low + 1 if length else low}" + ("" if length == 1 else f",{length}")


def _quoted(name: str) -> str:
    """Write a path as git does: in C quotes when it holds control characters, quotes or non-ASCII bytes."""
    raw = name.encode("utf-8", "surrogateescape")
    if all(32 <= byte < 127 and byte not in b'"\\' for byte in raw):
        return name
    return '"' + "".join(_c_escape(byte) for byte in raw) + '"'


def _c_escape(byte: int) -> str:
    if byte in _ESCAPES:
        return "\\" + _ESCAPES[byte]
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"


def _lf_lines(data: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield the ranges of lines that differ: (old from, old to, new from, new to), in order."""
    limit = min(len(old), len(new))
    head = 0
    while head < limit and old[head] == new[head]:
        head += 1  # difflib is quadratic, so it is not shown what is equal anyway
    tail = 0
    while tail < limit - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    matcher = difflib.SequenceMatcher(
        None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False
    )
    for tag, low, high, new_low, new_high in matcher.get_opcodes():
        if tag != "equal":
            yield low + head, high + head, new_low + head, new_high + head


def _by_line(hunks: Iterator[tuple[int, int, int, int]]) -> Iterator[tuple[int, int, int, int]]:
    """Break each hunk whose sides have as many lines into pairs of lines, so that each is trimmed."""
    for low, high, new_low, new_high in hunks:
        if high - low != new_high - new_low:
            yield low, high, new_low, new_high
            continue
        for step in range(high - low):
            yield low + step, low + step + 1, new_low + step, new_low + step + 1


def _starts(lines: Sequence[str]) -> list[int]:
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    return starts


def _common_ends(before: str, after: str) -> tuple[int, int]:
    """Measure the common beginning and end, never reaching between a CR and its LF in either text."""
    limit = min(len(before), len(after))
    head = 0
    while head < limit and before[head] == after[head]:
        head += 1
    if _splits_crlf(before, head) or _splits_crlf(after, head):
        head -= 1
    tail = 0
    while tail < limit - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    if _splits_crlf(before, len(before) - tail) or _splits_crlf(after, len(after) - tail):
        tail -= 1
    return head, tail


def _splits_crlf(text: str, at: int) -> bool:
    return 0 < at < len(text) and text[at - 1] == "\r" and text[at] == "\n"
