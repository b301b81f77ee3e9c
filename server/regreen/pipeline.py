"""How does a red test become a verified fix? The whole story on one screen.

baseline → reproduce → localise → candidates → validate → rank → offer
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from regreen.ports import Clock, Git, History, Mirror, Oracle, Reporter
from regreen.settings import Settings
from regreen.values import Failure, HealResult, RunReport, Snapshot


@dataclass(frozen=True, slots=True)
class Tools:
    """The parts of the world one project's heals use."""

    oracle: Oracle
    mirror: Mirror
    git: Git
    history: History
    clock: Clock


@dataclass(frozen=True, slots=True)
class Baseline:
    """What is known about the unpatched project.

    Args:
        snapshot: the text that was run.
        report: its run; with a spectrum. `report.outcomes` may cover only part of the suite.
        whole_suite: the report covers everything the project's configuration selects.
    """

    snapshot: Snapshot
    report: RunReport
    whole_suite: bool
    unsaved: Mapping[Path, bytes] = field(default_factory=dict)


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
        nodeids: which tests; empty for the whole suite.
        unsaved: editor text that is not on disk yet, encoded.
    """
    raise NotImplementedError


async def heal(
    failure: Failure, base: Baseline, tools: Tools, settings: Settings, reporter: Reporter
) -> HealResult:
    """Find verified fixes for one red test.

    Never raises for an expected outcome: cancelling the task cancels the heal (and raises
    `asyncio.CancelledError` after its processes are gone); everything else ends in a named outcome.
    The reporter hears of progress, each judged candidate and the result.
    """
    raise NotImplementedError


async def heal_all(
    base: Baseline, tools: Tools, settings: Settings, reporter: Reporter, *, nodeids: Sequence[str] = ()
) -> tuple[HealResult, ...]:
    """Heal every red test of a baseline (or those named), grouping tests that one fix turns green.

    A fix verified for one failure is tried first for the others, so that one cause is searched once.
    """
    raise NotImplementedError
