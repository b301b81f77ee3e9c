"""A report counts as green only when the target really ran and passed, and nothing else got worse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from regreen.validation.ladder import (
    OBSERVED,
    Known,
    Target,
    climb_selection,
    judge_alone,
    judge_selection,
    judge_target,
    request_for,
)
from regreen.values import (
    CanaryPoint,
    Failure,
    Project,
    RunReport,
    RunRequest,
    Snapshot,
    TestOutcome,
    TestSelection,
    TestStatus,
    Verdict,
)

FILE = Path("/p/tests/test_a.py")
RED = "tests/test_a.py::test_red"
GREEN = "tests/test_a.py::test_green"


def failure(nodeid: str = RED, phase: str = "call") -> Failure:
    return Failure(nodeid, phase, "AssertionError", "assert 1 == 2", (), FILE, 0)


def report(statuses: dict[str, TestStatus], **more: object) -> RunReport:
    outcomes = {
        nodeid: TestOutcome(nodeid, status, 0.0, FILE, 0, failure=failure(nodeid) if status.is_red else None)
        for nodeid, status in statuses.items()
    }
    values: dict[str, object] = {"collected": tuple(statuses), "exit_status": 0, **more}
    return RunReport(outcomes=outcomes, **values)  # type: ignore[arg-type]


TARGET = Target(failure())


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        (TestStatus.PASSED, Verdict.PLAUSIBLE),
        (TestStatus.FAILED, Verdict.STILL_FAILING),
        (TestStatus.ERROR, Verdict.STILL_FAILING),
        (TestStatus.SKIPPED, Verdict.TAMPERED),
        (TestStatus.XFAILED, Verdict.TAMPERED),
        (TestStatus.XPASSED, Verdict.TAMPERED),
        (TestStatus.TIMEOUT, Verdict.TIMEOUT),
        (TestStatus.CRASHED, Verdict.CRASH),
    ],
)
def test_only_a_passed_target_is_plausible(status: TestStatus, verdict: Verdict) -> None:
    assert judge_target(report({RED: status}), TARGET).verdict is verdict


def test_a_patch_that_replaces_what_judges_it_is_tampering() -> None:
    patched = report({RED: TestStatus.PASSED}, replaced=frozenset({"plug-in's", "builtins.len"}))
    usual = replace(TARGET, replaced=frozenset({"plug-in's"}))
    step = judge_alone(patched, usual)
    assert (step.verdict, step.reason) == (Verdict.TAMPERED, "it replaces builtins.len")
    assert judge_alone(patched, replace(usual, replaced=patched.replaced)).verdict is Verdict.PLAUSIBLE
    assert judge_alone(patched, TARGET).verdict is Verdict.PLAUSIBLE  # nothing is known to compare with


def test_a_target_that_is_no_longer_collected_is_tampering() -> None:
    assert judge_target(report({}), TARGET).verdict is Verdict.TAMPERED


def test_a_run_that_never_ended_by_itself_is_no_proof() -> None:
    assert judge_target(report({RED: TestStatus.PASSED}, exit_status=None), TARGET).verdict is Verdict.CRASH


@pytest.mark.parametrize("is_file", [False, True])
def test_a_green_run_that_cannot_be_believed_as_a_whole_is_no_proof(*, is_file: bool) -> None:
    target = Target(failure("tests/test_a.py", "collect")) if is_file else TARGET
    green = {RED: TestStatus.PASSED}
    assert judge_target(report(green), target).verdict is Verdict.PLAUSIBLE
    forged = judge_target(report(green, problem="somebody else wrote this"), target)
    assert (forged.verdict, forged.reason) == (Verdict.TAMPERED, "somebody else wrote this")
    assert judge_target(report(green, exit_status=None, problem="cut"), target).verdict is Verdict.CRASH


def test_what_was_not_run_is_rejected() -> None:
    step = judge_target(report({}, exit_status=None, refused="a setting allows it"), TARGET)
    assert (step.verdict, step.reason) == (Verdict.REJECTED, "a setting allows it")


def test_a_patch_that_breaks_an_import_leaves_the_target_red() -> None:
    broken = TestOutcome(
        "tests/test_a.py", TestStatus.FAILED, 0.0, FILE, 0, failure=failure("tests/test_a.py", "collect")
    )
    run = RunReport(outcomes={"tests/test_a.py": broken}, collected=(), exit_status=2)
    step = judge_target(run, TARGET)
    assert step.verdict is Verdict.STILL_FAILING
    assert "import fails" in step.reason


def test_a_file_that_cannot_be_compiled_is_unapplicable() -> None:
    run = report({}, uncompilable=frozenset({FILE}))
    assert judge_target(run, TARGET).verdict is Verdict.UNAPPLICABLE


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (TestStatus.PASSED, TestStatus.PASSED, Verdict.PLAUSIBLE),
        (TestStatus.PASSED, TestStatus.FAILED, Verdict.REGRESSION),
        (TestStatus.PASSED, TestStatus.SKIPPED, Verdict.TAMPERED),
        (TestStatus.PASSED, TestStatus.XFAILED, Verdict.TAMPERED),
        (TestStatus.FAILED, TestStatus.FAILED, Verdict.PLAUSIBLE),
        (TestStatus.SKIPPED, TestStatus.SKIPPED, Verdict.PLAUSIBLE),
    ],
)
def test_a_green_test_must_stay_exactly_as_green(
    before: TestStatus, after: TestStatus, verdict: Verdict
) -> None:
    run = report({RED: TestStatus.PASSED, GREEN: after})
    step = judge_selection(run, TARGET, TestSelection((GREEN,), "covers"), Known({GREEN: before}))
    assert step.verdict is verdict


def test_an_impacted_test_that_vanishes_is_tampering() -> None:
    run = report({RED: TestStatus.PASSED})
    step = judge_selection(run, TARGET, TestSelection((GREEN,), "covers"), Known({GREEN: TestStatus.PASSED}))
    assert step.verdict is Verdict.TAMPERED


class TestFileThatCannotBeCollected:
    target = Target(failure("tests/test_a.py", "collect"))

    def test_is_green_when_all_its_tests_pass(self) -> None:
        run = report({RED: TestStatus.PASSED, GREEN: TestStatus.SKIPPED})
        assert judge_target(run, self.target).verdict is Verdict.PLAUSIBLE

    def test_is_red_while_one_of_its_tests_is(self) -> None:
        run = report({RED: TestStatus.FAILED, GREEN: TestStatus.PASSED})
        assert judge_target(run, self.target).verdict is Verdict.STILL_FAILING

    def test_is_not_mended_by_collecting_nothing(self) -> None:
        assert judge_target(report({}), self.target).verdict is Verdict.TAMPERED

    def test_is_not_mended_by_skipping_everything(self) -> None:
        assert judge_target(report({RED: TestStatus.SKIPPED}), self.target).verdict is Verdict.TAMPERED


class TestConftestThatCannotBeImported:
    target = Target(failure("tests/conftest.py", "collect"))

    def test_is_run_as_the_folder_of_its_tests(self) -> None:
        assert self.target.nodeids == ("tests",)
        assert Target(failure("conftest.py", "collect")).nodeids == (".",)

    def test_is_green_when_something_below_it_passes(self) -> None:
        run = report({RED: TestStatus.FAILED, GREEN: TestStatus.PASSED})
        assert judge_target(run, self.target).verdict is Verdict.PLAUSIBLE
        assert judge_target(report({RED: TestStatus.FAILED}), self.target).verdict is Verdict.STILL_FAILING


class Told:
    """An oracle that is only told what to run."""

    def __init__(self) -> None:
        self.requests: list[RunRequest] = []

    async def screen(self, requests: Sequence[RunRequest]) -> Sequence[RunReport | None]:
        return [None] * len(requests)

    async def run(self, request: RunRequest) -> RunReport:
        self.requests.append(request)
        return report({RED: TestStatus.PASSED})

    async def close(self) -> None:
        """Nothing runs."""


@pytest.mark.parametrize("others", [0, 1, 39, 40, 41, 565])
async def test_behaviour_is_watched_in_the_target_and_in_tests_from_all_over_the_selection(
    others: int, tmp_path: Path
) -> None:
    nodeids = tuple(f"tests/test_{n // 10}.py::test_{n}" for n in range(others))
    selection, oracle = TestSelection(nodeids, "they run it"), Told()
    patched = request_for(
        TARGET, Snapshot(Project(tmp_path, tmp_path), 0, {}, (tmp_path,)), {FILE: b""}, "template"
    )
    for observe in ((), (CanaryPoint(FILE, 3),)):
        await climb_selection(oracle, TARGET, selection, Known({}), replace(patched, observe=observe))
    unwatched, watched = (request.observe_during for request in oracle.requests)
    assert unwatched == ()
    assert RED in watched
    assert set(watched) <= {RED, *nodeids}
    assert min(others, OBSERVED // 2) <= len(watched) <= OBSERVED + 1
    assert not nodeids or (nodeids[0] in watched and set(nodeids[-30:]) & set(watched))
