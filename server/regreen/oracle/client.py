"""How are tests of one project run, whatever they do?

`ProbeOracle` is the real `ports.Oracle`. Every run has its own working copy and its own process (see `probes`), and a
test that hangs or takes its process down costs only itself.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from regreen.errors import EnvironmentProblem, OracleFailed
from regreen.oracle import envfile
from regreen.oracle.backend import Backend, Mode
from regreen.oracle.channel import ProbeEnded
from regreen.oracle.confinement import as_seen, claimed, level_for, plan, refusal
from regreen.oracle.drive import Limits, Stop, drive, what_next
from regreen.oracle.environment import for_interpreter, for_models, without_keys
from regreen.oracle.hot import HotRuns
from regreen.oracle.messages import run_message
from regreen.oracle.probes import Probes
from regreen.oracle.records import Paths, ProbeFacts
from regreen.oracle.runlog import RunLog
from regreen.platform.background import run_blocking
from regreen.platform.processors import at_once
from regreen.platform.waiting import uninterrupted
from regreen.settings import Settings
from regreen.values import Interpreter, Project, Rung, RunReport, RunRequest, TestStatus

OLDEST_PYTEST = 7
MOST_PROCESSES = 25
"""How many tests of one run may hang or take their process down before the run is given up."""
SECOND_HANG_SECONDS = 3.0
"""What a test gets at least, once another one of its run has used up its limit."""


@dataclass(frozen=True, slots=True)
class _Side:
    """The processes of all runs that may see the same environment."""

    probes: Probes
    hot: HotRuns

    async def close(self) -> None:
        """End them all; safe to call twice."""
        await self.hot.close()
        await self.probes.close()


class ProbeOracle:
    """Runs tests of one project in its user's interpreter. Implements `ports.Oracle`.

    Nothing is started before the first `run` or `inspect`. Use it from one event loop, and await `close`.

    Args:
        project: whose tests.
        interpreter: as `interpreters.find` gave it.
        backend: where they run.
        settings: of the project.
        environment: of the processes; ours when None. What belongs to our own interpreter is taken out, and
            the project's interpreter is put first on PATH, as an activated environment has it. What a model wrote
            runs in processes that never had more of it than `environment.for_models` leaves.
    """

    def __init__(
        self,
        project: Project,
        interpreter: Interpreter,
        backend: Backend,
        settings: Settings,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._project = project
        self._interpreter = interpreter
        self._backend = backend
        self._settings = settings
        self._slots = asyncio.Semaphore(at_once())
        users = for_interpreter(os.environ if environment is None else environment, interpreter.executable)
        self._sides = {
            "template": self._side(users),
            "model": self._side(for_models(users, settings.model_variables)),
        }

    def _side(self, environment: Mapping[str, str]) -> _Side:
        probes = Probes(self._project, self._interpreter, self._backend, self._settings, environment)
        hot = HotRuns(
            self._project,
            self._backend,
            self._settings,
            probes.zygote,
            self._variables,
            self.run,
            self._slots,
        )
        return _Side(probes, hot)

    async def run(self, request: RunRequest) -> RunReport:
        """Run the tests of a request; see `ports.Oracle.run`.

        Without a test that hangs or crashes, this is one process. After one that does, the tests that are
        left run in the next process, in the same working copy.
        """
        self._check_pytest()
        side = self._sides[request.origin]
        if request.rung is Rung.HOT:
            report = await side.hot.run(request)
            if report is not None:
                return report
            request = replace(request, rung=Rung.WARM)
        async with (
            self._slots,
            self._backend.open(request.snapshot, request.overlay, fresh=request.fresh_copy) as leased,
        ):
            began = time.monotonic()
            stderr = ""
            variables = await self._variables()
            zygote = await side.probes.zygote(variables)
            level = level_for(zygote.facts.isolation, self._settings)
            if refused := refusal(request, level, self._settings):
                return RunReport({}, (), None, refused=refused)
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
                    environment=variables,
                )
                log.next_process()
                stop, stderr = await self._process(side.probes, request, message, log, deadline)
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
        answers: list[RunReport | None] = [None] * len(requests)
        for origin, side in self._sides.items():
            mine = [n for n, request in enumerate(requests) if request.origin == origin]
            for n, report in zip(mine, await side.hot.screen([requests[n] for n in mine]), strict=True):
                answers[n] = report
        return answers

    async def inspect(self) -> ProbeFacts:
        """What the probe says about the interpreter, for doctor; starts the zygote if need be.

        Raises:
            EnvironmentProblem: the interpreter cannot be started.
            OracleFailed: the probe does not start in it.
        """
        return (await self._sides["template"].probes.zygote(await self._variables())).facts

    async def close(self) -> None:
        """End every process of this oracle; safe to call twice."""
        await uninterrupted(asyncio.gather(*(side.close() for side in self._sides.values())))

    async def _process(
        self, probes: Probes, request: RunRequest, message: dict[str, Any], log: RunLog, deadline: float
    ) -> tuple[Stop, str]:
        """Run one process; a zygote that dies under it is replaced once."""
        limits = Limits(request.import_seconds, _test_seconds(request, log), deadline, request.seconds)
        variables = message["env"]
        for last in (False, True):
            run = await probes.open(request, variables)
            channel = run.channel
            if channel.mode is not Mode.RUN:
                log.rung = Rung.WARM
            since = channel.link.stderr_written
            try:
                run.send(message)
                stop = await drive(run, log, limits)
            except ProbeEnded:
                await uninterrupted(channel.close())
                if request.overlay and (last or channel.once):  # the patch did it
                    log.problem = "the run took the processes around it down"
                    return Stop.LIMIT, ""
                if last or channel.once:
                    raise
                log.next_process()
            else:
                probes.learn(run, request, log)
                return stop, channel.link.stderr_tail(since)
            finally:
                probes.over(run, request, variables)
        raise AssertionError  # the second round returns or raises

    async def _variables(self) -> dict[str, str]:
        """What the project's env file sets at this moment, but for keys of language models."""
        if not self._settings.env_file:
            return {}
        return without_keys(await run_blocking(envfile.read, self._project.root / self._settings.env_file))

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


def _test_seconds(request: RunRequest, log: RunLog) -> float:
    """The limit of each test from here on.

    Tests that hang seldom come alone: once one of a run has used up its limit, the others get what is ample beside
    those that passed.
    """
    statuses = {outcome.status for outcome in log.outcomes.values()}
    if TestStatus.TIMEOUT not in statuses:
        return request.seconds_per_test
    took = [outcome.seconds for outcome in log.outcomes.values() if outcome.status is TestStatus.PASSED]
    return min(request.seconds_per_test, max(SECOND_HANG_SECONDS, 20 * max(took, default=0.0)))
