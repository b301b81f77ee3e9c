"""Do fixes that were verified one by one also hold when all of them are applied?"""

from __future__ import annotations

from collections.abc import Sequence

from regreen.pipeline import Baseline, Tools
from regreen.ports import Reporter
from regreen.settings import Settings
from regreen.terminal.patches import changes, combine, overlay
from regreen.values import Progress, Rung, RunReport, RunRequest, VerifiedFix


async def verified_together(
    fixes: Sequence[VerifiedFix], base: Baseline, tools: Tools, settings: Settings, reporter: Reporter
) -> tuple[tuple[VerifiedFix, ...], tuple[VerifiedFix, ...]]:
    """Split fixes into those that were seen green together, in a cold run of all that ran before, and the rest.

    A single fix was verified by its own heal and is not run again. When all of them together fail, each is
    added to those before it and stays if that run is green.

    Raises:
        StaleFix: a file changed since it was run.
    """
    apart, overlapping = combine(fixes)
    if len(apart) < 2:
        return apart, overlapping
    reporter.progress(Progress("verify", f"{len(apart)} fixes together"))
    if await _holds(apart, base, tools, settings):
        return apart, overlapping
    kept: tuple[VerifiedFix, ...] = apart[:1]
    left: list[VerifiedFix] = []
    for number, fix in enumerate(apart[1:], 2):
        reporter.progress(Progress("verify", "fixes one by one", fraction=number / len(apart)))
        if await _holds((*kept, fix), base, tools, settings):
            kept = (*kept, fix)
        else:
            left.append(fix)
    return kept, (*left, *overlapping)


async def _holds(fixes: Sequence[VerifiedFix], base: Baseline, tools: Tools, settings: Settings) -> bool:
    wanted = {nodeid for fix in fixes for nodeid in fix.evidence.red_to_green}
    wanted |= {nodeid for nodeid, outcome in base.report.outcomes.items() if not outcome.status.is_red}
    selected = dict.fromkeys(
        [*base.report.collected, *(id_ for fix in fixes for id_ in fix.evidence.selection.nodeids)]
    )
    report = await tools.oracle.run(
        RunRequest(
            base.snapshot,
            nodeids=() if base.whole_suite else tuple(selected),
            overlay=overlay(changes(fixes)),
            rung=Rung.COLD,
            fresh_copy=True,
            details=False,
            seconds_per_test=settings.seconds_per_test,
        )
    )
    return _all_green(report, wanted)


def _all_green(report: RunReport, wanted: set[str]) -> bool:
    outcomes = report.outcomes
    return not report.problem and all(
        nodeid in outcomes and not outcomes[nodeid].status.is_red for nodeid in wanted
    )
