"""Is the test really red in the private copy, every time, and what else must run to make it so?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from regreen.pipeline.concurrent import all_or_none
from regreen.pipeline.parts import Baseline, Tools
from regreen.settings import Settings
from regreen.validation.ladder import Target
from regreen.values import Failure, Outcome, Rung, RunReport, RunRequest, TestOutcome, TestStatus

HANG_SECONDS = 3.0
"""A test that hung in the baseline is given this long to hang again."""

LEAST_SECONDS = 0.1
"""Processor time that any candidate gets in a screening. A search in which many candidates loop for ever would come to
nothing if each of them took seconds; who is wronged is run again when nothing was found."""

UNKNOWN_SECONDS = 0.025
"""How long a test takes of which nothing is known but that it hangs."""


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Either a target that was red twice, or the outcome that ends the heal and why.

    Args:
        report: the first rerun, with the spectrum of the red test.
    """

    target: Target | None
    report: RunReport | None = None
    outcome: Outcome | None = None
    reason: str = ""


async def reproduce(failure: Failure, base: Baseline, tools: Tools, settings: Settings) -> Reproduction:
    """Run the unpatched test again, once warm and once cold.

    Red both times: it is a target. Green both times, but red in the baseline: it is run again after the tests
    that ran before it in its file, for a state may leak from one test to the next. Mixed: flaky.
    """
    known = base.outcomes.get(failure.nodeid)
    hangs = known is not None and known.status is TestStatus.TIMEOUT
    limit = min(settings.seconds_per_test, HANG_SECONDS) if hangs else settings.seconds_per_test
    request = RunRequest(base.snapshot, Target(failure).nodeids, spectrum=True, seconds_per_test=limit)

    if hangs:  # a hang costs its whole time limit, so once is enough
        warm = await tools.oracle.run(request)
        if _status(warm, failure) is TestStatus.TIMEOUT:
            return Reproduction(_target(failure, warm, base, settings), warm)
    warm, again = await _twice(tools, request)

    reds = [_is_red(report, failure) for report in (warm, again)]
    if None in reds:
        which = warm if reds[0] is None else again
        return Reproduction(None, outcome=Outcome.NOT_REPRODUCED, reason=_absent(which, failure))
    if all(reds):
        return Reproduction(_target(failure, warm, base, settings), warm)
    if any(reds):
        return Reproduction(
            None,
            outcome=Outcome.FLAKY,
            reason="The unchanged test was red in one rerun and green in the other, so no fix could be proven.",
        )
    return await _with_its_file(failure, base, tools, settings, request)


async def _twice(tools: Tools, request: RunRequest) -> list[RunReport]:
    """Run it warm and cold, at the same time."""
    cold = replace(request, rung=Rung.COLD, spectrum=False, details=False)
    return await all_or_none(tools.oracle.run(request), tools.oracle.run(cold))


async def _with_its_file(
    failure: Failure, base: Baseline, tools: Tools, settings: Settings, request: RunRequest
) -> Reproduction:
    """The test is green alone: run it after the tests of its file that ran before it."""
    if failure.nodeid not in base.outcomes or not base.outcomes[failure.nodeid].status.is_red:
        return Reproduction(
            None,
            outcome=Outcome.NOT_REPRODUCED,
            reason="The test is green in the private copy. If it is red for you, something outside the project's "
            "files differs: environment variables, working directory, services, or files that are left out.",
        )
    before = _predecessors(failure.nodeid, base)
    if before:
        request = replace(request, nodeids=(*before, failure.nodeid))
        first, second = await _twice(tools, request)
        reds = [_is_red(first, failure), _is_red(second, failure)]
        if all(reds):
            return Reproduction(_target(failure, first, base, settings, before), first)
        if any(reds):
            return Reproduction(
                None, outcome=Outcome.FLAKY, reason="Reruns of the unchanged test file disagree."
            )
    return Reproduction(
        None,
        outcome=Outcome.FLAKY,
        reason="The test was red in the full run, but green alone and after the tests of its own file: its result "
        "depends on chance or on tests of other files.",
    )


def _predecessors(nodeid: str, base: Baseline) -> tuple[str, ...]:
    file = nodeid.partition("::")[0]
    before: list[str] = []
    for other in base.outcomes:
        if other == nodeid:
            break
        if other.startswith(file + "::"):
            before.append(other)
    return tuple(before)


def _target(
    failure: Failure, report: RunReport, base: Baseline, settings: Settings, before: tuple[str, ...] = ()
) -> Target:
    """The failure as seen in the copy, with a time limit learned from it and from its neighbours."""
    outcome = report.outcomes[failure.nodeid]
    file = failure.nodeid.partition("::")[0]
    neighbours = [
        other.seconds
        for name, other in base.outcomes.items()
        if name.partition("::")[0] == file and other.status is TestStatus.PASSED
    ]
    hangs = outcome.status is TestStatus.TIMEOUT
    slowest = max([*neighbours, *([] if hangs else [outcome.seconds])], default=UNKNOWN_SECONDS)
    unended = failure.is_collection or outcome.status in {TestStatus.TIMEOUT, TestStatus.CRASHED}
    allowed = max(2.0, 0.0 if hangs else 10 * outcome.seconds, 3 * max(neighbours, default=0.0))
    return Target(
        failure=outcome.failure or failure,
        before=before,
        seconds=outcome.seconds,
        seconds_allowed=min(allowed, settings.seconds_per_test),
        processor_seconds=min(max(LEAST_SECONDS, 20 * slowest), allowed),
        replaced=None if unended else report.replaced,
    )


def _outcome(report: RunReport, failure: Failure) -> TestOutcome | None:
    return report.outcomes.get(failure.nodeid)


def _status(report: RunReport, failure: Failure) -> TestStatus | None:
    outcome = _outcome(report, failure)
    return outcome.status if outcome else None


def _is_red(report: RunReport, failure: Failure) -> bool | None:
    """Red, green, or None when the test was not there at all."""
    outcome = _outcome(report, failure)
    if outcome is not None:
        return outcome.status.is_red
    if failure.is_collection and report.collected:
        return False
    return None


def _absent(report: RunReport, failure: Failure) -> str:
    broken = next((f for f in report.failures if f.is_collection), None)
    if broken is not None:
        return f"In the private copy {broken.nodeid} cannot be collected: {broken.exception}: {broken.message[:200]}"
    if report.problem:
        return f"In the private copy the run did not get to the test: {report.problem}."
    return f"pytest does not collect {failure.nodeid} in the private copy."
