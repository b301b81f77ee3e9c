"""Where there is no fork, who spares a run the start of Python and the imports that it does not differ by?

Processes that are started ahead. Each has imported pytest and what an earlier run needed from outside of the project,
waits for its one run, and ends with it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from regreen.errors import EnvironmentProblem, OracleFailed
from regreen.oracle.channel import Channel, ProbeEnded
from regreen.oracle.messages import preload_message
from regreen.oracle.records import Preload
from regreen.platform.waiting import uninterrupted

log = logging.getLogger(__name__)

IDLE_SECONDS = 300.0
"""How long they wait for the next run: each takes the memory of a pytest."""
ROUNDS = 6
"""How many packages that must not be imported ahead may turn up before none is."""


class Waiting:
    """The waiting processes of one oracle.

    Args:
        start: starts one, given the message that it gets ahead of its hello.
        most: how many wait at once; as many as runs go on at once.
    """

    def __init__(self, start: Callable[[Mapping[str, Any]], Awaitable[Channel]], most: int) -> None:
        self._start = start
        self._most = most
        self._lock = asyncio.Lock()
        self._begun: list[tuple[Mapping[str, str], asyncio.Task[Channel]]] = []
        self._preload: Preload | None = None
        self._idle: asyncio.Task[None] | None = None
        self._closed = False

    async def take(self, variables: Mapping[str, str]) -> Channel | None:
        """One that holds what is on the disk now, for a run of the caller's; None when none waits.

        Args:
            variables: what the project's env file sets now.
        """
        async with self._lock:
            while self._begun:
                under, begun = self._begun[0]
                # Whoever stops waiting here leaves it to the next.
                fit = under == variables and await _is_fit(begun)
                del self._begun[0]
                if fit and not self._closed:
                    return begun.result()
                await _drop(begun)
        return None

    def learn(self, told: Preload) -> None:
        """Take in what an unpatched run imported; only the first tells all, the others find it there."""
        if self._preload is None:
            self._preload = told

    def start_ahead(self, variables: Mapping[str, str]) -> None:
        """Have as many as there may be, until no run has come for a while."""
        if self._closed:
            return
        while len(self._begun) < self._most:
            self._begun.append((variables, asyncio.create_task(self._prepared(variables))))
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.create_task(self._later())

    async def _prepared(self, variables: Mapping[str, str]) -> Channel:
        for _ in range(ROUNDS):
            preload = self._preload or Preload()
            try:
                channel = await self._start(preload_message(preload, variables))
            except ProbeEnded:
                if not preload.modules:
                    raise
                break
            if not channel.facts.bad:
                return channel
            await uninterrupted(channel.close())
            self._preload = (self._preload or preload).without(channel.facts.bad)
        self._preload = Preload()
        return await self._start(preload_message(Preload(), variables))

    async def _later(self) -> None:
        await asyncio.sleep(IDLE_SECONDS)
        await self._drop_all()

    async def _drop_all(self) -> None:
        async with self._lock:
            begun, self._begun = self._begun, []
            await uninterrupted(asyncio.gather(*(_drop(task) for _, task in begun)))

    async def close(self) -> None:
        """End them all; safe to call twice."""
        self._closed = True
        if self._idle is not None:
            self._idle.cancel()
        await self._drop_all()


async def _is_fit(begun: asyncio.Task[Channel]) -> bool:
    """Whether one got ready, lives, and holds what is on the disk."""
    try:
        changed = (await (await asyncio.shield(begun)).check()).changed
    except (EnvironmentProblem, OracleFailed) as error:
        changed = str(error)
    if changed:
        log.info("a process that waited is dropped: %s", changed)
    return not changed


async def _drop(begun: asyncio.Task[Channel]) -> None:
    """Leave nothing of one."""
    begun.cancel()
    await uninterrupted(asyncio.wait({begun}))
    if not begun.cancelled() and begun.exception() is None:
        await uninterrupted(begun.result().close())
