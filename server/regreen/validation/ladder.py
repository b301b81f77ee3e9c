"""Does a candidate patch turn the target green without turning anything else red?

The rungs, cheap first: the target in a warm fork, then with the impacted tests, then both in a cold process and a
fresh copy. Every candidate climbs the cheap ones; the last is for the few that may be offered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from regreen.ports import Oracle
from regreen.values import (
    CanaryPoint,
    Failure,
    Rung,
    RunReport,
    RunRequest,
    Snapshot,
    TestSelection,
    TestStatus,
    Verdict,
)

Overlay = Mapping[Path, bytes]

OBSERVED = 40
"""In about how many tests of a selection the behaviour of the patched functions is watched."""

GREEN = frozenset({TestStatus.PASSED, TestStatus.XFAILED})


@dataclass(frozen=True, slots=True)
class Target:
    """The red test as it is run.

    Args:
        failure: what it showed without a patch.
        before: tests that must run before it to make it red (a state that leaks from one to the next).
        seconds: how long it ran when it was red.
        seconds_allowed: limit for one run of it, learned from that.
        processor_seconds: how much processor time it may use in a screening, learned from that, too.
        replaced: what of pytest a run of it replaced without a patch, plug-ins mostly; None when no such run came to
            its end, so that nothing can be held against a patch.
    """

    failure: Failure
    before: tuple[str, ...] = ()
    seconds: float = 0.0
    seconds_allowed: float = 30.0
    processor_seconds: float = 2.0
    replaced: frozenset[str] | None = None

    @property
    def nodeids(self) -> tuple[str, ...]:
        """What to run, in order; for a conftest that cannot be imported, the tests of its folder."""
        if self.is_conftest:
            return (self.folder or ".",)
        return (*self.before, self.failure.nodeid)

    @property
    def is_conftest(self) -> bool:
        """Whether the failure is a conftest's, which holds no tests of its own."""
        return self.failure.is_collection and self.failure.nodeid.rpartition("/")[2] == "conftest.py"

    @property
    def folder(self) -> str:
        """The folder of the failure's file, "" for the rootdir."""
        return self.failure.nodeid.partition("::")[0].rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class Known:
    """The unpatched outcomes that a patch is held against.

    Args:
        statuses: node id → status.
        seconds: node id → how long the test took.
    """

    statuses: Mapping[str, TestStatus]
    seconds: Mapping[str, float] = field(default_factory=dict)

    def green(self, nodeid: str) -> bool:
        """Whether the test was green without the patch."""
        return self.statuses.get(nodeid) in GREEN

    def red(self, nodeid: str) -> bool:
        """Whether the test was red without the patch."""
        status = self.statuses.get(nodeid)
        return status is not None and status.is_red


@dataclass(frozen=True, slots=True)
class Step:
    """The verdict of one climb, with the report that decided it."""

    verdict: Verdict
    reason: str = ""
    report: RunReport | None = None


def request_for(target: Target, snapshot: Snapshot, overlay: Overlay, origin: str) -> RunRequest:
    """The cheap run of the target with a patch of some origin: warm, no details, ends at the first red test."""
    return RunRequest(
        snapshot=snapshot,
        nodeids=target.nodeids,
        overlay=overlay,
        origin=origin,
        details=False,
        stop_at_first_failure=not target.failure.is_collection and not target.before,
        seconds_per_test=target.seconds_allowed,
        seconds=target.seconds_allowed * (len(target.nodeids) + 1) + 60,
        import_seconds=min(30.0, target.seconds_allowed * 2 + 10),
        processor_seconds=target.processor_seconds,
    )


async def climb_target(oracle: Oracle, target: Target, request: RunRequest) -> Step:
    """Run only the target with the patch and judge the report."""
    return judge_alone(await oracle.run(request), target)


def judge_alone(report: RunReport, target: Target) -> Step:
    """What a run of only the target with a patch says: the patch must not have touched what judges it."""
    step = judge_target(report, target)
    if step.verdict is not Verdict.PLAUSIBLE or target.replaced is None:
        return step
    replaced = sorted(report.replaced - target.replaced)
    return Step(Verdict.TAMPERED, f"it replaces {', '.join(replaced[:3])}", report) if replaced else step


