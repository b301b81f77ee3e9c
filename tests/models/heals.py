"""A small project with a red test, and a model that answers as it is told: what the tests of whole heals share."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml
from tests.cli.commands import PLAIN, Regreen, events

CODE = '''"""Days of the week."""

NAMES = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]


def weekday(number):
    """Name a day, 1 for Monday."""
    return NAMES[number]


def weekend():
    return NAMES[5:]
'''
TESTS = """from days import weekday, weekend


def test_weekday():
    assert weekday(1) == "Mon"
    assert weekday(7) == "Sun"


def test_weekend():
    assert weekend() == ["Sat", "Sun"]
"""
DIAGNOSIS = json.dumps(
    {
        "think": "seen",
        "diagnosis": {
            "category": "off by one",
            "path": "days.py",
            "line": 8,
            "variable": "number",
            "value": "1",
            "cause": "Days count from 1, lists from 0.",
            "plan": "Subtract one.",
            "confidence": 0.9,
        },
    }
)
RIGHT = """FILE: days.py
<<<<<<< SEARCH
    return NAMES[number]
=======
    return NAMES[number - 1]
>>>>>>> REPLACE
"""
ACCEPT = '{"verdict": "accept", "confidence": 0.7, "issue": "", "counter_example": null}'
OTHERS: Sequence[Mapping[str, Any]] = (
    {"role": "critic", "text": ACCEPT, "repeat": True},
    {"role": "summariser", "text": '{"lessons": []}', "repeat": True},
    {"role": "judge", "text": '{"side": "unclear", "why": "Even.", "confidence": 0.5}', "repeat": True},
)


def search(old: str, new: str, path: str = "days.py") -> str:
    """A search/replace block."""
    return f"FILE: {path}\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n"


@dataclass(frozen=True)
class Week:
    """The project.

    Args:
        regreen: the command.
        root: its folder.
    """

    regreen: Regreen
    root: Path

    def script(
        self,
        *patches: str | Mapping[str, Any],
        others: Sequence[Mapping[str, Any]] = OTHERS,
        price: Any = MappingProxyType({"input": 1e-6, "output": 1e-6}),
        **more: Any,
    ) -> str:
        """Write answers: the diagnosis, then these of the repairer one after the other; the model's name."""
        given = [one if isinstance(one, Mapping) else {"text": one} for one in patches]
        answers = [
            {"role": "debugger", "text": DIAGNOSIS, "repeat": True},
            *({"role": "repairer", **one} for one in given),
            *others,
        ]
        path = self.root.parent / "answers.yaml"
        priced = dict(price) if isinstance(price, Mapping) else price
        document = {"price": priced, "answers": answers, **more}
        path.write_text(yaml.safe_dump(document), encoding="utf-8")
        return f"scripted:{path}"

    def heal(
        self, model: str, *more: str, consent: bool = True, environment: Mapping[str, str] | None = None
    ) -> Healed:
        """Heal it by a model alone."""
        settings = {
            "llm.mode": "allowed",
            "llm.model": model,
            "llm.strategies": "1",
            "heal.maxCandidates": "0",
        }
        asked = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
        run = self.regreen(
            "heal",
            self.root,
            "--json",
            *(["--consent"] if consent else []),
            "--interpreter",
            PLAIN,
            *asked,
            *more,
            environment=environment,
        )
        assert run.returncode in (0, 1), run.stdout + run.stderr
        (result,) = events(run, "result")
        return Healed(result, events(run, "candidate"), run.stderr)

    def rounds(self, healed: Healed) -> list[dict[str, Any]]:
        """What the run store has of a heal's rounds."""
        told = self.regreen("runs", "show", healed.result["heal"], "--json")
        rounds: list[dict[str, Any]] = json.loads(told.stdout)["rounds"]
        return rounds


@dataclass(frozen=True)
class Healed:
    """How a heal ended: its last event, the judged candidates, and what was said to people."""

    result: dict[str, Any]
    candidates: list[dict[str, Any]]
    stderr: str


def week(regreen: Regreen, folder: Path) -> Week:
    """Write the project below a folder."""
    root = folder / "week"
    root.mkdir()
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    (root / "days.py").write_text(CODE)
    (root / "test_days.py").write_text(TESTS)
    (root / "conftest.py").write_text("")
    return Week(regreen, root)
