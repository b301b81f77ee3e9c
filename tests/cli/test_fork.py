"""A heal by a model that came to nothing goes on from one of its rounds, with what the user knows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.commands import PLAIN, Regreen, events

CODE = '''def weekday(number):
    """Name a day, 1 for Monday."""
    names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    return names[number]
'''
TESTS = """from days import weekday


def test_weekday():
    assert weekday(1) == "Mon"
    assert weekday(7) == "Sun"
"""
ANSWERS = """
price: {input: 0.000001, output: 0.000001}
answers:
  - role: debugger
    when: 'The user says: lists count from 0'
    text: |
      {"think": "so it is", "diagnosis": {"category": "off by one", "path": "days.py", "line": 4, "variable": "number",
       "value": "1", "cause": "Days count from 1, lists from 0.", "plan": "Subtract one.", "confidence": 0.9}}
    repeat: true
  - role: debugger
    text: |
      {"think": "?", "diagnosis": {"category": "wrong name", "path": "days.py", "line": 3, "variable": "", "value": "",
       "cause": "The names are wrong.", "plan": "Sort the names.", "confidence": 0.6}}
    repeat: true
  - role: repairer
    when: 'The user says: lists count from 0'
    text: |
      FILE: days.py
      <<<<<<< SEARCH
          return names[number]
      =======
          return names[number - 1]
      >>>>>>> REPLACE
    repeat: true
  - role: repairer
    text: |
      FILE: days.py
      <<<<<<< SEARCH
          return names[number]
      =======
          return sorted(names)[number]
      >>>>>>> REPLACE
    repeat: true
  - role: critic
    text: '{"verdict": "accept", "confidence": 0.7, "issue": "", "counter_example": null}'
    repeat: true
  - role: summariser
    text: '{"lessons": []}'
    repeat: true
  - role: judge
    text: '{"side": "unclear", "why": "Nothing speaks for either.", "confidence": 0.5}'
    repeat: true
"""


@pytest.fixture
def days(tmp_path: Path) -> Path:
    root = tmp_path / "days"
    root.mkdir()
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    (root / "days.py").write_text(CODE)
    (root / "test_days.py").write_text(TESTS)
    (tmp_path / "answers.yaml").write_text(ANSWERS)
    return root


def asked(days: Path) -> tuple[str | Path, ...]:
    model = f"llm.model=scripted:{days.parent / 'answers.yaml'}"
    return ("--json", "--consent", "--interpreter", PLAIN, "--set", model, "--set", "llm.strategies=1")


def stuck(regreen: Regreen, days: Path) -> str:
    """Heal until the model repeats itself; the id of that heal."""
    run = regreen("heal", days, *asked(days), "--set", "llm.mode=allowed", "--set", "heal.maxCandidates=0")
    (result,) = events(run, "result")
    assert result["outcome"] == "STUCK", run.stdout + run.stderr
    assert "a hint may help" in result["reason"]
    return str(result["heal"])


@pytest.mark.parametrize(("kept", "number"), [(("--round", "1"), 2), ((), 4)])
def test_a_hint_takes_a_stuck_heal_further(
    regreen: Regreen, days: Path, kept: tuple[str, ...], number: int
) -> None:
    first = stuck(regreen, days)
    run = regreen("runs", "fork", first[:8], *kept, "--hint", "lists count from 0", *asked(days))
    (result,) = events(run, "result")
    assert (run.returncode, result["outcome"]) == (0, "VERIFIED"), run.stdout + run.stderr
    assert "names[number - 1]" in result["diff"]
    told = json.loads(regreen("runs", "show", result["heal"], "--json").stdout)
    rounds = {one["number"]: one for one in told["rounds"]}
    assert rounds[0]["hint"] == "lists count from 0"
    assert "sorted(names)" in rounds[1]["attempts"][0]["diff"], "what is taken over is part of the story"
    assert rounds[number]["stop"] == "verified"
    assert (days / "days.py").read_text() == CODE


def test_without_a_hint_the_diagnosis_stands_and_the_rounds_after_it_are_asked_anew(
    regreen: Regreen, days: Path
) -> None:
    first = stuck(regreen, days)
    run = regreen("runs", "fork", first, "--round", "0", *asked(days))
    (result,) = events(run, "result")
    assert result["outcome"] == "STUCK"
    told = json.loads(regreen("runs", "show", result["heal"], "--json").stdout)
    assert [one["role"] for one in told["calls"]].count("debugger") == 0


def test_what_cannot_be_taken_up_says_why(regreen: Regreen, days: Path) -> None:
    first = stuck(regreen, days)
    for arguments, said in (
        (("nothing-like-it", "--round", "0"), "There is no run"),
        ((first, "--round", "7"), "has no round 7"),
    ):
        run = regreen("runs", "fork", *arguments, *asked(days))
        assert run.returncode == 2
        assert said in run.stderr, run.stderr
    (days / "days.py").rename(days.parent / "away.py")
    days.rename(days.parent / "moved")
    run = regreen("runs", "fork", first, "--round", "0", *asked(days))
    assert (run.returncode, "is gone" in run.stderr) == (2, True), run.stderr
