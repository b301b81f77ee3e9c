"""Which process are warm runs forked from, and when is it another one?

It is replaced between two runs when something that it holds has changed on the disk, when the variables of the
project's env file have, and when it has become old or large. Runs that go on in the old one are not disturbed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from regreen.oracle.channel import Channel, ProbeEnded
from regreen.oracle.messages import preload_message
from regreen.oracle.runlog import RunLog
from regreen.platform.waiting import uninterrupted
from regreen.values import RunRequest

log = logging.getLogger(__name__)

CHECK_SECONDS = 1.0
"""How long what it holds is believed to be up to date: a look takes 1 to 5 ms, up to half of a hot run."""
MOST_SECONDS = 4 * 3600.0
"""How old a zygote may become: nobody upgrades a system's libraries or time zones with this in mind."""
MOST_BYTES = 500_000_000
"""How much memory it may take. Beyond this it is not worth its place beside an editor, and holds less from then on."""
SWEEP_SECONDS = 0.5
"""How long nothing must run before daemons that tests left behind are ended."""


@dataclass(slots=True)
class _Host:
    """The process, what it was given, and when it was looked at last; times of the monotonic clock."""

    channel: Channel
    variables: Mapping[str, str]
    began: float = field(default_factory=time.monotonic)
    checked: float = field(default_factory=time.monotonic)
    preloaded: bool = False
    compiled: set[tuple[str, str]] = field(default_factory=set)


class Zygote:
    """The zygote of one oracle; started when it is first asked for.

    Args:
        start: starts one.
    """

    def __init__(self, start: Callable[[], Awaitable[Channel]]) -> None:
        self._start = start
        self._lock = asyncio.Lock()
        self._host: _Host | None = None
        self._preloads = True
        self._retired: dict[Channel, asyncio.Task[None]] = {}
        self._sweeper: asyncio.Task[None] | None = None

    async def get(self, variables: Mapping[str, str]) -> Channel:
        """The process to fork from; where there is no fork, one that has told its facts and ended.

        Args:
            variables: what the project's env file sets now.

        Raises:
            EnvironmentProblem: the interpreter cannot be started.
            OracleFailed: the probe does not start in it.
        """
        async with self._lock:
            host = self._host
            if host is not None and host.channel.facts.fork:
                why = await self._outdated(host, variables)
                if why:
                    log.info("the zygote is replaced: %s", why)
                    self._host = None
                    await self._retire(host.channel)
            if self._host is None:
                self._host = _Host(await self._start(), dict(variables))
                if not self._host.channel.facts.fork:  # it has said what it can, and serves nothing
                    self._host.channel.link.close_stdin()
            return self._host.channel

    async def _outdated(self, host: _Host, variables: Mapping[str, str]) -> str:
        """Why no more runs should be forked from it; "" when they can."""
        now = time.monotonic()
        if host.channel.ended:
            return host.channel.last_words()
        if host.variables != variables:
            return "the variables of the env file have changed"
        if now - host.began > MOST_SECONDS:
            return "it is old"
        if now - host.checked < CHECK_SECONDS:
            return ""
        try:
            held = await host.channel.check()
        except ProbeEnded as error:
            return str(error)
        host.checked = now
        if held.memory > MOST_BYTES:
            self._preloads = False
            return f"it takes {held.memory / 1e6:.0f} MB"
        return held.changed and f"{held.changed} has changed"

    async def _retire(self, channel: Channel) -> None:
        """End it, once no run is left in it."""
        if channel.ended or not channel.busy:
            await uninterrupted(channel.close())
            return
        self._retired[channel] = asyncio.create_task(self._end_unused(channel))

    async def _end_unused(self, channel: Channel) -> None:
        await channel.unused()
        await uninterrupted(channel.close())
        self._retired.pop(channel, None)

    async def close(self) -> None:
        """End it with all that was forked from it; safe to call twice."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        async with self._lock:
            host, self._host = self._host, None
        for task in self._retired.values():
            task.cancel()
        channels = [*self._retired, *([host.channel] if host is not None else [])]
        self._retired.clear()
        await uninterrupted(asyncio.gather(*(channel.close() for channel in channels)))

    # ------------------------------------------------------------------ after a run

    def learn(self, channel: Channel, request: RunRequest, told: RunLog) -> None:
        """Let it do once what every run would do again.

        Args:
            channel: of the run.
            request: of the run.
            told: what it said.
        """
        host = self._host
        if host is None or host.channel is not channel or channel.ended:
            return
        self._precompile(host, request, told)
        if self._preloads and not host.preloaded and told.preload is not None and request.is_unpatched:
            host.preloaded = True
            channel.send(preload_message(told.preload, host.variables))

    def _precompile(self, host: _Host, request: RunRequest, told: RunLog) -> None:
        """Let it hold the code of what the run loaded, so that the next one compiles nothing."""
        fresh = []
        for path in sorted(told.loaded):
            user = told.paths.user(path)
            entry = request.snapshot.files.get(user)
            if entry is not None and user not in request.overlay:
                key = (path, entry.digest)
                if key not in host.compiled:
                    host.compiled.add(key)
                    fresh.append(path)
        if fresh:
            host.channel.send({"op": "precompile", "files": fresh})

    def sweep_soon(self) -> None:
        """End daemons that tests left in its tree, once nothing has run for a while."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        if self._host is not None and self._host.channel.facts.fork:
            self._sweeper = asyncio.create_task(self._sweep(self._host.channel))

    async def _sweep(self, channel: Channel) -> None:
        await asyncio.sleep(SWEEP_SECONDS)
        if not channel.busy and not channel.ended:
            await channel.link.kill_strays()