def judge_target(report: RunReport, target: Target) -> Step:
    """What a run with a patch says about the target alone."""
    if report.refused:
        return Step(Verdict.REJECTED, report.refused, report)
    if report.uncompilable:
        return Step(Verdict.UNAPPLICABLE, "the result does not compile", report)
    step = _judge_file(report, target) if target.failure.is_collection else _judge_test(report, target)
    if step.verdict is not Verdict.PLAUSIBLE:
        return step
    if report.exit_status is None:
        return Step(Verdict.CRASH, report.problem or "the run did not end by itself", report)
    return Step(Verdict.TAMPERED, report.problem, report) if report.problem else step


def _judge_test(report: RunReport, target: Target) -> Step:
    """What its own record says; not yet whether the run as a whole can be believed."""
    outcome = report.outcomes.get(target.failure.nodeid)
    if outcome is None:
        return _without_outcome(report)
    if outcome.status is TestStatus.TIMEOUT:
        return Step(Verdict.TIMEOUT, f"still running after {outcome.seconds:.2g} s", report)
    if outcome.status is TestStatus.CRASHED:
        return Step(Verdict.CRASH, "the process ended inside the test", report)
    if outcome.status.is_red:
        return Step(Verdict.STILL_FAILING, _why(outcome.failure), report)
    if outcome.status is not TestStatus.PASSED:
        # The cheapest way to make a test not fail is not to run it.
        return Step(Verdict.TAMPERED, f"the test ended {outcome.status.value} instead of passed", report)
    return Step(Verdict.PLAUSIBLE, report=report)


def _judge_file(report: RunReport, target: Target) -> Step:
    """A file that could not be collected is its own target: it must collect, and all its tests pass."""
    nodeid = target.failure.nodeid
    mine = {
        name: outcome
        for name, outcome in report.outcomes.items()
        if name == nodeid or name.startswith(nodeid + "::")
    }
    if nodeid in mine and mine[nodeid].status.is_red:
        return Step(Verdict.STILL_FAILING, _why(mine[nodeid].failure), report)
    inside = target.folder and target.folder + "/" if target.is_conftest else nodeid + "::"
    collected = [name for name in report.collected if name.startswith(inside)]
    if not collected:
        return _without_outcome(report)
    if target.is_conftest:  # what its tests say beyond being collected was never known
        green = any(o.status is TestStatus.PASSED for o in report.outcomes.values())
        return Step(
            Verdict.PLAUSIBLE if green else Verdict.STILL_FAILING, "" if green else "nothing passes", report
        )
    for name in collected:
        outcome = mine.get(name)
        if outcome is None or outcome.status.is_red:
            return Step(Verdict.STILL_FAILING, f"{name} is red", report)
    if not any(outcome.status is TestStatus.PASSED for outcome in mine.values()):
        return Step(Verdict.TAMPERED, "no test of the file passed", report)
    return Step(Verdict.PLAUSIBLE, report=report)


def _without_outcome(report: RunReport) -> Step:
    broken = next((o for o in report.outcomes.values() if o.failure and o.failure.is_collection), None)
    if broken is not None:
        return Step(Verdict.STILL_FAILING, "import fails: " + _why(broken.failure), report)
    if any(o.status is TestStatus.CRASHED for o in report.outcomes.values()):
        return Step(Verdict.CRASH, "the process ended before the test", report)
    if "time" in report.problem:
        return Step(Verdict.TIMEOUT, report.problem, report)
    if any(o.status.is_red for o in report.outcomes.values()):
        return Step(Verdict.REGRESSION, "a test that runs before it turned red", report)
    if report.exit_status is None:
        return Step(Verdict.CRASH, report.problem or "the run did not end by itself", report)
    return Step(Verdict.TAMPERED, "the test is no longer collected", report)


def _why(failure: Failure | None) -> str:
    if failure is None:
        return "still red"
    text = failure.message.strip().splitlines()
    return f"{failure.exception.rpartition('.')[2]}: {text[0][:120]}" if text else failure.exception


async def climb_selection(
    oracle: Oracle, target: Target, selection: TestSelection, known: Known, request: RunRequest
) -> Step:
    """Run the target together with the impacted tests and judge both.

    Args:
        oracle: runs them.
        target: the red test.
        selection: what else the patch may affect.
        known: outcomes without the patch.
        request: as for the target.
    """
    report = await oracle.run(widened(request, target, selection, known))
    return judge_selection(report, target, selection, known)


