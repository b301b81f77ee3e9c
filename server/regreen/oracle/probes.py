"""Which probe process does a run get?

A cold run one that is started for it. A warm run a fork of the zygote; where there is no fork, one that was started
ahead, and where none waits, one that is started for it, too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from regreen.errors import OracleFailed
from regreen.oracle import lend
from regreen.oracle.backend import Backend, Mode
from regreen.oracle.channel import Channel, Run, open_channel
from regreen.oracle.confinement import wrap
from regreen.oracle.runlog import RunLog
from regreen.oracle.waiting import Waiting
from regreen.oracle.zygote import Zygote
from regreen.platform.background import run_blocking
from regreen.platform.processors import at_once
from regreen.platform.waiting import uninterrupted
from regreen.settings import Settings
from regreen.values import Interpreter, Project, Rung, RunRequest


class Probes:
    """All probe processes of one oracle.

    Args:
        project: whose tests they run.
        interpreter: as `interpreters.find` gave it.
        backend: where they are started.
        settings: of the project; its isolation is used.
        environment: of the processes.
    """

    def __init__(
        self,
        project: Project,
        interpreter: Interpreter,
        backend: Backend,
        settings: Settings,
        environment: Mapping[str, str],
    ) -> None:
        self._project = project
        self._interpreter = interpreter
        self._backend = backend
        self._settings = settings
        self._environment = environment
        self._wrapper: Sequence[str] = ()  # of all processes of one run; the zygote finds it
        self._zygote = Zygote(self._start_host)
        self._waiting = Waiting(self._start_waiting, at_once())
        self._running: set[Channel] = set()
        self._closed = False

    async def zygote(self, variables: Mapping[str, str]) -> Channel:
        """The zygote; where there is no fork, its facts are all it has to give.

        Args:
            variables: what the project's env file sets now.

        Raises:
            EnvironmentProblem: the interpreter cannot be started.
            OracleFailed: the probe does not start in it, or this was closed.
        """
        self._refuse_when_closed()
        zygote = await self._zygote.get(variables)
        isolation = zygote.facts.isolation
        self._wrapper = () if isolation is None else isolation.wrapper
        return zygote

    async def open(self, request: RunRequest, variables: Mapping[str, str]) -> Run:
        """A run that was not sent yet; raises as `zygote` does. `over` must follow.

        Args:
            request: on a rung below the hot one.
            variables: as for `zygote`.
        """
        zygote = await self.zygote(variables)
        outside = bool(self._wrapper) and request.relaxed
        channel = None
        if request.rung is not Rung.COLD and not outside:
            if zygote.facts.fork:
                return Run(zygote)
            channel = await self._waiting.take(variables)
        channel = channel or await self._start(Mode.RUN, () if outside else self._wrapper)
        self._running.add(channel)
        return Run(channel)

    def learn(self, run: Run, request: RunRequest, told: RunLog) -> None:
        """Let the processes of later runs have what this one needed.

        Args:
            run: that has ended.
            request: of the run.
            told: what it said.
        """
        self._zygote.learn(run.channel, request, told)
        if run.channel.once and told.preload is not None and request.is_unpatched:
            self._waiting.learn(told.preload)

    def over(self, run: Run, request: RunRequest, variables: Mapping[str, str]) -> None:
        """A run of `open` is over, with these arguments, however it ended."""
        self._running.discard(run.channel)
        if run.channel.once and not run.channel.facts.fork and request.rung is not Rung.COLD:
            self._waiting.start_ahead(variables)
        self._zygote.sweep_soon()

    async def close(self) -> None:
        """End every process; safe to call twice."""
        self._closed = True
        running = [channel.close() for channel in self._running]
        await uninterrupted(asyncio.gather(self._waiting.close(), self._zygote.close(), *running))

    async def _start_host(self) -> Channel:
        return await self._start(Mode.HOST)

    async def _start_waiting(self, ahead: Mapping[str, Any]) -> Channel:
        return await self._start(Mode.WAIT, self._wrapper, ahead)

    async def _start(
        self, mode: Mode, wrapper: Sequence[str] = (), ahead: Mapping[str, Any] | None = None
    ) -> Channel:
        self._refuse_when_closed()
        options: dict[str, Any] = {"lent": [str(folder) for folder in await self._lent()]}
        if mode is Mode.HOST and self._settings.isolation != "none":
            options["wrap"] = wrap(self._project, self._settings, self._backend.folder)
        link = await self._backend.start(
            self._interpreter.executable, self._environment, mode, options, wrapper
        )
        channel = await open_channel(link, mode, ahead)
        if self._closed:
            await uninterrupted(channel.close())
            self._refuse_when_closed()
        return channel

    async def _lent(self) -> tuple[Path, ...]:
        """The folders of our own pytest, when the user's interpreter has none and its tests need none."""
        if self._interpreter.pytest_version is not None or self._project.kind == "pytest":
            return ()
        django = self._project.kind == "django"
        return await run_blocking(lend.lend_pytest, self._interpreter.version, django=django)

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise OracleFailed("this oracle was closed")
