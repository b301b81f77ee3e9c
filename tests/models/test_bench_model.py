"""`regreen bench --engine model` heals a whole set of cases end to end, and what it says of them is so."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.cli.commands import PLAIN, Regreen
from tests.models.heals import ACCEPT

CASES = 20
FEW = 3
OWN = Path(__file__).parents[1] / "repair" / "sample.jsonl"
USED = {"id", "module", "entry", "buggy", "correct"}


@pytest.fixture(scope="module")
def cases() -> list[dict[str, Any]]:
    """The first cases of the folder REGREEN_CASES; without such a folder the project's own."""
    folder = Path(os.environ.get("REGREEN_CASES") or os.devnull)
    for file in [*sorted(folder.glob("*.jsonl")), OWN]:
        read = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()[:CASES]]
        if all(case.keys() >= USED for case in read):
            return read
    raise AssertionError(f"{OWN} has lost what these tests use: {USED}")


@pytest.fixture
def regreen(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Regreen:
    return Regreen(tmp_path_factory.mktemp("home"), tmp_path)


def function(case: dict[str, Any], text: str) -> str:
    """An answer that puts the function under repair in place, whole."""
    name = case["entry"]
    found = next(n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef) and n.name == name)
    return f"FUNCTION: {case['module']}.py::{name}\n```python\n{ast.get_source_segment(text, found)}\n```\n"


def bench(
    regreen: Regreen, cases: list[dict[str, Any]], answers: dict[str, str], *more: str
) -> dict[str, Any]:
    """Heal the cases by a model that gives these answers: id → the repairer's."""
    said: list[dict[str, Any]] = []
    for case in cases:
        place = {"category": "bug", "path": f"{case['module']}.py", "line": 1, "variable": "", "value": ""}
        diagnosis = {**place, "cause": "A bug.", "plan": "Mend it.", "confidence": 0.9}
        when = rf"\bdef {case['entry']}\("
        said += [
            {
                "role": "debugger",
                "when": when,
                "text": json.dumps({"think": "", "diagnosis": diagnosis}),
                "repeat": True,
            },
            {"role": "repairer", "when": when, "text": answers[case["id"]], "repeat": True},
        ]
    said += [
        {"role": "critic", "text": ACCEPT, "repeat": True},
        {"role": "summariser", "text": '{"lessons": []}', "repeat": True},
        {
            "role": "judge",
            "text": '{"side": "unclear", "why": "Even.", "confidence": 0.5}',
            "repeat": True,
        },
    ]
    script = regreen.cwd / "answers.yaml"
    document = {"price": {"input": 1e-6, "output": 1e-6}, "answers": said}
    script.write_text(yaml.safe_dump(document), encoding="utf-8")
    file = regreen.cwd / "cases.jsonl"
    file.write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    model = (f"llm.model=scripted:{script}", "llm.strategies=1", "llm.maxRounds=2")
    out = regreen.cwd / "out.json"
    asked = [part for one in (*model, *more) for part in ("--set", one)]
    run = regreen(
        "bench", file, "--engine", "model", "--jobs", "2", "--json", out, "--interpreter", PLAIN, *asked
    )
    assert run.returncode == 0, run.stderr
    document = json.loads(out.read_text())
    assert isinstance(document, dict)
    return document


def test_right_answers_heal_every_case_and_are_graded_and_priced(
    regreen: Regreen, cases: list[dict[str, Any]]
) -> None:
    told = bench(regreen, cases, {case["id"]: function(case, case["correct"]) for case in cases})
    totals = told["totals"]
    assert (totals["cases"], totals["plausible"], totals["correct"]) == (len(cases),) * 3, told["cases"]
    assert told["engine"] == "model"
    assert totals["tokens"] == sum(case["tokens"] for case in told["cases"]) > 0
    assert totals["usd"] == pytest.approx(sum(case["usd"] for case in told["cases"]), abs=1e-4)


def test_answers_that_know_only_the_tests_are_never_offered(
    regreen: Regreen, cases: list[dict[str, Any]]
) -> None:
    some = cases[:FEW]
    by_heart = {
        case["id"]: function(case, case["buggy"]).replace(
            ":\n", ":\n    import os\n    os.environ['DONE'] = '1'\n    os._exit(0)\n", 1
        )
        for case in some
    }
    told = bench(regreen, some, by_heart)
    assert [case["offered"] for case in told["cases"]] == [False] * FEW
