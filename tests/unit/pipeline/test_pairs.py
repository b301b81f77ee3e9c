"""Two patches are one where they leave each other's text alone; the likeliest pairs come first."""

from __future__ import annotations

from pathlib import Path

import pytest

from regreen import edits
from regreen.pipeline.pairs import Refused, pairs, promise, together
from regreen.values import Candidate, Failure, FileEdit, Suspect, TextEdit

FILE = Path("/p/cart.py")
TEXT = "total = 1\ntotal -= price\nreturn total\n"
FAILURE = Failure("test_cart.py::test", "call", "AssertionError", "assert -5 == 6\n + where", (), FILE, 0)
BASE = "assert -5 == 6"


def _candidate(old: str, new: str, score: float = 0.01, kind: str = "cause") -> Candidate:
    start = TEXT.index(old)
    edit = TextEdit(start, start + len(old), new)
    return Candidate(
        (FileEdit(FILE, "d", (edit,)),), f"t.{old}", f"{old} → {new}", score, Suspect(FILE, 0, 1.0), kind
    )


def _applied(both: Candidate) -> str:
    return edits.apply(TEXT, both.edits[0].edits)


def test_two_patches_of_a_file_become_one() -> None:
    both = together(_candidate("-=", "+="), _candidate("1", "0", kind="literal"), {FILE: TEXT})
    assert both is not None
    assert _applied(both) == "total = 0\ntotal += price\nreturn total\n"
    assert (both.kind, both.title) == ("literal", "-= → +=; 1 → 0")


@pytest.mark.parametrize(
    ("one", "other"),
    [(("-=", "+="), ("-=", "*=")), (("-= price", ""), ("price", "1")), (("1", "0"), ("1", "0"))],
)
def test_patches_of_the_same_text_are_not_combined(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert together(_candidate(*one), _candidate(*other), {FILE: TEXT}) is None


def test_the_pair_whose_half_came_nearest_is_tried_first() -> None:
    refused = [
        Refused(_candidate("return", "yield"), "TypeError: no"),
        Refused(_candidate("1", "0"), "AssertionError: assert -5 == 6"),
        Refused(_candidate("-=", "+="), "AssertionError: assert 7 == 6"),
        Refused(_candidate("1", "2"), "AssertionError: assert -5 == 6"),
    ]
    found = [_applied(both) for both in pairs(refused, FAILURE, {FILE: TEXT})]
    assert all("+= price" in text for text in found[:3])
    assert len(found) == len(set(found)) == 5  # of six, the two that edit the same digit are none


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("AssertionError: assert 7 == 6", "AssertionError: assert -5 == 6"),
        ("AssertionError: assert 16 == 6", "AssertionError: assert -4 == 6"),
        ("AssertionError: assert -4 == 6", "TypeError: unsupported"),
    ],
)
def test_an_edit_that_changes_the_failure_for_the_better_promises_more(better: str, worse: str) -> None:
    assert promise(better, FAILURE, BASE) > promise(worse, FAILURE, BASE)
