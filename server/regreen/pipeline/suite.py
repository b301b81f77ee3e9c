"""Does a verified fix break a test that nothing connected it with? The whole suite tells, in idle time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from regreen.pipeline.concurrent import all_or_none
from regreen.pipeline.parts import Tools
from regreen.pipeline.shards import split
from regreen.validation.ladder import Known, Overlay, Step, worsened
from regreen.values import RunRequest, Snapshot

SUITE_SECONDS = 3600.0
"""The limit of one run of a suite; single tests have their own."""


async def collected(tools: Tools, snapshot: Snapshot, files: Sequence[str]) -> tuple[str, ...]:
    """The node ids that these test files hold now, in order: asked for one that is gone, pytest runs none at all."""
    request = RunRequest(snapshot, tuple(files), collect_only=True, details=False, seconds=SUITE_SECONDS)
    return (await tools.oracle.run(request)).collected


@dataclass(frozen=True, slots=True)
class Suite:
    """The tests that a fix must leave as they are.

    Args:
        tools: of the project.
        snapshot: the text that the fixes are for.
        known: their outcomes without a fix, in the suite's order.
        seconds_per_test: the limit of each.
    """

    tools: Tools
    snapshot: Snapshot
    known: Known
    seconds_per_test: float

    async def broken_by(self, overlay: Overlay, first: Collection[str]) -> str:
        """What a fix breaks, for people; "" when that is nothing.

        Args:
            overlay: the fix.
            first: tests that are the likeliest to feel it. What breaks among them ends the search.
        """
        for part in (
            [nodeid for nodeid in self.known.statuses if nodeid in first],
            [nodeid for nodeid in self.known.statuses if nodeid not in first],
        ):
            shards = split(part, self.known.seconds)
            found = await all_or_none(*(self._broken_in(shard, overlay) for shard in shards))
            if any(found):
                return next(filter(None, found))
        return ""

    async def _broken_in(self, shard: tuple[str, ...], overlay: Overlay) -> str:
        """What a fix breaks of the tests of one shard.

        What a shard shows may be due to chance, or to the tests that are missing there. So the fix is held to account
        only for a test that is worse again with it, and as it was without it, run with the same others: those of the
        shard, or all of the suite where the shard itself makes it worse.
        """
        suspects = tuple(await self._worse(shard, shard, overlay))
        for company in dict.fromkeys((shard, tuple(self.known.statuses))):
            if not suspects:
                break
            patched, plain = await all_or_none(
                self._worse(company, suspects, overlay), self._worse(company, suspects, {})
            )
            if broken := [step.reason for nodeid, step in patched.items() if nodeid not in plain]:
                return broken[0]
            suspects = tuple(plain)
        return ""

    async def _worse(
        self, company: tuple[str, ...], judged: Collection[str], overlay: Overlay
    ) -> dict[str, Step]:
        """Those of the judged tests that are not as they were, when they run in some company."""
        report = await self.tools.oracle.run(
            RunRequest(
                self.snapshot,
                company,
                overlay=overlay,
                details=False,
                seconds_per_test=self.seconds_per_test,
                seconds=SUITE_SECONDS,
            )
        )
        return worsened(report, judged, self.known)
