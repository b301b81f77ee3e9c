"""The template tests' table: `cases/*.txt`, each row a diff that turns a red test green.

    === template.name rank 3          the full search must find it within so many candidates
     unchanged line                   a blank, `-` or `+` first, as in a diff
    -line of the broken module
    +line of the repaired module
    --- file helpers.py               other files, in the same form
    --- test                          the test as it is

Every row runs for real: all broken modules in one pytest process, all repaired ones in another.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from regreen.source import ProjectSources
from regreen.templates import candidates
from regreen.values import Candidate, Comparison, Failure, Frame, Local, Suspect

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Case:
    """One row. `before`, `after`: text by file name; `rank`: how soon the full search must have it."""

    number: int
    template: str
    rank: int
    before: Mapping[str, str]
    after: Mapping[str, str]

    def __str__(self) -> str:
        return f"{self.number}-{self.template}"

    @property
    def test_name(self) -> str:
        return f"test_{self.number:03}.py"


@dataclass(frozen=True)
class Red:
    """What a real run of a row's broken modules showed."""

    case: Case
    failure: Failure
    suspects: tuple[Suspect, ...]
    folder: Path

    @property
    def sources(self) -> ProjectSources:
        return ProjectSources({self.folder / name: text.encode() for name, text in self.case.before.items()})

    def search(self) -> tuple[Candidate, ...]:
        """What the whole catalogue yields within the budget; searched once for all tests of the row."""
        if self.case.number not in _searches:
            found = islice(candidates(self.failure, self.suspects, self.sources), BUDGET)
            _searches[self.case.number] = tuple(found)
        return _searches[self.case.number]


def read_cases() -> list[Case]:
    cases: list[Case] = []
    for path in sorted((HERE / "cases").glob("*.txt")):
        for row in path.read_text(encoding="utf-8").split("\n=== ")[0:]:
            head, _, rest = row.removeprefix("=== ").partition("\n")
            match = re.fullmatch(r"([\w.]+) rank (\d+)(?: below 3\.(\d+))?", head)
            assert match, f"{path.name}: {head}"
            if match.group(3) is None or sys.version_info < (3, int(match.group(3))):
                cases.append(_case(len(cases), match.group(1), int(match.group(2)), rest))
    return cases


def _case(number: int, template: str, rank: int, text: str) -> Case:
    parts = re.split(r"(?m)^--- (test|file [\w.]+)\n", text)
    names = ["mod.py", *(part.removeprefix("file ") for part in parts[1::2])]
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    for name, body in zip(names, parts[::2], strict=True):
        if name == "test":
            before[f"test_{number:03}.py"] = after[f"test_{number:03}.py"] = body.rstrip() + "\n"
            continue
        lines = body.rstrip("\n").split("\n")
        before[name] = "".join(f"{line[1:]}\n" for line in lines if line[:1] != "+")
        after[name] = "".join(f"{line[1:]}\n" for line in lines if line[:1] != "-")
    stems = [name.removesuffix(".py") for name in names if name != "test"]
    return Case(number, template, rank, _renamed(before, stems, number), _renamed(after, stems, number))


def _renamed(files: dict[str, str], stems: list[str], number: int) -> dict[str, str]:
    """Give each row's modules names of their own, so that all rows can run in one process."""
    pattern = re.compile(rf"\b({'|'.join(stems)})\b(?=[.\s]|$)")
    fresh = {stem: f"{'case' if stem == 'mod' else 'with'}_{number:03}_{stem}" for stem in stems}
    return {
        f"{fresh.get(name.removesuffix('.py'), name.removesuffix('.py'))}.py": "".join(
            pattern.sub(lambda m: fresh[m.group(1)], line) if re.search(r"\bimport\b|\bmod\.", line) else line
            for line in text.splitlines(keepends=True)
        )
        for name, text in files.items()
    }


CASES = read_cases()
BUDGET = 400
_searches: dict[int, tuple[Candidate, ...]] = {}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        metafunc.parametrize("case", CASES, ids=str)


@pytest.fixture(scope="session")
def cases() -> list[Case]:
    return CASES


def run(folder: Path, files: Mapping[str, str]) -> dict[str, Any]:
    """Run pytest once over these files and return the recorder's result."""
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    record = folder / "record.json"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "recorder", "-p", "no:cacheprovider", "-p", "no:xdist",
         "--continue-on-collection-errors", "--import-mode=prepend", "--tb=no", str(folder)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(HERE), "RECORD_TO": str(record), "PYTHONDONTWRITEBYTECODE": "1",
             "PYTHONWARNINGS": "ignore"},
        check=False,
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert record.exists(), done.stdout + done.stderr
    result: dict[str, Any] = json.loads(record.read_text(encoding="utf-8"))
    return result


@pytest.fixture(scope="session")
def before_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("before")
    return folder, run(folder, {name: text for case in CASES for name, text in case.before.items()})


@pytest.fixture(scope="session")
def after_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("after")
    return folder, run(folder, {name: text for case in CASES for name, text in case.after.items()})


@pytest.fixture
def red(case: Case, before_run: tuple[Path, dict[str, Any]]) -> Red:
    folder, record = before_run
    failing = [f for f in record["failures"] if Path(f["path"]).name == case.test_name]
    assert failing, f"{case} is not red before"
    return Red(case, _failure(failing[0]), _suspects(folder, case, record, failing), folder)


def _failure(data: dict[str, Any]) -> Failure:
    frames = tuple(
        Frame(Path(f["path"]), f["line"], f["function"], f["own"], tuple(Local(*one) for one in f["locals"]))
        for f in data["frames"]
    )
    comparison = Comparison(**data["comparison"]) if data["comparison"] else None
    return Failure(
        nodeid=data["nodeid"],
        phase=data["phase"],
        exception=data["exception"],
        message=data["message"],
        frames=frames,
        path=Path(data["path"]),
        line=0,
        comparison=comparison,
        hints=data["hints"],
    )


def _suspects(
    folder: Path, case: Case, record: dict[str, Any], failing: list[dict[str, Any]]
) -> tuple[Suspect, ...]:
    """Ochiai over the lines that the row's own tests ran."""
    red = {failure["nodeid"] for failure in failing}
    ran = {node: lines for node, lines in record["lines"].items() if node.startswith(case.test_name)}
    scores: dict[tuple[str, int], float] = {}
    for place in {(name, line) for lines in ran.values() for name in lines for line in lines[name]}:
        hit = [node for node, lines in ran.items() if place[1] in lines.get(place[0], ())]
        bad = sum(node in red for node in hit)
        if bad:
            scores[place] = bad / (len(red) * len(hit)) ** 0.5
    ordered = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Suspect(folder / name, line, score) for (name, line), score in ordered)
