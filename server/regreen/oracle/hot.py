"""How is a candidate tried without a run of its own?

The tests are collected once and the process stops there, parked; each candidate is a fork of it in which the code of
the one changed function is swapped. What such a run says is a screening: whoever passes is run again in a process of
its own, and what this rung cannot do is left to the next one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

from regreen.oracle import records
from regreen.oracle.backend import Backend
from regreen.oracle.batches import BatchLog, batch_message, screened
from regreen.oracle.channel import Channel, ProbeEnded, Run
from regreen.oracle.confinement import as_seen, level_for, plan
from regreen.oracle.drive import Limits, Stop, drive
from regreen.oracle.messages import hot_message, run_message
from regreen.oracle.parked import Key, Parked, can_be_hot, essence, key_of, was_refused
from regreen.oracle.records import Paths
from regreen.oracle.runlog import RunLog
from regreen.platform.waiting import uninterrupted
from regreen.settings import Settings
from regreen.values import Project, Rung, RunReport, RunRequest

log = logging.getLogger(__name__)

IDLE_SECONDS = 20.0
"""How long a parked run is kept for the next candidate."""


class HotRuns:
    """The hot runs of one oracle; one run is parked at a time.

    Args:
        project: whose tests.
        backend: lays the folder.
        settings: of the project.
        zygote: the one for runs with these variables.
        variables: that the project's env file sets.
        warm: runs a request in a fork of its own.
        slots: how many runs may go on at once.
    """

    def __init__(
        self,
        project: Project,
        backend: Backend,
        settings: Settings,
        zygote: Callable[[Mapping[str, str]], Awaitable[Channel]],
        variables: Callable[[], Awaitable[Mapping[str, str]]],
        warm: Callable[[RunRequest], Awaitable[RunReport]],
        slots: asyncio.Semaphore,
    ) -> None:
        self._project = project
        self._backend = backend
        self._settings = settings
        self._zygote = zygote
        self._variables = variables
        self._warm = warm
        self._slots = slots
        self._lock = asyncio.Lock()
        self._parked: Parked | None = None
        self._unfit: Key | None = None
        self._mixing: Key | None = None  # where candidates leave something behind for the next ones
        self._idle: asyncio.Task[None] | None = None

    async def run(self, request: RunRequest) -> RunReport | None:
        """Run a request hot; None when it has to be run otherwise.

        Raises:
            OracleFailed: a record makes no sense.
        """
        if not can_be_hot(request):
            return None
        try:
            return await self._tried(request) or await self._tried(request, again=True)
        except ProbeEnded as error:
            log.warning("a hot run is left to the next rung: %s", error)
            return None
        finally:
            self._end_when_idle()

    async def _tried(self, request: RunRequest, *, again: bool = False) -> RunReport | None:
        """Run it in a fork of the parked run; `again`: only if the one before had died, or died of this."""
        if again and (self._parked is None or self._parked.run.waits):
            return None
        async with self._lock:
            parked = await self._ready(request)
        if parked is None:
            return None
        async with self._slots:
            return await self._hot(parked, request)

    async def screen(self, requests: Sequence[RunRequest]) -> list[RunReport | None]:
        """Try candidates for the same tests in one process.

        Returns:
            For each the report of a red run; None for those that have to be tried alone: they passed, they cannot be
            had by swapping, or one before them left something behind.
        """
        fit = [n for n, request in enumerate(requests) if can_be_hot(request)]
        answers: list[RunReport | None] = [None] * len(requests)
        if len(fit) < 2 or self._mixing == key_of(requests[fit[0]]):
            return answers
        try:
            async with self._lock:
                parked = await self._ready(requests[fit[0]])
            if parked is None:
                return answers
            async with self._slots:
                told = await self._screen(parked, [requests[n] for n in fit])
        except ProbeEnded as error:
            log.warning("a batch is left to the next rung: %s", error)
            return answers
        finally:
            self._end_when_idle()
        if not told.sound:
            self._mixing = parked.key
        for n, report in told.refused.items():
            answers[fit[n]] = None if was_refused(report) else report
        return answers

    async def close(self) -> None:
        """End the parked run; safe to call twice."""
        if self._idle is not None:
            self._idle.cancel()
        async with self._lock:
            await self._leave()

    def _end_when_idle(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.create_task(self._later()) if self._parked is not None else None

    async def _later(self) -> None:
        await asyncio.sleep(IDLE_SECONDS)
        async with self._lock:
            await self._leave()

    async def _leave(self) -> None:
        parked, self._parked = self._parked, None
        if parked is not None:
            await uninterrupted(parked.held.aclose())

    # ------------------------------------------------------------------ parking

    async def _ready(self, request: RunRequest) -> Parked | None:
        key = key_of(request)
        variables = await self._variables()
        zygote = await self._zygote(variables)
        parked = self._parked
        if parked and parked.key == key and parked.run.waits and parked.run.channel is zygote:
            return parked
        if self._unfit == key:
            return None
        await self._leave()
        self._parked = await self._park(key, replace(request, overlay={}, rung=Rung.WARM), zygote, variables)
        self._unfit = None if self._parked is not None else key
        return self._parked

    async def _park(
        self, key: Key, request: RunRequest, zygote: Channel, variables: Mapping[str, str]
    ) -> Parked | None:
        """Let a run collect its tests and stop there; None when it cannot, or would not tell the truth."""
        level = level_for(zygote.facts.isolation, self._settings)
        if not zygote.facts.fork or level == "none":
            return None
        async with AsyncExitStack() as held:
            leased = await held.enter_async_context(self._backend.open(request.snapshot, {}))
            parked = Parked(key, Run(zygote), as_seen(leased, level))
            held.push_async_callback(parked.end)
            message = run_message(
                self._project,
                request,
                parked.copy,
                Paths(parked.copy.roots),
                plan(level, leased, request, self._settings),
                args=request.nodeids,
                temp=parked.temp,
                environment=variables,
                park=True,
            )
            if why := await self._stop_before_the_tests(parked, message, request.import_seconds) or (
                await self._differs(parked, request)
            ):
                log.info("candidates are not tried hot: %s", why)
                return None
            parked.held = held.pop_all()
            return parked

    async def _stop_before_the_tests(self, parked: Parked, message: dict[str, Any], seconds: float) -> str:
        """Why the run is not parked; "" when it is."""
        parked.run.send(message)
        deadline = asyncio.get_running_loop().time() + seconds
        while True:
            try:
                record = await parked.run.record(deadline - asyncio.get_running_loop().time())
            except asyncio.TimeoutError:
                return "collecting the tests takes too long"
            if record["ev"] == "started":
                parked.pid = records.need(record, "pid", int)
            elif record["ev"] == "parked":
                return records.need(record, "unfit", str)
            elif record["ev"] == "ended":
                parked.ended = True
                return "the process ended while it collected the tests"

    async def _differs(self, parked: Parked, request: RunRequest) -> str:
        """Why a hot run of the unpatched code is not like a run of its own; "" when it is."""
        warm = await self._warm(request)
        hot = await self._hot(parked, request)
        if hot is None or essence(hot) != essence(warm):
            return "unpatched, the tests end otherwise"
        return "" if hot.isolation != "none" else "nothing confines them"

    # ------------------------------------------------------------------ running

    async def _screen(self, parked: Parked, requests: Sequence[RunRequest]) -> BatchLog:
        run = Run(parked.run.channel)
        parked.number += 1
        temp = parked.temp / f"hot-{parked.number}"
        paths = Paths(parked.copy.roots)
        run.send(batch_message(requests, parked.run.number, paths, temp=temp))
        return await screened(run, paths, requests[0].processor_seconds)

    async def _hot(self, parked: Parked, request: RunRequest) -> RunReport | None:
        parked.number += 1
        temp = parked.temp / f"hot-{parked.number}"
        paths = Paths(parked.copy.roots)
        message = hot_message(request, parked.run.number, paths, temp=temp)
        told = RunLog(paths, parked.copy.copy_root)
        run = Run(parked.run.channel)
        loop = asyncio.get_running_loop()
        began = loop.time()
        run.send(message)
        whole = request.seconds
        stop = await drive(
            run,
            told,
            Limits(request.import_seconds, request.seconds_per_test, began + whole, whole),
            leave=True,
        )
        if stop is not Stop.TEST and not told.finished:
            return None
        report = told.report(loop.time() - began, "")
        return None if was_refused(report) else replace(report, rung=Rung.HOT)
