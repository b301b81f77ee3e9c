"""How does a red test become a verified fix? The whole story on one screen.

baseline → triage → reproduce → localise → search → rank → prove → offer
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from regreen import templates
from regreen.pipeline.blame import refused_by_isolation
from regreen.pipeline.coverage import Coverage
from regreen.pipeline.ground import survey
from regreen.pipeline.offers import proven
from regreen.pipeline.parts import Baseline, Tools, merged
from regreen.pipeline.reasons import cause_of, counted, no_fix_reason, offer_reason
from regreen.pipeline.reproduce import reproduce
from regreen.pipeline.search import Budget, search
from regreen.pipeline.stream import Stream
from regreen.pipeline.suite import SUITE_SECONDS
from regreen.pipeline.synthesis import synthesise
from regreen.pipeline.triage import environment_problem, imported_from_elsewhere, stale_test
from regreen.platform.background import run_blocking
from regreen.ports import Reporter
from regreen.settings import Settings
from regreen.validation.ladder import Target
from regreen.values import (
    Candidate,
    Failure,
    HealResult,
    Outcome,
    Progress,
    RunRequest,
    Suspect,
    VerifiedFix,
)


async def baseline(
    tools: Tools,
    settings: Settings,
    reporter: Reporter,
    *,
    nodeids: Sequence[str] = (),
    unsaved: Mapping[Path, bytes] | None = None,
) -> Baseline:
    """Sync the mirror and run the tests as they are, with a spectrum.

    Args:
        tools: the project's parts.
        settings: in force for its folder.
        reporter: hears of each failure.
        nodeids: which tests (or files); empty for the whole suite.
        unsaved: editor text that is not on disk yet, encoded.
    """
    reporter.progress(Progress("sync", "Copying what changed"))
    snapshot = await tools.mirror.sync(unsaved or {})
    what = f"Running {len(nodeids)} tests" if nodeids else "Running the test suite"
    reporter.progress(Progress("baseline", what))
    limit = settings.seconds_per_test
    report = await tools.oracle.run(
        RunRequest(snapshot, tuple(nodeids), spectrum=True, seconds_per_test=limit, seconds=SUITE_SECONDS)
    )
    for failure in report.failures:
        reporter.failure(failure)
    return Baseline(snapshot, report, whole_suite=not nodeids, unsaved=unsaved or {})


async def heal(
    failure: Failure,
    base: Baseline,
    tools: Tools,
    settings: Settings,
    reporter: Reporter,
    *,
    first: Iterable[Candidate] = (),
    coverage: Coverage | None = None,
) -> HealResult:
    """Find verified fixes for one red test.

    Every expected end is a named outcome. Cancelling the task cancels the heal and raises
    `asyncio.CancelledError` once its processes are gone.

    Args:
        failure: the red test.
        base: the unpatched project.
        tools: the project's parts.
        settings: budgets and limits.
        reporter: hears of progress, each judged candidate and the result.
        first: candidates to try before any other, such as a fix that turned another test green.
        coverage: what other heals of this baseline learned; nothing without.
    """
    started = tools.clock.monotonic()
    result = await _heal(
        failure, base, tools, settings, reporter, first, coverage or Coverage(tools), started
    )
    await told(result, base, tools, reporter)
    return result


async def told(result: HealResult, base: Baseline, tools: Tools, reporter: Reporter) -> None:
    """Keep how a heal ended, and tell of it."""
    await run_blocking(tools.history.record, base.snapshot.project, result)
    reporter.result(result)


async def _heal(
    failure: Failure,
    base: Baseline,
    tools: Tools,
    settings: Settings,
    reporter: Reporter,
    first: Iterable[Candidate],
    coverage: Coverage,
    started: float,
) -> HealResult:
    ending = _Ending(failure, tools, started)
    if problem := environment_problem(failure, base.snapshot):
        blame = await refused_by_isolation(Target(failure), base, tools, settings)
        return ending(Outcome.ENVIRONMENT, blame or problem)

    reporter.progress(Progress("reproduce", "Running it again, unpatched", failure.nodeid))
    seen = await reproduce(failure, base, tools, settings)
    if seen.target is None or seen.report is None:
        return ending(seen.outcome or Outcome.NOT_REPRODUCED, seen.reason)
    if blame := await refused_by_isolation(seen.target, base, tools, settings):
        return ending(Outcome.ENVIRONMENT, blame)

    reporter.progress(Progress("localise", "Looking for the fault", failure.nodeid))
    target = seen.target
    ground = await survey(target, merged(base, seen.report), tools, coverage, seen.report.isolation)
    ending.suspects = ground.suspects[:5]
    if not ground.suspects and (elsewhere := imported_from_elsewhere(seen.report.foreign)):
        return ending(Outcome.ENVIRONMENT, elsewhere)

    reporter.progress(Progress("search", counted(len(ground.suspects), "suspect"), failure.nodeid))
    weight = _weigher(tools, base, settings)
    catalogue = templates.candidates(target.failure, ground.suspects, ground.field.sources, weight)
    seeds = tuple(first)
    allowed = (one for one in chain(seeds, catalogue) if not ground.field.gate.forbids(one))
    stream = Stream(
        allowed,
        tools.clock,
        lambda: synthesise(tools.oracle, ground.field, ground.base, ground.suspects, weight),
    )
    budget = Budget(tools.clock, tools.clock.monotonic() + settings.heal_seconds, settings.heal_candidates)
    hunt = await search(ground.field, stream, tools, budget, reporter, seeds)
    ending.tried = dict(hunt.tried)

    reporter.progress(Progress("verify", f"{len(hunt.found)} plausible", failure.nodeid))

    def tell(fix: VerifiedFix) -> None:
        reporter.offer(ending(Outcome.VERIFIED, offer_reason((fix,)), (fix,)))

    fixes, refused = await proven(hunt, ground, tools, settings, budget, started, tell)
    if fixes:
        outcome = Outcome.VERIFIED_TARGET_ONLY if fixes[0].target_only else Outcome.VERIFIED
        return ending(outcome, offer_reason(fixes), fixes)
    if stale := await stale_test(target.failure, ground.base, tools):
        return ending(Outcome.STALE_TEST, stale)
    over = budget.spent and not hunt.exhausted
    reason = no_fix_reason(hunt, ground.suspects, refused, ground.spared)
    return ending(Outcome.OVER_BUDGET if over else Outcome.NO_FIX, reason)


@dataclass(slots=True)
class _Ending:
    """Makes the result of one heal from what is known when it ends."""

    failure: Failure
    tools: Tools
    started: float
    suspects: tuple[Suspect, ...] = ()
    tried: Mapping[str, int] = field(default_factory=dict)

    def __call__(self, outcome: Outcome, reason: str, fixes: tuple[VerifiedFix, ...] = ()) -> HealResult:
        return HealResult(
            failure=self.failure,
            outcome=outcome,
            reason=reason,
            cause=cause_of(self.failure),
            fixes=fixes,
            tried=self.tried,
            suspects=self.suspects,
            seconds=self.tools.clock.monotonic() - self.started,
        )


def _weigher(tools: Tools, base: Baseline, settings: Settings) -> Callable[[str], float]:
    """How much the user's own answers raise or lower a template: Laplace's rule over accepted and undone.

    A family that the settings leave out weighs nothing.
    """

    def weight(template: str) -> float:
        if template.partition(".")[0] in settings.heal_without:
            return 0.0
        accepted, undone = tools.history.accepted(base.snapshot.project, template)
        return 2 * (accepted + 1) / (accepted + undone + 2)

    return weight
