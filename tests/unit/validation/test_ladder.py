"""A report counts as green only when the target really ran and passed, and nothing else got worse."""

from __future__ import annotations

from pathlib import Path

import pytest

from regreen.validation.ladder import Known, Target, judge_selection, judge_target
from regreen.values import Failure, RunReport, TestOutcome, TestSelection, TestStatus, Verdict

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


def test_a_target_that_is_no_longer_collected_is_tampering() -> None:
    assert judge_target(report({}), TARGET).verdict is Verdict.TAMPERED


def test_a_run_that_never_ended_by_itself_is_no_proof() -> None:
    assert judge_target(report({RED: TestStatus.PASSED}, exit_status=None), TARGET).verdict is Verdict.CRASH


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