def widened(request: RunRequest, target: Target, selection: TestSelection, known: Known) -> RunRequest:
    """The run of the target with a patch, with the impacted tests and the time they need."""
    wanted = dict.fromkeys((*selection.nodeids, *target.nodeids))
    known_red = tuple(nodeid for nodeid in wanted if known.red(nodeid) and nodeid not in target.nodeids)
    took = [known.seconds.get(nodeid, 0.0) for nodeid in wanted if known.green(nodeid)]
    return replace(
        request,
        nodeids=tuple(wanted),
        known_red=known_red,
        observe_during=_observed(target, tuple(wanted)) if request.observe else (),
        seconds_per_test=max(request.seconds_per_test, 5 * max(took, default=0.0)),
        seconds=request.seconds + 10.0 * len(wanted) + 5 * sum(took),
    )


def _observed(target: Target, wanted: tuple[str, ...]) -> tuple[str, ...]:
    """The target, and others from all over the selection: the same for every candidate with this selection."""
    step = -(-len(wanted) // OBSERVED)  # rounded up
    return tuple(dict.fromkeys((*target.nodeids, *wanted[::step])))


def judge_selection(report: RunReport, target: Target, selection: TestSelection, known: Known) -> Step:
    """What a run with a patch says about the target and everything it may have broken."""
    worse = worsened(report, selection.nodeids, known)
    for step in worse.values():
        if step.verdict is Verdict.REGRESSION:
            return step
    step = judge_target(report, target)
    if step.verdict is not Verdict.PLAUSIBLE:
        return step
    return next(iter(worse.values()), step)


def worsened(report: RunReport, nodeids: Iterable[str], known: Known) -> dict[str, Step]:
    """Those of some tests that were green and are not as they were, in their order, each with its verdict and reason."""
    collected = set(report.collected)
    worse: dict[str, Step] = {}
    for nodeid in nodeids:
        if not known.green(nodeid):
            continue
        outcome = report.outcomes.get(nodeid)
        if outcome is not None and outcome.status.is_red:
            worse[nodeid] = Step(Verdict.REGRESSION, f"{nodeid} turns red", report)
        elif nodeid not in collected:
            worse[nodeid] = Step(Verdict.TAMPERED, f"{nodeid} is no longer collected", report)
        elif outcome is None:
            worse[nodeid] = Step(Verdict.CRASH, f"{nodeid} was not reached", report)
        elif outcome.status is not known.statuses[nodeid]:
            was, now = known.statuses[nodeid].value, outcome.status.value
            worse[nodeid] = Step(Verdict.TAMPERED, f"{nodeid} was {was} and is now {now}", report)
    return worse


async def canary(oracle: Oracle, request: RunRequest, points: tuple[CanaryPoint, ...]) -> Step:
    """Prove that the patched statements are what ran: raising there must be noticed.

    Returns:
        PLAUSIBLE when the canary arrived; TAMPERED when the test is green although no patched statement ran.
        Arrival alone counts: a broad `except` in the code under test may swallow the exception.
    """
    report = await oracle.run(replace(request, canaries=points))
    if report.canary_arrived:
        return Step(Verdict.PLAUSIBLE, report=report)
    return Step(Verdict.TAMPERED, "the test does not execute the patched line", report)


async def perturbed_fails(
    oracle: Oracle, target: Target, request: RunRequest, tests: Mapping[Path, bytes]
) -> Step:
    """Prove that the test still judges: asked for what cannot be, it must be red with the patch.

    Args:
        oracle: runs it.
        target: the red test.
        request: of the target with the patch.
        tests: the test's file, perturbed; empty where that is not applicable.

    Returns:
        TAMPERED when it passes all the same, else PLAUSIBLE.
    """
    if not tests:
        return Step(Verdict.PLAUSIBLE)
    report = await oracle.run(replace(request, overlay={**request.overlay, **tests}))
    outcome = report.outcomes.get(target.failure.nodeid)
    if outcome is not None and outcome.status is TestStatus.PASSED:
        return Step(Verdict.TAMPERED, "with the patch the test passes whatever it asks for", report)
    return Step(Verdict.PLAUSIBLE, report=report)


def cold(request: RunRequest) -> RunRequest:
    """The same run on the last rung: a fresh process in a fresh copy."""
    return replace(request, rung=Rung.COLD, fresh_copy=True)
