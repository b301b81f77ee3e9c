"""How are many red tests healed, when one fix may turn several green and one cause may break many?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from regreen.pipeline.consulting.values import Resume
from regreen.pipeline.coverage import COLD_MAP_SECONDS, Coverage
from regreen.pipeline.groups import grouped
from regreen.pipeline.parts import Baseline, Tools
from regreen.pipeline.reasons import cause_of
from regreen.pipeline.story import heal, told
from regreen.ports import Reporter
from regreen.settings import Settings
from regreen.validation.paths import is_test
from regreen.values import Candidate, Failure, HealResult, Outcome, VerifiedFix

SEARCHED = frozenset({Outcome.NO_FIX, Outcome.OVER_BUDGET, Outcome.STUCK})
HALF_DONE = SEARCHED | {Outcome.VERIFIED_TARGET_ONLY}


async def heal_all(
    base: Baseline,
    tools: Tools,
    settings: Settings,
    reporter: Reporter,
    *,
    nodeids: Sequence[str] = (),
    map_seconds: float = COLD_MAP_SECONDS,
) -> tuple[HealResult, ...]:
    """Heal every red test of a baseline, or those named, the fastest first.

    A red test that a proof already showed green takes over that fix. A fix that turned one test green is tried
    first for the others. Where a search found nothing, failures with the same exception at the same line of the
    project's code are not searched again. A result is told again, and replaces the first one, when a fix that was
    found later leaves nothing red.

    Args:
        base: the unpatched project.
        tools: the project's parts.
        settings: budgets and limits.
        reporter: hears of everything.
        nodeids: the red tests that are wanted; empty for all.
        map_seconds: how long green tests may run to learn what a patch may break, where the baseline is partial.

    Returns:
        One result for each red test, in the order of the run.
    """
    project, tests = base.snapshot.project, base.test_files()

    def is_test_file(path: Path) -> bool:
        return path in tests or is_test(path, project)

    coverage = Coverage(tools, map_seconds)
    wanted = set(nodeids)
    failures = [f for f in base.report.failures if not wanted or f.nodeid in wanted]
    results: dict[str, HealResult] = {}
    fixes: list[VerifiedFix] = []
    for group in grouped(failures, is_test_file):
        hopeless: HealResult | None = None
        for failure in group:
            result = _healed_already(failure, fixes) or (hopeless and _same_cause(failure, hopeless))
            if result is not None:
                await told(result, base, tools, reporter)
            else:
                first = _seeds(fixes)
                result = await heal(failure, base, tools, settings, reporter, first=first, coverage=coverage)
                hopeless = result if result.outcome in SEARCHED else None
                fixes.extend(result.fixes)
            results[failure.nodeid] = result
    whole = [fix for fix in fixes if not fix.target_only]
    for failure in failures:
        better = _healed_already(failure, whole) if results[failure.nodeid].outcome in HALF_DONE else None
        if better is not None:  # a fix of another test, found later, mends it, too
            results[failure.nodeid] = better
            await told(better, base, tools, reporter)
    return tuple(results[failure.nodeid] for failure in failures)


async def heal_again(
    base: Baseline,
    tools: Tools,
    settings: Settings,
    reporter: Reporter,
    resumes: Mapping[str, Resume],
    *,
    map_seconds: float = COLD_MAP_SECONDS,
) -> tuple[HealResult, ...]:
    """Take up earlier heals by a model where they were left, without the search that came before it.

    Args:
        base: the unpatched project.
        tools: the project's parts.
        settings: budgets and limits.
        reporter: hears of everything.
        resumes: by node id of the red tests.
        map_seconds: as for `heal_all`.

    Returns:
        One result for each of them that is red, in the order of the run.
    """
    coverage = Coverage(tools, map_seconds)
    return tuple(
        [
            await heal(one, base, tools, settings, reporter, coverage=coverage, resume=resumes[one.nodeid])
            for one in base.report.failures
            if one.nodeid in resumes
        ]
    )


def _seeds(fixes: Sequence[VerifiedFix]) -> tuple[Candidate, ...]:
    return tuple({fix.fix_id: fix.candidate for fix in fixes}.values())


def _healed_already(failure: Failure, fixes: Sequence[VerifiedFix]) -> HealResult | None:
    """The result for a test that was green in every run of another test's proof."""
    proven = [fix for fix in fixes if failure.nodeid in fix.evidence.red_to_green]
    if not proven:
        return None
    mine = tuple(replace(fix, failure=failure) for fix in proven)
    outcome = Outcome.VERIFIED_TARGET_ONLY if mine[0].target_only else Outcome.VERIFIED
    reason = f"The fix of {proven[0].failure.nodeid} turns it green, too."
    return HealResult(failure, outcome, reason, cause_of(failure), mine)


def _same_cause(failure: Failure, hopeless: HealResult) -> HealResult:
    reason = f"The same exception at the same line as {hopeless.failure.nodeid}: {hopeless.reason}"
    return HealResult(failure, hopeless.outcome, reason, cause_of(failure), suspects=hopeless.suspects)
