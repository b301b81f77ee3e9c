"""A patch that knows the test's answer by heart is seen through by any other case of the same test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.pipeline.lab import Lab

from regreen import edits
from regreen.pipeline.coverage import Coverage
from regreen.pipeline.ground import survey
from regreen.pipeline.parts import Baseline, merged
from regreen.pipeline.proof import prove
from regreen.pipeline.reproduce import reproduce
from regreen.pipeline.search import judge
from regreen.settings import Settings
from regreen.values import Candidate, RunRequest, Suspect, VerifiedFix

CALC = "def scale(n):\n    return n * 20\n"
TEST = "tests/test_calc.py::test_scale[2-42]"
CASES = """\
    import pytest
    from calc import scale

    @pytest.mark.parametrize("n, wanted", [{cases}])
    def test_scale(n, wanted):
        assert scale(n) == wanted
    """
ALONE, RED, GREEN = (
    CASES.format(cases=cases) for cases in ("(2, 42)", "(2, 42), (3, 63)", "(0, 0), (2, 42)")
)
ELSEWHERE = """\
    from calc import scale

    def test_zero():
        assert scale(0) == 0
    """
BY_HEART = "def scale(n):\n    return 42\n"
RECOGNISED = "def scale(n):\n    if n == 2:\n        return 42\n    return n * 20\n"
INLINE = "def scale(n):\n    return 42 if n == 2 else n * 20\n"
OWN_ANSWER = "REJECTED: calc.py: answers the test's own input with the test's own answer"


@pytest.fixture
async def lab(tmp_path: Path, user_python: Path) -> AsyncIterator[Lab]:
    lab = Lab(tmp_path, user_python)
    lab.write({"calc.py": CALC, "pytest.ini": "[pytest]\npythonpath = .\n"})
    yield lab
    await lab.close()


async def verdict(lab: Lab, base: Baseline, text: str, origin: str = "template") -> str:
    """What the whole ladder says about this text of calc.py: "VERIFIED" with its warning, or why not."""
    path = lab.root / "calc.py"
    tools = await lab.tools()
    failure = next(one for one in base.report.failures if one.nodeid == TEST)
    target = (await reproduce(failure, base, tools, Settings())).target
    assert target is not None
    ground = await survey(target, base, tools, Coverage(tools), base.report.isolation)
    edit = edits.file_edit(path, path.read_bytes(), text)
    candidate = Candidate((edit,), "t", "t", 1.0, Suspect(path, 1, 1.0), origin=origin)
    step, found = await judge(ground.field, candidate, tools)
    if found is None:
        return f"{step.verdict.value}: {step.reason}"
    answer = await prove(found, ground.field, ground.base, tools, started=0.0)
    if isinstance(answer, VerifiedFix):
        return f"VERIFIED {answer.warning}".strip()
    return f"{answer.verdict.value}: {answer.reason}"


@pytest.mark.parametrize(
    ("tests", "text", "said"),
    [
        (ALONE, BY_HEART, "VERIFIED Look twice: returns a literal of the test: 42."),
        (ALONE, RECOGNISED, OWN_ANSWER),
        (ALONE, INLINE, OWN_ANSWER),
        (RED, RECOGNISED, OWN_ANSWER),
        (RED, BY_HEART, "STILL_FAILING: returns a literal of the test: 42, and tests/test_calc.py::test_scale[3-63] is not green"),
        (GREEN, BY_HEART, "REGRESSION: tests/test_calc.py::test_scale[0-0] turns red"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("whole", [True, False])
async def test_other_cases_of_the_test(lab: Lab, tests: str, text: str, said: str, whole: bool) -> None:
    lab.write({"tests/test_calc.py": tests})
    base = await lab.baseline(nodeids=() if whole else (TEST,))
    assert await verdict(lab, base, text) == said
    assert (await verdict(lab, base, text, origin="model")).startswith("REJECTED: calc.py: ")
    assert await verdict(lab, base, CALC.replace("20", "21"), origin="model") == "VERIFIED"


async def test_a_test_of_another_file(lab: Lab) -> None:
    lab.write({"tests/test_calc.py": ALONE, "tests/test_other.py": ELSEWHERE})
    base = await lab.baseline(nodeids=(TEST,))
    assert await verdict(lab, base, BY_HEART) == "REGRESSION: tests/test_other.py::test_zero turns red"


@pytest.mark.parametrize("tests", [RED, GREEN])
async def test_cases_that_nobody_ran_are_run_for_it(lab: Lab, tests: str) -> None:
    lab.write({"tests/test_calc.py": tests})
    base = await lab.baseline(nodeids=(TEST,))
    listing = RunRequest(base.snapshot, ("tests/test_calc.py",), collect_only=True)
    base = replace(merged(base, await (await lab.tools()).oracle.run(listing)), whole_suite=True)
    said = await verdict(lab, base, BY_HEART)
    assert said.startswith(
        "STILL_FAILING: returns a literal of the test: 42, and tests/test_calc.py::test_scale["
    )
    assert await verdict(lab, base, CALC.replace("20", "21")) == "VERIFIED"


async def test_a_heal_offers_no_answer_that_another_case_contradicts(lab: Lab) -> None:
    lab.write({"calc.py": "def scale(n):\n    return n\n", "tests/test_calc.py": RED})
    for result in await lab.heal():
        assert not [fix.diff for fix in result.fixes if fix.flags]
