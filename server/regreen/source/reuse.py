"""What of a tree can the parser take over for a text that is nearly the same?"""

from __future__ import annotations

import tree_sitter


def reusable(tree: tree_sitter.Tree, old: bytes, new: bytes) -> tree_sitter.Tree:
    """Return a copy of a tree that knows what changed, for the parser to begin with.

    Args:
        tree: of `old`; it stays as it is.
        old: the text that was parsed, in UTF-8.
        new: the text that is going to be.
    """
    start = _shared(old, new)
    rest = min(len(old), len(new)) - start
    kept = _shared(old[::-1][:rest], new[::-1][:rest])
    old_end, new_end = len(old) - kept, len(new) - kept
    copy = tree.copy()
    copy.edit(start, old_end, new_end, _point(old, start), _point(old, old_end), _point(new, new_end))
    return copy


def _shared(one: bytes, other: bytes) -> int:
    """Count the bytes with which both begin, by halving: comparing slices is quick."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


def _point(text: bytes, at: int) -> tuple[int, int]:
    """The row of an offset, and the column in bytes."""
    return text.count(b"\n", 0, at), at - text.rfind(b"\n", 0, at) - 1
