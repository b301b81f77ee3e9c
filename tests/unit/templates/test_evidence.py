"""A failure's values say how expected and actual differ, and which of them was expected."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regreen.source import ProjectSources
from regreen.templates.evidence import UNKNOWN, literal, read, shapes_of
from regreen.values import Comparison, Failure, Frame

TEST = Path("/p/test_shop.py")


@pytest.mark.parametrize(
    ("expected", "actual", "shapes"),
    [
        (True, False, {"bool"}),
        (3, 4, {"number", "off by one"}),
        (3, -3, {"number", "sign"}),
        (0.3, 0.30000000000000004, {"number", "nearly"}),
        ("Abc", "abc", {"string", "case"}),
        ("a b", "ab", {"string", "blanks"}),
        ("b, a", "a, b", {"string", "order"}),
        ([1, 2, 3], [3, 1, 2], {"items", "order", "items number"}),
        ([1, 2], [2, 1], {"items", "order", "swapped"}),
        ([1, 2], [1, 1, 2], {"items", "duplicates", "extra items"}),
        ([1, 2, 3], [1, 2], {"items", "missing items"}),
        ([1], (1,), {"type", "container", "order"}),
        ([1], None, {"none", "type"}),
        (1, "1", {"type"}),
    ],
)
def test_shapes_name_the_difference(expected: object, actual: object, shapes: set[str]) -> None:
    assert shapes <= shapes_of(expected, actual)


def test_items_that_are_right_tell_nothing() -> None:
    assert shapes_of(["a", 3], ["a", 4]) == {"items", "items number", "items off by one"}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=2), inner)
    ),
    max_leaves=6,
)


@given(VALUES, VALUES)
def test_any_two_values_have_shapes(expected: object, actual: object) -> None:
    assert shapes_of(expected, actual) is not None
    assert literal(repr(expected)) == expected or literal(repr(expected)) is UNKNOWN


@given(st.text(max_size=30))
def test_a_repr_that_is_no_literal_is_unknown_and_never_evaluated(text: str) -> None:
    assert literal(text + "(") is UNKNOWN
    assert literal("[1, 2, …") is UNKNOWN
    assert literal("__import__('os')") is UNKNOWN


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("assert total() == 3", "right"),
        ("assert 3 == total()", "left"),
        ("assert total() == price()", "right"),
    ],
)
def test_the_literal_side_is_the_expected_one(line: str, expected: str) -> None:
    sources = ProjectSources({TEST: f"def test_total():\n    {line}\n".encode()})
    frames = (Frame(TEST, 1, "test_total", own=True),)
    failure = Failure(
        "t", "call", "AssertionError", "", frames, TEST, 0, Comparison("==", "'left'", "'right'")
    )
    assert read(failure, sources).expected == f"'{expected}'"
