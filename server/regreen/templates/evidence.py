"""What does a failure say about the kind of mistake: which values were expected, and how do they differ?"""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass
from functools import cached_property

from regreen.source import Node, ProjectSources
from regreen.values import Failure, Frame

_LITERALS = frozenset({
    "integer", "float", "string", "true", "false", "none", "list", "tuple", "dictionary", "set", "unary_operator",
    "concatenated_string",
})  # fmt: skip


class Unknown:
    """The type of `UNKNOWN`."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown()
"""A value whose repr is not a literal, or was cut."""


@dataclass(frozen=True)
class Evidence:
    """A failure, and what can be read out of it.

    Args:
        failure: the red test.
        expected, actual: texts (reprs) of the two sides of the failed comparison; empty when there is none.
            The expected side is the one that is a literal in the test; both or neither: the right one.
        op: the comparison's operator; empty when there is none.
    """

    failure: Failure
    expected: str = ""
    actual: str = ""
    op: str = ""

    @cached_property
    def exception(self) -> str:
        """The exception's name without its module."""
        return self.failure.exception.rpartition(".")[2]

    @cached_property
    def hangs(self) -> bool:
        """Whether the test was stopped because it did not end."""
        return self.exception == "Timeout"

    @cached_property
    def expected_value(self) -> object:
        """The expected value, `UNKNOWN` when its repr is not a literal."""
        return literal(self.expected)

    @cached_property
    def actual_value(self) -> object:
        """The actual value, `UNKNOWN` when its repr is not a literal."""
        return literal(self.actual)

    @cached_property
    def shapes(self) -> frozenset[str]:
        """How the two sides differ; see `shapes_of` for the words."""
        if not self.expected or self.op not in {"==", "is", "!=", ""}:
            return frozenset()
        return shapes_of(self.expected_value, self.actual_value)

    @cached_property
    def crash(self) -> Frame | None:
        """The innermost frame of the project's own code."""
        return next((frame for frame in reversed(self.failure.frames) if frame.own), None)


def read(failure: Failure, sources: ProjectSources) -> Evidence:
    """Read a failure; the test's own text tells which side of the comparison was expected."""
    comparison = failure.comparison
    if comparison is None:
        return Evidence(failure)
    if _left_is_expected(failure, sources):
        return Evidence(failure, comparison.left, comparison.right, comparison.op)
    return Evidence(failure, comparison.right, comparison.left, comparison.op)


def literal(text: str) -> object:
    """Evaluate a repr; `UNKNOWN` when it is not a literal."""
    if not text:
        return UNKNOWN
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return UNKNOWN


def shapes_of(expected: object, actual: object) -> frozenset[str]:
    """Name the ways in which two values differ.

    "none" (got None), "bool" (flipped), "number", "off by one", "sign", "nearly" (floats that differ by
    rounding), "string", "case", "blanks", "items" (a collection), "order" (equal when sorted, texts by their
    characters), "duplicates" (equal as sets), "container" (same items in another type), "missing items",
    "extra items", "reversed", "swapped" (a reversed pair), "type".
    """
    if expected is UNKNOWN or actual is UNKNOWN:
        return frozenset({"none"} if actual is None else ())
    found: set[str] = set()
    if actual is None:
        found.add("none")
    if isinstance(expected, bool) and isinstance(actual, bool):
        found.add("bool")
    elif isinstance(expected, (int, float)) and isinstance(actual, (int, float)):
        found |= _number_shapes(expected, actual)
    elif isinstance(expected, str) and isinstance(actual, str):
        found |= _string_shapes(expected, actual)
    elif isinstance(expected, (list, tuple)) and isinstance(actual, (list, tuple)):
        found |= _item_shapes(list(expected), list(actual))
    if type(expected) is not type(actual):
        found.add("type")
        if isinstance(expected, (list, tuple, set, dict)) and isinstance(actual, (list, tuple, set, dict)):
            found.add("container")
    return frozenset(found)


def _number_shapes(expected: float, actual: float) -> set[str]:
    found = {"number"}
    if abs(expected - actual) == 1:
        found.add("off by one")
    if expected == -actual:
        found.add("sign")
    if isinstance(actual, float) and math.isclose(expected, actual, rel_tol=1e-3, abs_tol=1e-6):
        found.add("nearly")
    return found


def _string_shapes(expected: str, actual: str) -> set[str]:
    found = {"string"}
    if expected.lower() == actual.lower():
        found.add("case")
    if "".join(expected.split()) == "".join(actual.split()):
        found.add("blanks")
    if expected == actual[::-1]:
        found.add("reversed")
    if "blanks" not in found and sorted(expected) == sorted(actual):
        found.add("order")
    return found


def _item_shapes(expected: list[object], actual: list[object]) -> set[str]:
    found = {"items"}
    if expected == actual[::-1]:
        found.add("swapped" if len(expected) == 2 else "reversed")
    if sorted(map(repr, expected)) == sorted(map(repr, actual)):
        found.add("order")
    elif {repr(item) for item in expected} == {repr(item) for item in actual}:
        found.add("duplicates")
    if len(expected) > len(actual):
        found.add("missing items")
    if len(expected) < len(actual):
        found.add("extra items")
    if len(expected) == len(actual):
        for one, other in zip(expected, actual, strict=True):
            if one != other or type(one) is not type(other):  # what is right tells nothing
                found |= {"items " + shape for shape in shapes_of(one, other)}
    return found


def _left_is_expected(failure: Failure, sources: ProjectSources) -> bool:
    """Whether the left side of the failing assert is a literal in the test's text and the right is not."""
    frame = next((frame for frame in reversed(failure.frames) if frame.path == failure.path), None)
    file = sources.get(frame.path) if frame is not None else None
    statement = file.statement_at(frame.line) if file is not None and frame is not None else None
    if statement is None:
        return False
    comparisons = (node for node in statement.walk(into_blocks=False) if node.kind == "comparison_operator")
    sides = next((node.named for node in comparisons), [])
    return len(sides) == 2 and is_literal(sides[0]) and not is_literal(sides[1])


def is_literal(node: Node) -> bool:
    """Whether an expression is a literal through and through: nothing in it has to be looked up."""
    return node.kind in _LITERALS and not any(inner.kind in {"identifier", "call"} for inner in node.walk())
