"""Is a heal understood, and is one that goes wrong a lost case and nothing more?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.processes import left_running

from regreen.bench.healing import Healed, heal


def candidate(template: str, verdict: str, after: float) -> dict[str, Any]:
    return {"event": "candidate", "template": template, "verdict": verdict, "seconds": 0.5, "after": after}


def outcome(nodeid: str, name: str, confidence: str = "") -> dict[str, Any]:
    return {"event": "result", "nodeid": nodeid, "outcome": name, "evidence": {"confidence": confidence}}


def test_times_count_from_the_first_and_families_are_counted() -> None:
    healed = Healed()
    for at, event in enumerate(
        [
            candidate("comparison.boundary", "STILL_FAILING", 0.1),
            candidate("comparison.flipped", "PLAUSIBLE", 0.4),
            candidate("calls.wrap", "PLAUSIBLE", 0.9),
            {"event": "offer", "nodeid": "a"},
            outcome("a", "VERIFIED"),
            outcome("b", "VERIFIED"),
        ]
    ):
        healed.hear(event, at)
    assert (healed.first_plausible, healed.offer_seconds) == (0.4, 3)
    assert len(healed.outcomes) == 2
    assert {name: (spent.tried, spent.plausible) for name, spent in healed.families.items()} == {
        "comparison": (2, 1),
        "calls": (1, 1),
    }


@pytest.mark.parametrize(
    ("outcomes", "whole"),
    [((), "NOT_REPRODUCED"), (("VERIFIED", "VERIFIED"), "VERIFIED"), (("VERIFIED", "NO_FIX"), "NO_FIX")],
)
def test_a_case_is_verified_when_each_red_test_is(outcomes: tuple[str, ...], whole: str) -> None:
    healed = Healed()
    for number, name in enumerate(outcomes):
        healed.hear(outcome(str(number), name), 1.0)
    assert healed.outcome == whole


def test_a_case_is_as_certain_as_the_least_certain_of_its_fixes() -> None:
    healed = Healed()
    assert healed.confidence == ""
    for number, confidence in enumerate(("agreed", "thin", "split")):
        healed.hear(outcome(str(number), "VERIFIED", confidence), 1.0)
    assert healed.confidence == "thin"


async def test_a_heal_that_does_not_end_is_ended_with_all_it_started(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    (project / "test_slow.py").write_text("import time\n\n\ndef test_slow():\n    time.sleep(60)\n")
    before = set(psutil.Process().children(recursive=True))
    healed = await heal(project, [], ["--interpreter", sys.executable], limit=4.0)
    assert healed.outcome == "INTERNAL_ERROR"
    assert healed.problem == "still running after 4 s, and stopped"
    assert not left_running(set(psutil.Process().children(recursive=True)) - before)


async def test_a_crash_of_the_command_is_no_outcome_of_a_heal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "rich.py").write_text("raise RuntimeError('broken')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "library"))
    healed = await heal(project, [], [], limit=60.0)
    assert healed.outcome == "INTERNAL_ERROR"
    assert healed.problem == "ended with status 1: RuntimeError: broken"


async def test_a_heal_that_cannot_begin_says_why(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    healed = await heal(project, [], ["--interpreter", str(tmp_path / "no-python")], limit=60.0)
    assert (healed.outcome, healed.patch) == ("INTERNAL_ERROR", "")
    assert healed.problem.startswith("ended with status 2: ")
