"""Which part of a file does an edit change, so that only this part must be compared?"""

from __future__ import annotations

from regreen.source import Node, SourceFile
from regreen.values import FileEdit

_DEFINITIONS = frozenset({"function_definition", "decorated_definition"})


def around(old: SourceFile, new: SourceFile, edit: FileEdit) -> tuple[Node, Node]:
    """Return the smallest function, else statement of a module or class, around all edits: unpatched and patched.

    What lies outside of it is the same in both texts. Where the edits change what belongs to what, so that no two
    such parts correspond, the whole files are returned.
    """
    start = min(one.start for one in edit.edits)
    grown = len(new.text) - len(old.text)
    end = max(one.end for one in edit.edits)
    was, now = _holding(old.root, start, end), _holding(new.root, start, end + grown)
    if was.kind == now.kind and was.start == now.start and was.end + grown == now.end:
        return was, now
    return old.root, new.root


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
