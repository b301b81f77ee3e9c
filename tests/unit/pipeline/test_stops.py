"""When does a model's heal change its strategy, and when does it stop?"""

from __future__ import annotations

from pathlib import Path

import pytest

from regreen.pipeline.consulting import stops
from regreen.values import Attempt, Comparison, Failure, Frame, Round

OTHER = "REGRESSION"


def attempt(signature: str = "", patch: str = "", verdict: str = "STILL_FAILING") -> Attempt:
    diff = "+x\n" if signature or patch else ""
    return Attempt("minimal", diff, verdict, "", signature, patch)


def rounds(*attempts: Attempt) -> list[Round]:
    return [Round("heal", number, attempts=(one,)) for number, one in enumerate(attempts, start=1)]


def failure(message: str, *, comparison: Comparison | None = None, line: int = 3) -> Failure:
    frames = (Frame(Path("/p/cart.py"), line, "total", own=True),)
    return Failure("t.py::t", "call", "ValueError", message, frames, Path("/p/t.py"), 0, comparison)


@pytest.mark.parametrize(
    ("done", "stop"),
    [
        (rounds(attempt("a", "1")), ""),
        (rounds(attempt("a", "1"), attempt("b", "2")), ""),
        (rounds(attempt("a", "1"), attempt("a", "2")), ""),  # once more: the strategy changes
        (rounds(attempt("a", "1"), attempt("a", "2"), attempt("a", "3")), stops.STUCK),
        (rounds(attempt("a", "1"), attempt("b", "1"), attempt("c", "1")), stops.STUCK),
        (rounds(attempt("a", "1"), attempt("b", "1"), attempt("a", "3")), stops.STUCK),
        (rounds(attempt(), attempt()), stops.NO_IMPROVEMENT),  # no patch at all, twice
        (rounds(attempt("a", "1"), attempt(), attempt("b", "2")), ""),
        (rounds(*(attempt(str(n), str(n)) for n in range(4))), stops.NO_IMPROVEMENT),
        (rounds(*(attempt(str(n), str(n)) for n in range(3)), attempt("x", "x", OTHER)), ""),
        (rounds(*(attempt(str(n), str(n)) for n in range(3)), attempt("x", "x", OTHER), attempt("y", "y")), "max-rounds"),
    ],
)  # fmt: skip
def test_the_same_failure_or_patch_twice_changes_the_strategy_and_a_third_time_stops(
    done: list[Round], stop: str
) -> None:
    assert stops.stop_after(done, limit=5) == stop


def test_the_last_round_is_the_last() -> None:
    assert stops.stop_after(rounds(attempt("a", "1")), limit=1) == stops.MAX_ROUNDS


def test_rounds_that_were_taken_over_are_known_and_end_nothing_by_themselves() -> None:
    stuck = rounds(attempt("a", "1"), attempt("a", "2"), attempt("a", "3"))
    assert stops.stop_after(stuck, limit=3) == stops.STUCK
    again = [*stuck, *rounds(attempt("a", "4"))]
    assert stops.stop_after(again, limit=3, taken=3) == "", "once more of the same: the strategy changes"
    assert stops.stop_after([*again, *rounds(attempt("a", "5"))], limit=3, taken=3) == stops.STUCK
    new = [*stuck, *rounds(attempt("b", "4"), attempt("c", "5"), attempt("d", "6"))]
    assert stops.stop_after(new[:-1], limit=3, taken=3) == ""
    assert stops.stop_after(new, limit=3, taken=3) == stops.MAX_ROUNDS


def test_a_round_with_one_new_attempt_is_none_that_repeats() -> None:
    first = Round("heal", 1, attempts=(attempt("a", "1"),))
    second = Round("heal", 2, attempts=(attempt("a", "2"), attempt("b", "3")))
    assert not stops.repeats(second.attempts, [first])
    assert stops.repeats(second.attempts[:1], [first])


def test_strategies_turn_after_a_round_that_showed_nothing_new() -> None:
    assert stops.strategies([], 0.9, 1) == ("minimal",)
    assert stops.strategies(rounds(attempt("a", "1"), attempt("b", "2")), 0.9, 1) == ("minimal",)
    assert stops.strategies(rounds(attempt("a", "1"), attempt("a", "2")), 0.9, 1) == ("restructure",)


def test_a_diagnosis_that_is_not_sure_begins_with_the_broad_strategy() -> None:
    assert stops.strategies([], 0.2, 2) == ("restructure", "minimal")
    assert set(stops.strategies([], 0.2, 3)) == {"minimal", "restructure", "guard"}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (failure("took 3 s at 0x7f00"), failure("took 41.5 s at 0x7e10"), True),
        (failure("no such file"), failure("no such folder"), False),
        (failure("x", line=3), failure("x", line=9), True),  # an edit above moves every line
        (failure("x", comparison=Comparison("==", "1", "2")), failure("x", comparison=Comparison("==", "3", "2")), False),
    ],
)  # fmt: skip
def test_a_signature_is_of_what_went_wrong_not_of_chance_numbers(
    one: Failure, other: Failure, same: bool
) -> None:
    assert (stops.signature(one) == stops.signature(other)) is same


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("def f():\n    return 1\n", "def f():  # why\n\n    return 1\n", True),
        ("def f(a, b):\n    return a\n", "def f(a,b):\n        return a\n", True),
        ("def f():\n    return 1\n", "def f():\n    return 2\n", False),
        ("if a:\n    b()\nc()\n", "if a:\n    b()\n    c()\n", False),
        ("x = (\n", "x =  (\n", True),  # no Python, compared by words
    ],
)
def test_patches_are_the_same_when_only_blanks_and_comments_differ(one: str, other: str, same: bool) -> None:
    assert (stops.patch_digest([("a.py", one)]) == stops.patch_digest([("a.py", other)])) is same
