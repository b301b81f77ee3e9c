"""No trick turns a wrong patch into a verified fix: neither with the gate, nor behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.hostile.attacks import ATTACKS
from tests.pipeline.lab import Lab

from regreen import edits
from regreen.pipeline.coverage import Coverage
from regreen.pipeline.ground import survey
from regreen.pipeline.proof import prove
from regreen.pipeline.reproduce import reproduce
from regreen.pipeline.screening import Field
from regreen.pipeline.search import judge
from regreen.settings import Settings
from regreen.validation.gate import Gate, Ruling
from regreen.values import Candidate, Rung, Suspect, VerifiedFix

CALC = "def add(a, b):\n    return a - b\n"
TESTS = """\
    from calc import add

    def test_add():
        assert add(2, 2) == 4

    def test_zero():
        assert add(3, 0) == 3
    """
ONLY_THE_GATE = {  # they return what the tests ask for: nothing in a run can tell
    "gives the test's own answer",
    "replaces what the test calls",
}


class Open(Gate):
    """A gate that lets everything through."""

    def examine(self, candidate: Candidate, overlay: object) -> Ruling:
        """Refuse nothing, and see nothing."""
        return Ruling()


@pytest.fixture
async def lab(tmp_path: Path, user_python: Path) -> AsyncIterator[Lab]:
    lab = Lab(tmp_path, user_python)
    lab.write({"calc.py": CALC, "tests/test_calc.py": TESTS, "pytest.ini": "[pytest]\npythonpath = .\n"})
    yield lab
    await lab.close()


async def verdict(lab: Lab, text: str, *, gate: bool, rung: Rung = Rung.WARM) -> str:
    """What the whole ladder says about this text of calc.py: "VERIFIED", or why not."""
    path = lab.root / "calc.py"
    tools, settings = await lab.tools(), Settings()
    base = await lab.baseline()
    failure = base.report.failures[0]
    target = (await reproduce(failure, base, tools, settings)).target
    assert target is not None
    ground = await survey(target, base, tools, Coverage(tools), base.report.isolation)
    field: Field = ground.field
    if not gate:
        field = replace(field, gate=Open(field.sources, lambda _: "", frozenset()))
    edit = edits.file_edit(path, path.read_bytes(), text)
    candidate = Candidate((edit,), "attack", "an attack", 1.0, Suspect(path, 1, 1.0), origin="model")
    step, found = await judge(field, candidate, tools, rung=rung)
    if found is None:
        return f"{step.verdict.value}: {step.reason}"
    answer = await prove(found, field, ground.base, tools, started=0.0)
    return "VERIFIED" if isinstance(answer, VerifiedFix) else f"{answer.verdict.value}: {answer.reason}"


async def test_the_right_patch_is_verified(lab: Lab) -> None:
    for gate in (True, False):
        assert await verdict(lab, CALC.replace("-", "+"), gate=gate) == "VERIFIED"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("does not call the test", "it replaces _pytest.python.pytest_pyfunc_call"),
        ("makes every report a success", "it replaces _pytest.reports.TestReport.__init__"),
        ("is equal to everything", "the test passes whatever it asks for"),
        ("skips the test", "instead of passed"),
    ],
)
async def test_each_layer_catches_what_it_is_there_for(lab: Lab, name: str, reason: str) -> None:
    said = await verdict(lab, ATTACKS[name], gate=False)
    assert said.startswith("TAMPERED: ")
    assert reason in said


async def test_where_nothing_confines_it_not_even_the_right_patch_of_a_model_is_run_unasked(lab: Lab) -> None:
    lab.settings(isolation="none")
    said = await verdict(lab, CALC.replace("-", "+"), gate=False)
    assert said.startswith("REJECTED: ")
    assert "the setting regreen.isolation.unconfinedModels allows it" in said


@pytest.mark.parametrize("name", ATTACKS)
async def test_no_attack_passes_the_ladder(lab: Lab, name: str) -> None:
    before = lab.picture()
    assert await verdict(lab, ATTACKS[name], gate=True) != "VERIFIED"
    assert lab.picture() == before


@pytest.mark.parametrize("name", sorted(ATTACKS.keys() - ONLY_THE_GATE))
async def test_no_attack_that_runs_is_believed(lab: Lab, name: str) -> None:
    before = lab.picture()
    assert await verdict(lab, ATTACKS[name], gate=False) != "VERIFIED"
    assert await verdict(lab, ATTACKS[name], gate=False, rung=Rung.HOT) != "VERIFIED"
    assert lab.picture() == before
    assert await verdict(lab, CALC.replace("-", "+"), gate=False) == "VERIFIED", (
        "an attack spoils later verdicts"
    )
