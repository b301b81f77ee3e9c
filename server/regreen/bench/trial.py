"""What becomes of one case? Lay it out, heal it, grade what was offered.

Everything happens in a temporary folder; the case itself is never written to, and what grades it comes into that
folder when the heal has ended.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regreen.bench.cases import Case, lay
from regreen.bench.grading import Grade, files_to_run, grade
from regreen.bench.healing import Healed, heal
from regreen.bench.waiting import wait_for
from regreen.errors import EnvironmentProblem, UserError
from regreen.oracle import interpreters
from regreen.settings import Settings
from regreen.values import Outcome
from regreen.workspace.projects import locate

QUICK_SECONDS = 5.0
"""A run of the tests that takes less is timed a second time, with the compiled files that users have."""


ENGINES: Mapping[str, tuple[str, ...]] = {
    "offline": ("llm.mode=off",),
    "model": ("llm.mode=allowed", "heal.maxCandidates=0"),
    "both": ("llm.mode=allowed",),
}
"""The settings that make an engine think of patches."""

START_SECONDS = 120.0
SEARCHES = 6
"""What a case may take at most, its start and so many searches: it may have several red tests. So may each grading run."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What all cases have in common.

    Args:
        seconds: how long each heal may search.
        interpreter: the Python that runs the tests; "" to look for one as `regreen heal` does.
        settings: further ones, NAME=VALUE.
        engine: "offline" | "model" | "both": what thinks of patches.
    """

    seconds: float = 20.0
    interpreter: str = ""
    settings: tuple[str, ...] = ()
    engine: str = "offline"


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one case.

    Args:
        id: the case's.
        outcome: the name of an outcome: what Regreen says itself.
        plausible: with what was offered the red tests pass, and the whole suite where the case names no tests.
        offered: a verified fix was applied.
        correct: plausible, and the tests that it never saw pass, too; None where there are none.
        confidence: the class of the offer; in JSON `class`.
        patch: what was offered, for `git apply`.
        tried: how many candidates were judged.
        seconds: what the heal took, its start included.
        first_plausible: seconds from the beginning of the search to the first plausible candidate.
        offer_seconds: seconds from the start to the first verified fix.
        pytest_seconds: what a pytest run of the healed project's own tests took, measured right after.
        families: by family of templates, `tried`, `seconds` and how many were `plausible`.
        problem: what went wrong with the case itself, for people.
        tokens, usd: what a language model read and wrote, and took for it.
    """

    id: str
    outcome: str
    plausible: bool = False
    offered: bool = False
    correct: bool | None = None
    confidence: str = ""
    patch: str = ""
    tried: int = 0
    seconds: float = 0.0
    tokens: int = 0
    usd: float = 0.0
    first_plausible: float | None = None
    offer_seconds: float | None = None
    pytest_seconds: float | None = None
    families: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    problem: str = ""


def run(case: Case, plan: Plan) -> Result:
    """Heal and grade one case; blocks. What goes wrong with it is told in the result."""
    try:
        with tempfile.TemporaryDirectory(prefix="regreen-bench-", ignore_cleanup_errors=True) as name:
            return _run(case, plan, Path(name).resolve() / "project")
    except UserError as error:
        return lost(case, Outcome.ENVIRONMENT, str(error))


def lost(case: Case, outcome: Outcome, problem: str) -> Result:
    """The result of a case that was not healed because of something else than its bug."""
    return Result(case.id, outcome.value, correct=False if case.exams else None, problem=problem)


def _run(case: Case, plan: Plan, project: Path) -> Result:
    lay(case.project, project)
    seconds = case.seconds or plan.seconds
    limit = START_SECONDS + SEARCHES * seconds
    settings = Settings(interpreter=case.interpreter or plan.interpreter)
    found = wait_for(interpreters.find(locate(project, project), settings))
    python = found.executable
    if found.pytest_version is None:
        raise EnvironmentProblem(
            f"{python} has no pytest, which is to grade the fixes.", "Name another one with --interpreter."
        )
    options = ["--interpreter", str(python), "--max-seconds", str(seconds)]
    # A test that takes longer cannot be healed in that time anyway, and one that hangs would use it all up.
    for setting in (
        f"tests.secondsPerTest={max(1.0, seconds / 4):g}",
        *ENGINES[plan.engine],
        *plan.settings,
    ):
        options += ["--set", setting]
    if plan.engine != "offline":
        options.append("--consent")  # who types the engine's name wants the cases sent
    healed = wait_for(heal(project, case.red, options, limit=limit))
    visible, correct = _graded(case, project, python, limit, offered=bool(healed.patch))
    return _result(case, healed, visible, correct=correct)


def _graded(
    case: Case, project: Path, python: Path, limit: float, *, offered: bool
) -> tuple[Grade | None, bool | None]:
    """What the visible tests say of the offer, and what the exams do; without an offer there is nothing to ask."""
    visible: Grade | None = None
    if offered:
        visible = wait_for(grade(python, project, case.red, limit=limit, bytecode=True))
        if visible.seconds < QUICK_SECONDS:
            visible = wait_for(grade(python, project, case.red, limit=limit, bytecode=True))
    if not case.exams:
        return visible, None
    if visible is None or not visible.passed:
        return visible, False
    for exam in case.exams:
        lay(exam, project)
        if not wait_for(grade(python, project, files_to_run(exam), limit=limit)).passed:
            return visible, False
    return visible, True


def _result(case: Case, healed: Healed, visible: Grade | None, *, correct: bool | None) -> Result:
    return Result(
        case.id,
        healed.outcome,
        plausible=visible is not None and visible.passed,
        offered=bool(healed.patch),
        correct=correct,
        confidence=healed.confidence,
        patch=healed.patch,
        tried=sum(spent.tried for spent in healed.families.values()),
        seconds=healed.seconds,
        first_plausible=healed.first_plausible,
        offer_seconds=healed.offer_seconds,
        pytest_seconds=visible.seconds if visible else None,
        families={
            name: {"tried": spent.tried, "seconds": round(spent.seconds, 3), "plausible": spent.plausible}
            for name, spent in sorted(healed.families.items())
        },
        problem=healed.problem,
        tokens=healed.tokens,
        usd=healed.usd,
    )
