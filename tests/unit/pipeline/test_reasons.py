"""What a person reads about a cause names the values and the place."""

from __future__ import annotations

from pathlib import Path

import pytest

from regreen.pipeline.reasons import cause_of
from regreen.values import Comparison, Failure, Frame

TEST = Path("/p/test_cart.py")


def failure(exception: str, message: str, comparison: Comparison | None = None) -> Failure:
    frames = (Frame(TEST, 4, "test_total", own=True), Frame(Path("/lib/x.py"), 9, "x", own=False))
    return Failure("t", "call", exception, message, frames, TEST, 0, comparison)


@pytest.mark.parametrize(
    ("one", "text"),
    [
        (
            failure("AssertionError", "assert 10 == 15", Comparison("==", "10", "15")),
            "expected 15, got 10 at test_cart.py:5",
        ),
        (
            failure("AssertionError", "", Comparison("in", "'a'", "['b']")),
            "'a' in ['b'] is false at test_cart.py:5",
        ),
        (failure("shop.errors.Oops", "no stock\nmore"), "Oops: no stock at test_cart.py:5"),
        (failure("ZeroDivisionError", ""), "ZeroDivisionError at test_cart.py:5"),
    ],
)
def test_the_cause_names_values_exception_and_place(one: Failure, text: str) -> None:
    assert cause_of(one) == text
