"""Is a case that has ended known afterwards, and only where it would end the same?"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from tests.unit.bench.made import result

from regreen.bench.cases import Case
from regreen.bench.journal import Journal, fields, from_fields
from regreen.bench.trial import Plan

CASE = Case("one", {"shop.py": "x = 1\n"})
PLAN = Plan(seconds=5)
RESULT = result("one", correct=True, confidence="agreed")


def test_a_result_is_known_for_the_same_case_and_plan_only(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    Journal(path).add(CASE, PLAN, RESULT)
    again = Journal(path)
    assert again.get(CASE, PLAN) == RESULT
    assert again.get(replace(CASE, project={"shop.py": "x = 2\n"}), PLAN) is None
    assert again.get(CASE, replace(PLAN, seconds=6)) is None
    assert again.get(CASE, replace(PLAN, settings=('heal.without=["calls"]',))) is None


def test_a_line_that_was_being_written_counts_for_nothing_and_harms_no_later_one(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    Journal(path).add(CASE, PLAN, RESULT)
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:40])
    other = replace(CASE, id="two")
    Journal(path).add(other, PLAN, replace(RESULT, id="two"))
    again = Journal(path)
    assert again.get(CASE, PLAN) == RESULT
    assert again.get(other, PLAN) == replace(RESULT, id="two")


def test_results_survive_json_under_the_names_that_readers_rely_on() -> None:
    told = json.loads(json.dumps(fields(RESULT)))
    assert from_fields(told) == RESULT
    assert told["class"] == "agreed"
    expected = "id outcome plausible offered correct class patch tried seconds tokens usd"
    assert set(expected.split()) <= set(told)
