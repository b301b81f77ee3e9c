"""How does a red test become a verified fix? The whole story on one screen.

baseline → triage → reproduce → localise → search → (ask a model) → rank → prove → offer
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import chain
from pathlib import Path

from regreen import templates
from regreen.pipeline.blame import refused_by_isolation
from regreen.pipeline.consulting.values import Consulted, Resume
from regreen.pipeline.coverage import Coverage
from regreen.pipeline.expectation import stale_expectation
from regreen.pipeline.ground import Ground, survey
from regreen.pipeline.offers import proven
from regreen.pipeline.parts import Baseline, Tools, merged
from regreen.pipeline.reasons import (
    counted,
    ended_by,
    model_reason,
    no_fix_reason,
    offer_reason,
    said_cause,
)
from regreen.pipeline.reproduce import reproduce
from regreen.pipeline.search import Budget, Search, search
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
    Expectation,
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
    resume: Resume | None = None,
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
        resume: go on with an earlier heal by a model, without the search that came before it.
    """
    started = tools.clock.monotonic()
    result = await _heal(
        failure, base, tools, settings, reporter, first, coverage or Coverage(tools), started, resume
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
    resume: Resume | None,
) -> HealResult:
    ending = _Ending(failure, tools, started, uuid.uuid4().hex)
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

    def tell(fix: VerifiedFix) -> None:
        reporter.offer(ending(Outcome.VERIFIED, offer_reason((fix,)), (fix,)))

    outcome, reason = Outcome.NO_FIX, ""
    if resume is None and settings.heal_candidates:
        reporter.progress(Progress("search", counted(len(ground.suspects), "suspect"), failure.nodeid))
        seeds = tuple(first)
        stream = _candidates(target, ground, tools, settings, seeds)
        budget = Budget(
            tools.clock, tools.clock.monotonic() + settings.heal_seconds, settings.heal_candidates
        )
        hunt = await search(ground.field, stream, tools, budget, reporter, seeds)
        ending.tried = dict(hunt.tried)
        reporter.progress(Progress("verify", f"{len(hunt.found)} plausible", failure.nodeid))
        fixes, refused = await proven(hunt, ground, tools, settings, budget, started, tell)
        if fixes:
            return ending.healed(fixes)
        if stale := await stale_test(target.failure, ground.base, tools):
            ending.expectation = await stale_expectation(ground.field, tools)
            return ending(Outcome.STALE_TEST, stale)
        if budget.spent and not hunt.exhausted:
            outcome = Outcome.OVER_BUDGET
        reason = no_fix_reason(hunt, ground.suspects, refused, ground.spared)
    elif not ground.suspects:
        reason = no_fix_reason(Search(), (), Counter(), ground.spared)
    if tools.model is None or not ground.suspects:
        return ending(outcome, f"{reason} {tools.why_no_model}".strip())
    asked = await _asked(ending, ground, tools, settings, reporter, tell, resume or Resume())
    if asked.fixes:
        return ending.healed(asked.fixes)
    return ending(ended_by(asked, outcome), f"{reason} {model_reason(asked)}".strip())


async def _asked(
    ending: _Ending,
    ground: Ground,
    tools: Tools,
    settings: Settings,
    reporter: Reporter,
    tell: Callable[[VerifiedFix], None],
    resume: Resume,
) -> Consulted:
    """What a model makes of it, and of the test where it takes that to be stale."""
    consulting = await run_blocking(import_module, "regreen.pipeline.consulting.story")
    asked: Consulted = await consulting.consult(
        tools.model,
        ground,
        tools,
        settings,
        reporter,
        ending.heal,
        ending.started,
        tell,
        resume,
        ending.tried,
    )
    ending.asked = asked
    if asked.judgement is not None and asked.judgement.side == "test":
        ending.expectation = await stale_expectation(
            ground.field, tools, proposed=asked.judgement.expectation
        )
    return asked


def _candidates(
    target: Target, ground: Ground, tools: Tools, settings: Settings, seeds: tuple[Candidate, ...]
) -> Stream:
    """What the search tries: fixes of other tests, then the catalogue, with what is synthesised beside it."""
    weight = _weigher(tools, ground.base, settings)
    catalogue = templates.candidates(target.failure, ground.suspects, ground.field.sources, weight)
    allowed = (one for one in chain(seeds, catalogue) if not ground.field.gate.forbids(one))
    return Stream(
        allowed,
        tools.clock,
        lambda: synthesise(tools.oracle, ground.field, ground.base, ground.suspects, weight),
    )


@dataclass(slots=True)
class _Ending:
    """Makes the result of one heal from what is known when it ends."""

    failure: Failure
    tools: Tools
    started: float
    heal: str
    suspects: tuple[Suspect, ...] = ()
    tried: Mapping[str, int] = field(default_factory=dict)
    asked: Consulted | None = None
    expectation: Expectation | None = None

    def healed(self, fixes: tuple[VerifiedFix, ...]) -> HealResult:
        """The result with fixes, best first."""
        outcome = Outcome.VERIFIED_TARGET_ONLY if fixes[0].target_only else Outcome.VERIFIED
        return self(outcome, offer_reason(fixes), fixes)

    def __call__(self, outcome: Outcome, reason: str, fixes: tuple[VerifiedFix, ...] = ()) -> HealResult:
        return HealResult(
            failure=self.failure,
            outcome=outcome,
            reason=reason,
            cause=said_cause(self.failure, self.asked),
            fixes=fixes,
            tried=self.tried,
            suspects=self.suspects,
            seconds=self.tools.clock.monotonic() - self.started,
            heal=self.heal,
            spent=self.asked.spent if self.asked is not None else None,
            expectation=self.expectation,
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
