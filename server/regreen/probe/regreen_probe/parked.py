"""How is a candidate tried without collecting the tests again?

A run stops where its tests are collected and would begin. From then on each hot run is a fork of it, in which the
code of one function is swapped and the tests run. Nothing is imported and nothing collected again.
"""

from __future__ import annotations

import os
import shutil
import signal
import stat
import sys
import threading
import time
from collections.abc import Callable, Mapping

import pytest

from regreen_probe import batch, confine, databases, run, swap, tuning
from regreen_probe.forking import Forking
from regreen_probe.markers import Table
from regreen_probe.pipe import HIGH, Pipe
from regreen_probe.plugin import Reporter


class Parking:
    """The pytest plug-in that stops a run before its first test.

    Args:
        commands: where hot runs are asked for.
        pipe: for records, of the hot runs, too.
        confinement: of the run that is parked.
        reporter: tells of tests.
        tables: the statement markers of what was imported, by file.
    """

    def __init__(
        self,
        commands: int,
        pipe: Pipe,
        confinement: confine.Confinement,
        reporter: Reporter,
        tables: Mapping[str, Table],
    ) -> None:
        self.commands = commands
        self.pipe = pipe
        self.reporter = reporter
        self.tables = tables
        self.confinement = confinement

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        """Serve hot runs; ends the process."""
        databases.close_connections()
        reason = unfit(session)
        self.pipe.send({"ev": "parked", "unfit": reason})
        if reason:
            os._exit(0)
        Parked(self, session, swap.Functions(self.tables)).serve()


def unfit(session) -> str:
    """Why forks of this process would not be like a run of their own; "" when they would."""
    if session.testsfailed or not session.items:
        return "not every test can be collected"
    shared = shares()
    return shared and "importing the tests " + shared


def shares() -> str:
    """What this process has that its forks would not have, or would share; "" when nothing."""
    try:
        threads = len(os.listdir("/proc/self/task"))  # native threads count, too
    except OSError:
        threads = threading.active_count()
    if threads > 1:
        return "starts a thread"
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        pass
    except AttributeError:  # macOS before Python 3.13
        return "may start a process"
    else:
        return "starts a process"
    if any(_is_socket(fd) for fd in range(3, HIGH)):
        return "opens a socket"
    return ""


def _is_socket(fd: int) -> bool:
    try:
        return stat.S_ISSOCK(os.fstat(fd).st_mode)
    except OSError:  # nothing is open there
        return False


class Parked(Forking):
    """The run that was stopped: the zygote of hot runs."""

    def __init__(self, parking: Parking, session, functions: swap.Functions) -> None:
        super().__init__(parking.commands, parking.pipe)
        self.parking = parking
        self.session = session
        self.functions = functions
        self.temps: dict[int, str] = {}

    def obey(self, message: dict, line: bytes) -> bool:
        """Begin a hot run, or say why it cannot be one."""
        if message["op"] == "batch":
            for path in {candidate["path"] for candidate in message["candidates"]}:
                self.functions.look_at(path)  # before anything runs
            self._begin(message, lambda pipe: self._run_batch(message, pipe))
            return True
        if message["op"] != "hot":
            return super().obey(message, line)
        number = message["id"]
        swaps: list[swap.Swap] = []
        if message["path"]:
            try:
                swaps = self.functions.plan(message["path"], message["text"])
            except swap.NotSwappable as reason:
                self.say({"id": number, "ev": "unswappable", "reason": str(reason)})
                self.say({"id": number, "ev": "ended", "code": 0, "signal": None})
                return True
        self._begin(message, lambda pipe: self._run(message, swaps, pipe))
        return True

    def _begin(self, message: dict, run: Callable[[Pipe], None]) -> None:
        self.temps[message["id"]] = message["temp"]
        self.fork(message["id"], run)

    def buried(self, number: int) -> None:
        """A hot run has ended: so have its temporary files."""
        shutil.rmtree(self.temps.pop(number), ignore_errors=True)

    def _settle(self, message: dict, pipe: Pipe) -> Pipe:
        """In the child: become a run of its own; where its records go."""
        mine = self.parking.pipe
        mine.adopt(pipe, message["id"], message["key"])
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
        os.makedirs(message["temp"], exist_ok=True)
        run.use_temp(message["temp"])
        self.parking.confinement.enter_again(message["temp"])
        level = self.parking.confinement.level
        mine.send({"ev": "started", "pid": 0 if level == confine.FULL else os.getpid(), "isolation": level})
        return mine

    def _run_batch(self, message: dict, pipe: Pipe) -> None:
        """In the child: try candidates one after the other; ends the process."""
        mine = self._settle(message, pipe)
        told: list[dict] = []
        self.parking.reporter.send = told.append
        self.parking.reporter.looks = 0  # the batch looks itself
        session = self.session
        for plugin in session.config.pluginmanager.get_plugins():
            if isinstance(plugin, tuning.Tuner):
                plugin.go_on()

        def run() -> list[dict]:
            told.clear()
            tear_down(session)  # what a candidate that took too long has left
            for item in session.items:
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                if told[-1].get("outcome") in ("failed", "error"):
                    break
            return [record for record in told if record["ev"] == "test"]

        batch.Batch(self.functions, run, mine.send, message["seconds"]).try_all(message["candidates"])
        tear_down(session)
        _end(mine)

    def _run(self, message: dict, swaps: list[swap.Swap], pipe: Pipe) -> None:
        """In the child: run the tests with the swapped code; ends the process."""
        began = time.perf_counter()
        mine = self._settle(message, pipe)
        for one in swaps:
            one.apply()
        reporter, session = self.parking.reporter, self.session
        reporter.pytest_collection_finish(session)
        following = [*session.items[1:], None]
        for number, item in enumerate(session.items):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following[number])
            if session.shouldfail or session.shouldstop:
                tear_down(session)
                break
        finished = {
            "ev": "finished",
            "exit": int(session.testsfailed > 0),
            "origins": [message["path"]] if message["path"] else [],
            "replaced": reporter.replaced(),
            "foreign": [],
            "loaded": [],
        }
        mine.send({**finished, "seconds": round(time.perf_counter() - began, 6)})
        _end(mine)


def tear_down(session) -> None:
    """End all fixtures, as a session does in the end."""
    session._setupstate.teardown_exact(None)


def _end(mine: Pipe) -> None:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(0 if os.getpid() == mine.owner else 1)
