"""Which part of a file does an edit change, so that only this part must be compared?"""

from __future__ import annotations

from collections.abc import Sequence

from regreen.source import Node, SourceFile
from regreen.values import FileEdit

_DEFINITIONS = frozenset({"function_definition", "decorated_definition"})


def around(old: SourceFile, new: SourceFile, edit: FileEdit) -> tuple[Sequence[Node], Sequence[Node]]:
    """Return the smallest function, else statement of a module or class, around all edits: unpatched and patched.

    What lies outside of it is the same in both texts. Where no two such parts correspond, it is the module's
    statements that the edits touch; and where the edits change what belongs to what, the whole files.
    """
    start = min(one.start for one in edit.edits)
    end = max(one.end for one in edit.edits)
    grown = len(new.text) - len(old.text)
    was, now = _holding(old.root, start, end), _holding(new.root, start, end + grown)
    if was != old.root and (was.kind, was.start, was.end + grown) == _place(now):
        return [was], [now]
    first, before, last = _split(old, start, end)
    others, after, rest = _split(new, start, end + grown)
    if [_place(n) for n in first] == [_place(n) for n in others] and [_place(n, grown) for n in last] == [
        _place(n) for n in rest
    ]:
        return before, after
    return [old.root], [new.root]


def changed_lines(new: SourceFile, edit: FileEdit) -> frozenset[int]:
    """Return the 0-based lines of the patched text that the edits reach."""
    lines: set[int] = set()
    shift = 0
    for one in edit.edits:
        start = one.start + shift
        lines.update(range(new.lines.line_at(start), new.lines.line_at(start + len(one.new)) + 1))
        shift += len(one.new) - (one.end - one.start)
    return frozenset(lines)


def _holding(root: Node, start: int, end: int) -> Node:
    found, node, in_function = root, root, False
    while True:
        inside = next((child for child in node.named if child.start <= start and end <= child.end), None)
        if inside is None:
            return found
        if inside.kind in _DEFINITIONS:
            found, in_function = inside, True
        elif not in_function and node.kind in {"module", "block"}:
            found = inside
        node = inside


def _split(file: SourceFile, start: int, end: int) -> tuple[Sequence[Node], Sequence[Node], Sequence[Node]]:
    """The module's statements before, at and after a range."""
    nodes = file.top_level
    return (
        [node for node in nodes if node.end < start],
        [node for node in nodes if node.start <= end and start <= node.end],
        [node for node in nodes if node.start > end],
    )


def _place(node: Node, shift: int = 0) -> tuple[str, int, int]:
    return node.kind, node.start + shift, node.end + shift
