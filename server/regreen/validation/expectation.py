"""What would the failing assertion have to say for the test to agree with the code as it is?

Only the literal that was expected is replaced, by what was seen: anything else is for a person to write. Nothing
is written anywhere: a change is a value, seen to be green by `pipeline.expectation`.
"""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from dataclasses import replace

from regreen import edits
from regreen.errors import UnreadableText
from regreen.source import Node, ProjectSources, SourceFile
from regreen.values import Expectation, Failure

LONGEST = 399
"""A value that is written with more characters is data, not an expectation; what was seen is cut off at 400."""

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
_MALFORMED = (ValueError, SyntaxError, TypeError, MemoryError, RecursionError)
"""What Python says of text that is no literal: TypeError, where a list is the key of a dictionary."""


def seen_instead(failure: Failure, sources: ProjectSources) -> Expectation | None:
    """Put the value that the code gave in place of the one that the test expects.

    Args:
        failure: of one `assert a == b`, with both sides known.
        sources: the project, the test's file included.

    Returns:
        The change of the test's file; None where the assertion is another one, not exactly one side of it is a
        literal, the comparison was another than this one, or the value cannot be written as a literal.
    """
    said, found = failure.comparison, _failing_assert(failure, sources)
    if said is None or said.op != "==" or found is None:
        return None
    source, statement = found
    asserted = _inside(statement.named[0])
    if asserted.kind != "comparison_operator" or [one.text for one in asserted.children[1:-1]] != ["=="]:
        return None  # `a == b == c`, too
    left, right = asserted.named
    if _is_literal(left) == _is_literal(right):
        return None  # nothing of the code is asked for, or nothing is expected by name
    side, expected, value = (
        (right, said.right, said.left) if _is_literal(right) else (left, said.left, said.right)
    )
    if not _same(side.text, expected) or not _writable(value) or _commented(side.text):
        return None
    return _changed(source, side, _quoted_like(side.text, value))


def rewritten(failure: Failure, sources: ProjectSources, text: str) -> Expectation | None:
    """Put another statement in place of the failing assertion.

    Args:
        failure: where the test fails.
        sources: the project.
        text: an `assert` statement, as somebody proposes it; what stands around the statement is left out.

    Returns:
        The change; None where it is no assertion, one that asks nothing of what the old one asked of, or the test
        fails at none.
    """
    found, new = _failing_assert(failure, sources), _assertion(text)
    if found is None or new is None:
        return None
    source, statement = found
    old = _assertion(statement.text)
    if old is None or ast.dump(old) == ast.dump(new) or not _asks_of(new, old):
        return None
    body = ast.get_source_segment(text.strip(), new)
    return None if body is None else _changed(source, statement, edits.with_newline(body, source.newline))


def _failing_assert(failure: Failure, sources: ProjectSources) -> tuple[SourceFile, Node] | None:
    """The `assert` of the test's own file that raised; None where it was raised elsewhere."""
    if failure.is_collection or not failure.frames or failure.frames[-1].path != failure.path:
        return None
    source = sources.get(failure.path)
    if source is None:
        return None
    here = source.statements_around(failure.frames[-1].line)
    asserts = [one for one in here if one.kind == "assert_statement" and one.named]
    return (source, asserts[0]) if len(asserts) == 1 else None  # of two on a line nobody knows which it was


def _changed(source: SourceFile, node: Node, new: str) -> Expectation | None:
    """The change of one piece of a file; None where the file's encoding has no such characters."""
    text = source.text[: node.start] + new + source.text[node.end :]
    try:
        data = edits.encode(source.decoded)
        edits.encode(replace(source.decoded, text=text))
    except UnreadableText:
        return None
    return Expectation(edits.file_edit(source.path, data, text), node.text, new)


def _inside(node: Node) -> Node:
    while node.kind == "parenthesized_expression" and len(node.named) == 1:
        node = node.named[0]
    return node


def _is_literal(node: Node) -> bool:
    return node.kind in _LITERALS and _writable(node.text)


def _writable(text: str) -> bool:
    """Whether a value stands in the text as Python writes it, whole: the shortened `[1, 2, ...]` parses as well."""
    try:
        tree = _parsed(text) if len(text) <= LONGEST else None
        if tree is None:
            return False
        ast.literal_eval(tree)
    except _MALFORMED:
        return False
    return not any(isinstance(node, ast.Constant) and node.value is ... for node in ast.walk(tree))


def _same(one: str, other: str) -> bool:
    """Whether two texts are the same value, so that a comparison that was seen is the one that is written here."""
    return _writable(other) and bool(ast.literal_eval(_parsed(one)) == ast.literal_eval(_parsed(other)))


def _parsed(text: str) -> ast.Expression:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # an invalid escape is the project's, and was told of
        return ast.parse(f"({text}\n)", mode="eval")


def _commented(text: str) -> bool:
    words = tokenize.generate_tokens(io.StringIO(f"({text}\n)").readline)
    return any(word.type == tokenize.COMMENT for word in words)


def _quoted_like(old: str, value: str) -> str:
    """A string in the quotes that the test uses, where that needs no other change."""
    plain = value.startswith("'") and not set('"\\') & set(value)
    return f'"{value[1:-1]}"' if plain and old.startswith('"') and not old.startswith('"""') else value


def _assertion(text: str) -> ast.Assert | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            body = ast.parse(text.strip()).body
    except _MALFORMED:
        return None
    return body[0] if len(body) == 1 and isinstance(body[0], ast.Assert) else None


def _asks_of(new: ast.Assert, old: ast.Assert) -> bool:
    """Whether an assertion can still fail over something that the old one looked at."""
    if any(isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) for node in ast.walk(new.test)):
        return False  # one side of it may always hold
    if isinstance(new.test, ast.Compare):
        sides = [ast.dump(side) for side in (new.test.left, *new.test.comparators)]
        if len(set(sides)) < len(sides):
            return False
    return not isinstance(new.test, ast.Tuple) and bool(_names(new.test) & _names(old.test))


def _names(tree: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
