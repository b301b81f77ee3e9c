"""Models whose answers are written down, for tests of what a person in an editor sees of a model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml


def diagnosis(line: int, value: str, cause: str, plan: str) -> str:
    """What a debugger says of an operator in a line of cart.py, 1-based, where `result` has a value."""
    return json.dumps({
        "think": "seen",
        "diagnosis": {
            "category": "wrong operator",
            "path": "cart.py",
            "line": line,
            "variable": "result",
            "value": value,
            "cause": cause,
            "plan": plan,
            "confidence": 0.9,
        },
    })  # fmt: skip


def patch(path: str, old: str, new: str) -> str:
    """A repairer's answer that changes one place of a file."""
    return f"FILE: {path}\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n"


def write_script(folder: Path, debugger: str, repairers: Sequence[dict[str, str]], **about: Any) -> str:
    """Write the answers of a model, each given as often as it is asked for; what `llm.model` is to be.

    Args:
        folder: where to.
        debugger: its answer.
        repairers: the answers to choose from, the first whose `when` stands in the question.
        about: what else there is to say of the model, such as its price.
    """
    answers: list[dict[str, Any]] = [
        {"role": "debugger", "text": debugger},
        *({"role": "repairer", **one} for one in repairers),
        {
            "role": "critic",
            "text": '{"verdict": "accept", "confidence": 0.7, "issue": "", "counter_example": null}',
        },
        {"role": "summariser", "text": '{"lessons": []}'},
        {"role": "judge", "text": '{"side": "unclear", "why": "Even.", "confidence": 0.5}'},
    ]
    document = {
        "address": "api.example.com",
        **about,
        "answers": [{**one, "repeat": True} for one in answers],
    }
    path = folder / "answers.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return f"scripted:{path}"
