"""Shards lose no test, keep files together, and say together what one run would have said."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from regreen.pipeline.shards import joined, split
from regreen.values import RunReport, TestOutcome, TestStatus

TESTS = tuple(f"test_{file}.py::test_{number}" for file in "abcde" for number in range(4))


@pytest.fixture(autouse=True)
def processors(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as a test's parameter says, else two."""
    usable = set(range(getattr(request, "param", 2)))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: usable, raising=False)


@pytest.mark.parametrize(("processors", "shards"), [(1, 1), (2, 2), (3, 3), (64, 4)], indirect=["processors"])
def test_every_test_is_in_one_shard_beside_those_of_its_file_and_in_order(shards: int) -> None:
    made = split(TESTS, {})
    assert len(made) == shards
    assert sorted(nodeid for shard in made for nodeid in shard) == sorted(TESTS)
    files = [{nodeid.partition("::")[0] for nodeid in shard} for shard in made]
    assert sum(map(len, files)) == 5
    assert all(shard == tuple(nodeid for nodeid in TESTS if nodeid in shard) for shard in made)


def test_shards_take_about_as_long_whatever_the_number_of_their_tests() -> None:
    seconds = dict.fromkeys(TESTS, 1.0) | {"test_a.py::test_0": 13.0}
    assert [len(shard) for shard in split(TESTS, seconds)] == [4, 16]


def test_there_is_no_empty_shard() -> None:
    assert split((), {}) == ()
    assert split(("test_a.py::test_0",), {}) == (("test_a.py::test_0",),)


def report(nodeid: str, **more: object) -> RunReport:
    outcome = TestOutcome(nodeid, TestStatus.PASSED, 0.1, Path("/p/test_a.py"), 0)
    return replace(RunReport({nodeid: outcome}, (nodeid,), 0, isolation="full"), **more)  # type: ignore[arg-type]


def test_what_shards_show_together_is_no_better_than_the_worst_of_them() -> None:
    one = report("a", seconds=1.0, origins=frozenset({Path("/p/a.py")}))
    other = report("b", seconds=3.0, exit_status=1, isolation="partial", replaced=frozenset({"builtins.len"}))
    both = joined([one, other])
    assert (tuple(both.outcomes), both.collected, both.exit_status) == (("a", "b"), ("a", "b"), 1)
    assert (both.seconds, both.isolation) == (3.0, "partial")
    assert both.origins == {Path("/p/a.py")}
    assert both.replaced == {"builtins.len"}
    assert joined([one, report("c", exit_status=None, problem="ended")]).exit_status is None
    assert joined([one, report("c", problem="ended")]).problem == "ended"
