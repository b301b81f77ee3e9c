"""How are tests of one project run, whatever they do?

`ProbeOracle` is the real `ports.Oracle`. One zygote per project is started on first use; warm runs are forks of it,
cold runs (and all runs where fork is missing) are processes of their own. Every run has its own working copy, and
a test that hangs or takes its process down costs only itself.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from regreen.errors import EnvironmentProblem, OracleFailed
from regreen.oracle import envfile, lend, records
from regreen.oracle.channel import COLD_RUN, Channel, ProbeEnded, Run, open_channel
from regreen.oracle.confinement import as_seen, claimed, level_for, plan, wrap
from regreen.oracle.drive import Limits, Stop, drive, what_next
from regreen.oracle.environment import for_interpreter
from regreen.oracle.hot import HotRuns
from regreen.oracle.messages import run_message
from regreen.oracle.records import Paths, ProbeFacts
from regreen.oracle.runlog import RunLog
from regreen.platform.background import run_blocking, uninterrupted
from regreen.ports import Mirror
from regreen.settings import Settings
from regreen.values import (
    Interpreter,
    Project,
    Rung,
    RunReport,
    RunRequest,
)

OLDEST_PYTEST = 7
AT_ONCE = 2
"""How many runs of one project may go on at the same time."""
NICE = 5
"""How much lower than the editor's the tests' priority is; more would starve them beside a build."""
MOST_PROCESSES = 25
"""How many tests of one run may hang or take their process down before the run is given up."""
SWEEP_SECONDS = 0.5
"""How long nothing must run before daemons that tests left behind are ended."""


class ProbeOracle:
    """Runs tests of one project in its user's interpreter. Implements `ports.Oracle`.

    Nothing is started before the first `run` or `inspect`. Use it from one event loop, and await `close`.

    Args:
        project: whose tests.
        interpreter: as `interpreters.find` gave it.
        mirror: leases the working copies.
        settings: `env_file` is used.
        environment: of the processes; ours when None. What belongs to our own interpreter is taken out, and
            the project's interpreter is put first on PATH, as an activated environment has it.
    """

    def __init__(
        self,
        project: Project,
        interpreter: Interpreter,
        mirror: Mirror,
        settings: Settings,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._project = project
        self._interpreter = interpreter
        self._mirror = mirror
        self._settings = settings
        self._environment = for_interpreter(
            os.environ if environment is None else environment, interpreter.executable
        )
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._starting = asyncio.Lock()
        self._host: Channel | None = None
        self._cold: set[Channel] = set()
        self._numbers = 0
        self._precompiled: set[tuple[str, str]] = set()
        self._preloaded = False
        self._sweeper: asyncio.Task[None] | None = None
        self._hot = HotRuns(
            project,
            mirror,
            settings,
            self._open_hot,
            self._level,
            self._extra_environment,
            self.run,
            self._slots,
        )
        self._closed = False

    async def run(self, request: RunRequest) -> RunReport:
        """Run the tests of a request; see `ports.Oracle.run`.

        Without a test that hangs or crashes, this is one process. After one that does, the tests that are
        left run in the next process, in the same working copy.
        """
        self._check_pytest()
        if request.rung is Rung.HOT:
            report = await self._hot.run(request)
            if report is not None:
                return report
            request = replace(request, rung=Rung.WARM)
        extra = await self._extra_environment()
        async with (
            self._slots,
            self._mirror.lease(request.snapshot, request.overlay, fresh=request.fresh_copy) as leased,
        ):
            began = time.monotonic()
            stderr = ""
            level = await self._level()
            copy = as_seen(leased, level, relaxed=request.relaxed)
            log = RunLog(Paths(copy.roots), copy.copy_root)
            deadline = asyncio.get_running_loop().time() + request.seconds
            args: tuple[str, ...] | None = request.nodeids
            for number in range(MOST_PROCESSES + 1):
                if number == MOST_PROCESSES:
                    log.problem = f"given up after {number} tests that hang or end their process"
                    break
                message = run_message(
                    self._project,
                    request,
                    copy,
                    log.paths,
                    plan(level, leased, request, self._settings),
                    args=args or (),
                    temp=copy.copy_temp / f"regreen-{number}",
                    environment=extra,
                )
                log.next_process()
                stop, stderr = await self._process(request, message, log, deadline)
                if log.unconfined:
                    raise OracleFailed(
                        f"a run could not be confined as it was a moment ago: {log.unconfined}"
                    )
                args = what_next(request, log, stop, stderr)
                if args is None:
                    break
            report = log.report(time.monotonic() - began, stderr)
            return replace(report, isolation=claimed(report.isolation, self._settings))

    async def screen(self, requests: Sequence[RunRequest]) -> Sequence[RunReport | None]:
        """Try candidates together; see `ports.Oracle.screen`."""
        self._check_pytest()
        return await self._hot.screen(requests)

    async def inspect(self) -> ProbeFacts:
        """What the probe says about the interpreter, for doctor; starts the zygote if need be.

        Raises:
            EnvironmentProblem: the interpreter cannot be started.
            OracleFailed: the probe does not start in it.
        """
        return (await self._open_host()).facts

    async def close(self) -> None:
        """End every process of this oracle; safe to call twice."""
        self._closed = True
        await self._hot.close()
        if self._sweeper is not None:
            self._sweeper.cancel()
        async with self._starting:
            channels = [*self._cold, *((self._host,) if self._host is not None else ())]
            self._host = None
        await uninterrupted(asyncio.gather(*(channel.close() for channel in channels)))

    # ------------------------------------------------------------------ one process of a run

    async def _process(
        self, request: RunRequest, message: dict[str, Any], log: RunLog, deadline: float
    ) -> tuple[Stop, str]:
        """Run one process; a zygote that dies under it is replaced once."""
        limits = Limits(request.import_seconds, request.seconds_per_test, deadline, request.seconds)
        for last in (False, True):
            channel = await self._open(request)
            since = channel.process.stderr_written
            try:
                if channel.cold:
                    run = Run(channel, COLD_RUN)
                else:
                    self._numbers += 1
                    run = Run(channel, self._numbers)
                run.send(message)
                stop = await drive(run, log, limits)
            except ProbeEnded:
                await uninterrupted(channel.close())
                if request.overlay and (last or channel.cold):  # the patch did it
                    log.problem = "the run took the processes around it down"
                    return Stop.LIMIT, ""
                if last or channel.cold:
                    raise
                log.next_process()
            else:
                if not channel.cold and not channel.ended:
                    self._precompile(channel, request, log)
                    self._preload(channel, request, log)
                return stop, channel.process.stderr_tail(since)
            finally:
                self._cold.discard(channel)
                self._sweep_soon()
        raise AssertionError  # the second round returns or raises

    async def _open(self, request: RunRequest) -> Channel:
        host = await self._open_host()
        wrapper = () if host.facts.isolation is None else host.facts.isolation.wrapper
        outside = bool(wrapper) and request.relaxed
        if request.rung is not Rung.COLD and host.facts.fork and not outside:
            return host
        self._refuse_when_closed()
        channel = await self._start(cold=True, wrapper=() if outside else wrapper)
        self._cold.add(channel)
        return channel

    async def _open_host(self) -> Channel:
        async with self._starting:
            self._refuse_when_closed()
            if self._host is not None and self._host.ended and self._host.facts.fork:
                await uninterrupted(self._host.close())
                self._host = None
            if self._host is None:
                self._precompiled.clear()
                self._preloaded = False
                self._host = await self._start(cold=False)
                if not self._host.facts.fork:  # it has said what it can, and serves nothing
                    self._host.process.close_stdin()
            return self._host

    async def _level(self) -> str:
        """At which level runs are confined. Raises EnvironmentProblem when that is less than the settings ask for."""
        return level_for((await self._open_host()).facts.isolation, self._settings)

    async def _open_hot(self) -> Run | None:
        host = await self._open_host()
        if not host.facts.fork or await self._level() == "none":
            return None
        self._numbers += 1
        return Run(host, self._numbers)

    async def _start(self, *, cold: bool, wrapper: Sequence[str] = ()) -> Channel:
        options: dict[str, Any] = {"lent": [str(folder) for folder in await self._lent()]}
        if not cold and self._settings.isolation != "none":
            options["wrap"] = wrap(self._project, self._settings, self._mirror.folder)
        return await open_channel(
            self._interpreter.executable,
            self._environment,
            options,
            cold=cold,
            nice=NICE,
            wrapper=wrapper,
        )

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise OracleFailed("this oracle was closed")

    # ------------------------------------------------------------------ around a run

    def _preload(self, channel: Channel, request: RunRequest, log: RunLog) -> None:
        """Let the zygote import, once, what an unpatched run imported from outside the project."""
        if self._preloaded or log.preload is None or request.overlay or request.canaries:
            return
        self._preloaded = True
        modules = records.need_all(log.preload, "modules", str)
        never = records.need_all(log.preload, "never", str)
        channel.send({"op": "preload", "modules": list(modules), "never": list(never)})

    def _check_pytest(self) -> None:
        pytest = self._interpreter.pytest_version
        if pytest is not None and int(pytest.split(".", 1)[0]) < OLDEST_PYTEST:
            raise EnvironmentProblem(
                f"pytest {pytest} in {self._interpreter.executable} is too old.",
                f"Install pytest {OLDEST_PYTEST} or newer there.",
            )
        if pytest is None and self._project.kind == "pytest":
            raise EnvironmentProblem(
                f"pytest is not installed in {self._interpreter.executable}.",
                f"Install it: {self._interpreter.executable} -m pip install pytest. "
                "Or choose another interpreter with the setting regreen.interpreter.",
            )

    async def _lent(self) -> tuple[Path, ...]:
        """The folders of our own pytest, when the user's interpreter has none and its tests need none."""
        if self._interpreter.pytest_version is not None or self._project.kind == "pytest":
            return ()
        django = self._project.kind == "django"
        return await run_blocking(lend.lend_pytest, self._interpreter.version, django=django)

    async def _extra_environment(self) -> dict[str, str]:
        if not self._settings.env_file:
            return {}
        return await run_blocking(envfile.read, self._project.root / self._settings.env_file)

    def _precompile(self, channel: Channel, request: RunRequest, log: RunLog) -> None:
        """Let the zygote hold the code of what the run loaded, so that the next one compiles nothing."""
        fresh = []
        for path in sorted(log.loaded):
            user = log.paths.user(path)
            entry = request.snapshot.files.get(user)
            if entry is not None and user not in request.overlay:
                key = (path, entry.digest)
                if key not in self._precompiled:
                    self._precompiled.add(key)
                    fresh.append(path)
        if fresh:
            channel.send({"op": "precompile", "files": fresh})

    def _sweep_soon(self) -> None:
        """End daemons that tests left in the zygote's tree, once nothing has run for a while."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        if self._host is not None and self._host.facts.fork and not self._closed:
            self._sweeper = asyncio.create_task(self._sweep(self._host))

    async def _sweep(self, host: Channel) -> None:
        await asyncio.sleep(SWEEP_SECONDS)
        if not host.busy and not host.ended:
            await host.process.kill_strays()
