"""How does one project do one thing at a time, with newer work replacing older?

Work that arrives while nothing runs waits for a moment of quiet, so that a storm of saves becomes one run.
Work that arrives while something runs cancels it; what the cancelled run owed is merged into the new work.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from regreen.ports import Clock

log = logging.getLogger(__name__)

QUIET_SECONDS = 0.2
IDLE_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Again:
    """A heal by a model that is to be taken up again.

    Args:
        nodeid: the red test.
        hint: what the user says.
        model: asked instead of that of the settings; "" for that.
        round: the last one to keep; None for all.
        heal: its id in the run store.
    """

    nodeid: str
    hint: str = ""
    model: str = ""
    round: int | None = None
    heal: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """What to do with a project.

    Args:
        changed: files whose text changed since the last finished run.
        by_hand: the newest change was a save that the user made, not an automatic one.
        tests: node ids that were asked for by name, to run and to heal.
        whole_suite: run everything.
        heal: tests asked for by name are healed, not only run.
        offers_only: what is found is offered, never applied by itself.
        check_suite: idle work: run the whole suite with each fix that is on offer.
        again: heals by a model to take up; their tests are among those asked for by name.
    """

    changed: frozenset[Path] = field(default=frozenset())
    by_hand: bool = False
    tests: tuple[str, ...] = ()
    whole_suite: bool = False
    heal: bool = False
    offers_only: bool = False
    check_suite: bool = False
    again: tuple[Again, ...] = ()


def merge(older: Job | None, newer: Job) -> Job:
    """The work that covers both; idle work is dropped when anything else comes."""
    if older is None or older.check_suite:
        return newer
    if newer.check_suite:
        return older
    return Job(
        changed=older.changed | newer.changed,
        by_hand=newer.by_hand if newer.changed else older.by_hand,
        tests=tuple(dict.fromkeys((*older.tests, *newer.tests))),
        whole_suite=older.whole_suite or newer.whole_suite,
        heal=older.heal or newer.heal,
        offers_only=older.offers_only and newer.offers_only,
        again=tuple({one.nodeid: one for one in (*older.again, *newer.again)}.values()),
    )


class Lane:
    """The queue of one project.

    Args:
        run: does a job; being cancelled it ends every process it started, then raises CancelledError.
    """

    def __init__(self, run: Callable[[Job], Awaitable[None]], clock: Clock) -> None:
        self._run = run
        self._clock = clock
        self._pending: Job | None = None
        self._current: Job | None = None
        self._work: asyncio.Task[None] | None = None
        self._pump: asyncio.Task[None] | None = None
        self._closed = False
        self.generation = 0

    @property
    def busy(self) -> bool:
        """Whether something runs or waits to run."""
        return self._pump is not None and not self._pump.done()

    def submit(self, job: Job) -> None:
        """Do this soon, instead of what runs now."""
        if self._closed or (job.check_suite and self.busy):
            return
        self.generation += 1
        if self._work is not None and self._current is not None:
            self._pending = merge(
                merge(self._current, self._pending) if self._pending else self._current, job
            )
            self._current = None  # its debt is taken over, once
            self._work.cancel()
        else:
            self._pending = merge(self._pending, job)
        if not self.busy:
            self._pump = asyncio.get_running_loop().create_task(self._serve(), name="regreen lane")

    def cancel(self) -> bool:
        """Stop what runs and forget what waits; tells whether there was anything."""
        was_busy = self.busy
        self.generation += 1
        self._pending = self._current = None
        if self._work is not None:
            self._work.cancel()
        return was_busy

    async def settled(self) -> None:
        """Wait until nothing runs or waits to run; whoever waits may be cancelled without harm."""
        while self._pump is not None and not self._pump.done():
            await asyncio.wait([self._pump])

    async def close(self) -> None:
        """Stop for good; returns when every process of the running job is gone."""
        self._closed = True
        self.cancel()
        if self._pump is not None:
            await asyncio.gather(self._pump, return_exceptions=True)

    async def _serve(self) -> None:
        while self._pending is not None:
            await self._wait_for_quiet()
            job, self._pending = self._pending, None
            if job is None:  # cancelled while it waited
                return
            self._current = job
            self._work = asyncio.get_running_loop().create_task(self._guarded(job), name="regreen run")
            await asyncio.wait([self._work])
            self._work = self._current = None

    async def _wait_for_quiet(self) -> None:
        seen = -1
        while seen != self.generation:
            seen = self.generation
            await self._clock.sleep(QUIET_SECONDS)

    async def _guarded(self, job: Job) -> None:
        try:
            await self._run(job)
        except Exception:
            log.exception("A run failed inside of Regreen.")
