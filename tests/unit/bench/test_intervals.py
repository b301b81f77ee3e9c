"""Are the intervals those of their sources?"""

from __future__ import annotations

import random
from statistics import mean

import pytest

from regreen.bench.intervals import bootstrap, mcnemar, paired, wilson


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [(8, 10, 0.4902, 0.9433), (0, 10, 0.0, 0.2775), (81, 263, 0.2553, 0.3662), (29, 29, 0.8830, 1.0)],
)
def test_wilsons_interval_has_the_published_bounds(hits: int, of: int, low: float, high: float) -> None:
    assert wilson(hits, of) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(
    ("gained", "lost", "probability"),
    [(0, 0, 1.0), (1, 9, 0.021484), (9, 1, 0.021484), (5, 5, 1.0), (0, 6, 0.03125)],
)
def test_mcnemars_test_is_the_two_sided_sign_test_of_the_cases_that_differ(
    gained: int, lost: int, probability: float
) -> None:
    assert mcnemar(gained, lost) == pytest.approx(probability, abs=1e-6)


@pytest.mark.parametrize(("up", "down"), [(0.1, 0.02), (0.05, 0.05), (0.3, 0.1)])
def test_the_paired_interval_holds_the_true_difference_nineteen_times_in_twenty(
    up: float, down: float
) -> None:
    draw = random.Random(7)
    held = 0
    for _ in range(2000):
        outcomes = draw.choices((1, -1, 0), (up, down, 1 - up - down), k=80)
        low, high = paired(outcomes.count(1), outcomes.count(-1), 80)
        held += low <= up - down <= high
    assert held / 2000 == pytest.approx(0.955, abs=0.025)


def test_the_paired_interval_has_width_even_where_no_case_differs() -> None:
    low, high = paired(0, 0, 80)
    assert low == -high
    assert 0 < high < 0.06


def test_a_bootstrapped_interval_is_the_same_each_time_and_holds_what_was_measured() -> None:
    sample = [random.Random(n).gauss(5, 1) for n in range(40)]
    interval = bootstrap(sample, mean)
    assert interval is not None
    assert interval == bootstrap(sample, mean)
    assert interval[0] < mean(sample) < interval[1]
    assert interval[1] - interval[0] == pytest.approx(2 * 1.96 / 40**0.5, rel=0.35)


def test_a_statistic_without_a_value_has_no_interval() -> None:
    assert bootstrap([1, 2], lambda _: None) is None
    assert bootstrap([], lambda _: 1.0) is None
