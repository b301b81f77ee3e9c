"""Would the test notice if the answer were wrong?

The assertion that was red is asked for something that cannot be: now it must be red with the patch as well. Where it
is not, the patch made the test agree with anything (an `__eq__` that is always true, a runner that reports success).
"""

from __future__ import annotations

import re
from pathlib import Path

from regreen import edits
from regreen.source import Node, ProjectSources
from regreen.values import Failure, TextEdit

_COMPARING = re.compile(r"assert(\w*Equals?|Is|Count\w+)")
"""unittest's assertions that their first two arguments are alike."""
_OPPOSITE = {"assertTrue": "assertFalse", "assertFalse": "assertTrue"}


def perturbed(failure: Failure, sources: ProjectSources) -> dict[Path, bytes]:
    """Return the test's file with an assertion that cannot hold in place of the one that failed.

    Returns:
        The overlay; empty where the failure is not that of one assertion, so that there is nothing to turn around.
    """
    lines = [frame.line for frame in failure.frames if frame.path == failure.path]
    parsed, data = sources.get(failure.path), sources.data(failure.path)
    if failure.is_collection or not lines or parsed is None or data is None:
        return {}
    statement = parsed.statement_at(lines[-1])
    edit = _edit(statement) if statement is not None else None
    if edit is None:
        return {}
    text = edits.decode(data)
    new = text.text[: edit.start] + edit.new + text.text[edit.end :]
    return {failure.path: edits.apply_to_bytes(data, edits.file_edit(failure.path, data, new))}


def _edit(statement: Node) -> TextEdit | None:
    if statement.kind == "assert_statement" and statement.named:
        asserted = statement.named[0]
        if asserted.kind == "comparison_operator" and [c.text for c in asserted.children][1:-1] == ["=="]:
            return _instead(asserted.children[-1], "object()")
        return _instead(asserted, f"not ({asserted.text})")
    call = statement.named[0] if statement.kind == "expression_statement" and statement.named else None
    function, given = (call.field("function"), call.field("arguments")) if call is not None else (None, None)
    if function is None or given is None or function.kind != "attribute":
        return None
    method = function.field("attribute")
    if method is None:
        return None
    if method.text in _OPPOSITE:
        return _instead(method, _OPPOSITE[method.text])
    compared = [one for one in given.named if one.kind not in {"keyword_argument", "comment"}]
    alike = _COMPARING.fullmatch(method.text) and "Not" not in method.text
    return _instead(compared[1], "object()") if alike and len(compared) > 1 else None


def _instead(node: Node, new: str) -> TextEdit:
    return TextEdit(node.start, node.end, new)
