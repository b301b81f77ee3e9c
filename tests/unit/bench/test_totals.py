"""Do the figures say what the results are, and does a gate close when it should?"""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.bench.made import result

from regreen.bench.totals import missed, parse_gate, percentile, totals
from regreen.errors import UsageError

RESULTS = [
    result("right", correct=True, confidence="agreed", seconds=1),
    result("wrong", correct=False, confidence="agreed", seconds=2),
    result("lucky", correct=True, confidence="split", seconds=3),
    result("nothing", seconds=20),
    replace(result("ungraded", correct=True, confidence="thin", seconds=4), correct=None),
]


def test_counts_are_cases_and_what_cannot_be_graded_counts_neither_way() -> None:
    figures = totals(RESULTS)
    kept = ("cases", "verified", "plausible", "offered", "graded", "correct", "agreed", "agreed_correct")
    assert [figures[name] for name in kept] == [5, 4, 4, 4, 4, 2, 2, 1]
    assert figures["precision"] == round(2 / 3, 4)
    assert figures["shares"]["correct"]["of"] == 4
    assert figures["shares"]["correct"]["low"] < 0.5 < figures["shares"]["correct"]["high"]


def test_precision_is_told_for_each_class() -> None:
    classes = totals(RESULTS)["classes"]
    assert {name: (one["hits"], one["of"]) for name, one in classes.items()} == {
        "agreed": (1, 2),
        "split": (1, 1),
        "thin": (0, 0),
    }


def test_times_are_told_by_median_and_by_the_slowest_but_one_in_ten() -> None:
    figures = totals(RESULTS)
    assert (figures["seconds_median"], figures["seconds_p90"]) == (3, 20)
    assert figures["first_plausible_median"] == 0.25
    assert figures["pytest_runs_median"] == 12.5
    assert percentile(range(1, 11), 0.9) == 9
    assert percentile([], 0.9) is None


@pytest.mark.parametrize(
    ("gate", "sentences"),
    [
        ("correct>=0.5,precision>=0.6", ()),
        ("correct>=0.51", ("correct is 0.5, not >=0.51",)),
        ("offered >= 0.9, seconds_p90 <= 10", ("offered is 0.8, not >=0.9", "seconds_p90 is 20, not <=10")),
    ],
)
def test_a_gate_names_each_bound_that_is_not_kept(gate: str, sentences: tuple[str, ...]) -> None:
    assert missed(parse_gate(gate), totals(RESULTS)) == sentences


def test_a_figure_that_nothing_was_measured_for_keeps_no_bound() -> None:
    assert missed(parse_gate("precision>=0"), totals([result("nothing")])) == (
        "precision is unknown, not >=0",
    )


@pytest.mark.parametrize("gate", ["correct>0.5", "corect>=0.5", "shares>=1", "", "correct>=x"])
def test_a_gate_that_makes_no_sense_is_refused(gate: str) -> None:
    with pytest.raises(UsageError):
        parse_gate(gate)
