"""What would the failing assertion have to say for the test to agree with the code as it is?

Only the literal that was expected is replaced, by what was seen: anything else is for a person to write.
"""

from __future__ import annotations

import ast

from regreen import edits
from regreen.source import Node, ProjectSources
from regreen.values import Expectation, Failure

LONGEST = 400
"""A value that is written with more characters is data, not an expectation."""

_LITERALS = frozenset(
    {
        "integer",
        "float",
        "string",
        "true",
        "false",
        "none",
        "list",
        "tuple",
        "dictionary",
        "set",
        "unary_operator",
        "concatenated_string",
    }
)


def seen_instead(failure: Failure, sources: ProjectSources) -> Expectation | None:
    """Put the value that the code gave in place of the one that the test expects.

    Args:
        failure: of one `assert a == b`, with both sides known.
        sources: the project, the test's file included.

    Returns:
        The change of the test's file; None where the assertion is another one, no side of it is a literal, or the
        value cannot be written as one.
    """
    said, lines = failure.comparison, [frame.line for frame in failure.frames if frame.path == failure.path]
    source, data = sources.get(failure.path), sources.data(failure.path)
    if said is None or said.op != "==" or not lines or source is None or data is None:
        return None
    statement = source.statement_at(lines[-1])
    asserted = next(iter(statement.named), None) if statement is not None else None
    if statement is None or statement.kind != "assert_statement" or asserted is None:
        return None
    sides = asserted.named if asserted.kind == "comparison_operator" else []
    if len(sides) != 2:
        return None
    for side, value in ((sides[1], said.left), (sides[0], said.right)):
        if _is_literal(side) and _writable(value):
            text = source.text[: side.start] + value + source.text[side.end :]
            return Expectation(edits.file_edit(failure.path, data, text), side.text, value)
    return None


def rewritten(failure: Failure, sources: ProjectSources, text: str) -> Expectation | None:
    """Put another statement in place of the failing assertion.

    Args:
        failure: where the test fails.
        sources: the project.
        text: an `assert` statement, as somebody proposes it.

    Returns:
        The change; None where it is no assertion, or the test fails at none.
    """
    lines = [frame.line for frame in failure.frames if frame.path == failure.path]
    source, data = sources.get(failure.path), sources.data(failure.path)
    if not lines or source is None or data is None or not _asserts(text):
        return None
    statement = source.statement_at(lines[-1])
    if statement is None or statement.kind != "assert_statement" or statement.text == text.strip():
        return None
    new = source.text[: statement.start] + text.strip() + source.text[statement.end :]
    return Expectation(edits.file_edit(failure.path, data, new), statement.text, text.strip())


def _is_literal(node: Node) -> bool:
    return node.kind in _LITERALS and _writable(node.text)


def _writable(text: str) -> bool:
    """Whether a value stands in the text as Python writes it, whole."""
    if len(text) > LONGEST or "..." in text or "…" in text:  # cut, maybe, and still a literal
        return False
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _asserts(text: str) -> bool:
    try:
        body = ast.parse(text.strip()).body
    except (SyntaxError, ValueError, RecursionError):
        return False
    return len(body) == 1 and isinstance(body[0], ast.Assert) and not isinstance(body[0].test, ast.Constant)
