"""What has one run shown so far, and what does it show in the end?

A run is one process, or several: where a test hangs or takes its process down, the tests that are left run
in the next one. The log outlives them all.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass, field
from pathlib import Path

from regreen.errors import OracleFailed
from regreen.oracle import records
from regreen.oracle.records import Paths, Preload, Record, need, need_all
from regreen.values import (
    ComparedCall,
    Expression,
    Failure,
    Frame,
    Rung,
    RunReport,
    Spectrum,
    TestOutcome,
    TestStatus,
)

PASSED_PHASES = dict.fromkeys(("setup", "call", "teardown"), "passed")
TESTS_FAILED = 1
"""pytest's exit status for a run with red tests."""


@dataclass(slots=True)
class RunLog:
    """Grows with every record of the run.

    Args:
        paths: of its working copy.
        rootdir: the copy of the folder that node ids are relative to.
    """

    paths: Paths
    rootdir: Path
    collected: tuple[str, ...] | None = None
    places: dict[str, tuple[Path, int]] = field(default_factory=dict)
    outcomes: dict[str, TestOutcome] = field(default_factory=dict)
    lines: dict[str, dict[Path, frozenset[int]]] = field(default_factory=dict)
    origins: set[Path] = field(default_factory=set)
    foreign: dict[str, Path] = field(default_factory=dict)
    uncompilable: dict[Path, str] = field(default_factory=dict)
    loaded: set[str] = field(default_factory=set)
    replaced: set[str] = field(default_factory=set)
    preload: Preload | None = None
    rung: Rung = Rung.COLD  # of the processes, the one that is worth least as a proof
    lost: set[str] = field(default_factory=set)
    incomplete: set[str] = field(default_factory=set)  # passed, but not in each phase
    canary_arrived: bool = False
    behaviour: str = ""
    compared: list[ComparedCall] = field(default_factory=list)
    expressions: list[Expression] = field(default_factory=list)
    isolation: str = "none"
    unconfined: str = ""  # why the confinement that was asked for is not possible
    forged: str = ""  # why nothing that the run told is believed
    fate: str = ""  # how the run ended, where its process could not tell by its status
    exit_status: int | None = None
    problem: str = ""
    # of the process that runs now
    pid: int = 0
    current: str = ""
    collecting: bool = True
    progressed: bool = False
    finished: bool = False
    end: tuple[int | None, int | None] | None = None

    def next_process(self) -> None:
        """The run goes on in another process."""
        self.pid, self.current, self.collecting, self.progressed = 0, "", True, False
        self.finished, self.end, self.exit_status = False, None, None

    def feed(self, record: Record) -> None:
        """Take one record in.

        Raises:
            OracleFailed: it is not what the wire format says.
        """
        take = {
            "started": self._started,
            "unconfined": self._unconfined,
            "fate": self._fate,
            "forged": self._forged,
            "uncompilable": self._uncompilable,
            "collected": self._collected,
            "collect_error": self._collect_error,
            "begin": self._begin,
            "test": self._test,
            "canary": self._canary,
            "behaviour": self._behaviour,
            "compared": self._compared,
            "expression": self._expression,
            "finished": self._finished,
            "ended": self._ended,
        }.get(need(record, "ev", str))
        if take is not None:  # events of a newer probe, and late answers to `dump`, say nothing here
            take(record)

    def _started(self, record: Record) -> None:
        self.pid = need(record, "pid", int)
        self.isolation = need(record, "isolation", str)

    def _unconfined(self, record: Record) -> None:
        self.unconfined = need(record, "why", str)

    def _fate(self, record: Record) -> None:
        taken, number, processes = record.get("memory"), record.get("signal"), record.get("processes")
        if isinstance(processes, int):
            self.fate = f"it had {processes} processes, see regreen.isolation.processes"
        elif isinstance(taken, int):
            self.fate = (
                f"its processes took {taken / 1e6:.0f} MB of memory, see regreen.isolation.memoryMegabytes"
            )
        elif isinstance(number, int):
            self.fate = _signal(number)

    def _forged(self, _record: Record) -> None:
        self.forged = "the code under test wrote into the pipe of the results"

    def _uncompilable(self, record: Record) -> None:
        path = self.paths.user(need(record, "path", str))
        self.uncompilable[path] = f"{path.name}:{need(record, 'line', int)}: {need(record, 'message', str)}"

    def _collected(self, record: Record) -> None:
        self.collecting = False
        ids = need_all(record, "ids", str)
        if self.collected is None:
            self.collected = ids
        for nodeid, place in need(record, "places", dict).items():
            path, line = place
            self.places[nodeid] = (self.paths.user(path), max(line - 1, 0))

    def _collect_error(self, record: Record) -> None:
        nodeid = need(record, "nodeid", str)
        path = self.paths.user(str(self.rootdir / nodeid.split("::", 1)[0]))
        told = records.failure(need(record, "failure", dict), self.paths, nodeid, path, 0, 0.0)
        self.outcomes.setdefault(nodeid, TestOutcome(nodeid, TestStatus.FAILED, 0.0, path, 0, failure=told))

    def _begin(self, record: Record) -> None:
        self.collecting = False
        self.current = need(record, "nodeid", str)

    def _test(self, record: Record) -> None:
        told = records.outcome(record, self.paths)
        self.current, self.progressed = "", True
        self.outcomes[told.nodeid] = told
        if told.status is TestStatus.PASSED and record.get("phases") != PASSED_PHASES:
            self.incomplete.add(told.nodeid)
        if "lines" in record and record["lines"] is not None:
            self.lines[told.nodeid] = records.covered(record, self.paths)

    def _canary(self, record: Record) -> None:
        need(record, "path", str)
        need(record, "line", int)
        self.canary_arrived = True

    def _behaviour(self, record: Record) -> None:
        self.behaviour = need(record, "digest", str)

    def _compared(self, record: Record) -> None:
        self.compared.append(records.compared(record))

    def _expression(self, record: Record) -> None:
        self.expressions.append(records.expression(record, self.paths))

    def _finished(self, record: Record) -> None:
        self.finished = True
        self.current = ""
        self.exit_status = need(record, "exit", int)
        self.origins |= {self.paths.user(path) for path in need_all(record, "origins", str)}
        for module, path in need_all(record, "foreign", list):
            self.foreign[str(module)] = Path(str(path))
        self.loaded |= set(need_all(record, "loaded", str))
        self.replaced |= set(need_all(record, "replaced", str))
        told = record.get("preload")
        self.preload = None if told is None else records.preload(need(record, "preload", dict))

    def _ended(self, record: Record) -> None:
        code, number = record.get("code"), record.get("signal")
        self.end = (code, number)

    def lost_test(
        self, status: TestStatus, message: str, seconds: float, stack: Record | None = None
    ) -> None:
        """The test that is running now will never report: it hung, or its process ended in it.

        Args:
            status: TIMEOUT or CRASHED.
            message: for people.
            seconds: how long it ran.
            stack: the probe's answer to `dump`, if there was one.
        """
        nodeid, self.current = self.current, ""
        path, line = self.places.get(
            nodeid, (self.paths.user(str(self.rootdir / nodeid.split("::", 1)[0])), 0)
        )
        frames: tuple[Frame, ...] = ()
        if stack is not None:
            frames = records.frames(stack, self.paths)
            self.lines[nodeid] = records.covered(stack, self.paths)
        exception = "Timeout" if status is TestStatus.TIMEOUT else "Crash"
        self.lost.add(nodeid)
        failure = Failure(nodeid, "call", exception, message, frames, path, line, seconds=seconds)
        self.outcomes[nodeid] = TestOutcome(nodeid, status, seconds, path, line, failure=failure)

    def how_it_ended(self) -> str:
        """How the process ended, for people: "exit status 3", "signal SIGSEGV"."""
        code, number = self.end or (None, None)
        if self.fate:
            return self.fate
        if number is not None:
            return _signal(number)
        return "unknown exit status" if code is None else f"exit status {code}"

    def contradiction(self) -> str:
        """What in the run's own words does not agree, for people; "" when it adds up."""
        if not self.finished:
            return ""
        ran = set(self.outcomes) - self.lost
        unasked = [
            nodeid
            for nodeid in ran - set(self.collected or ())
            if self.outcomes[nodeid].status is TestStatus.PASSED
        ]
        if unasked:
            return f"it tells of a test that it did not collect: {min(unasked)}"
        if self.incomplete:
            return f"it tells that {min(self.incomplete)} passed, but not that each of its phases did"
        code, number = self.end or (0, None)
        if number is not None or code:
            return f"it had told of its end, and then ended otherwise ({self.how_it_ended()})"
        return ""

    def report(self, seconds: float, stderr: str) -> RunReport:
        """The whole run as a value."""
        problem = self.forged or self.contradiction() or self.problem
        if self.uncompilable:
            problem = "cannot compile " + "; ".join(self.uncompilable.values())
        status = self.exit_status
        if self.lost and not problem:  # every end is explained by its test: what pytest says of red tests
            status = TESTS_FAILED
        return RunReport(
            outcomes=self.outcomes,
            collected=self.collected or (),
            exit_status=status,
            spectrum=Spectrum(self.lines),
            origins=frozenset(self.origins),
            canary_arrived=self.canary_arrived,
            behaviour=self.behaviour,
            compared=tuple(self.compared),
            expressions=tuple(self.expressions),
            problem=problem,
            uncompilable=frozenset(self.uncompilable),
            isolation=self.isolation,
            stderr=stderr,
            seconds=seconds,
            foreign=self.foreign,
            replaced=frozenset(self.replaced),
            rung=self.rung,
        )


def _signal(number: int) -> str:
    try:
        return f"signal {signal.Signals(number).name}"
    except ValueError:
        return f"signal {number}"


def what_is_left(asked: tuple[str, ...], log: RunLog) -> tuple[str, ...] | None:
    """The arguments for the tests of `log` that have no outcome yet; None when there are none.

    When the whole suite was asked for, files of which nothing ran are named as files: thousands of node ids
    are slow to collect.

    Raises:
        OracleFailed: nothing is known about what there is to run.
    """
    if log.collected is None:
        raise OracleFailed("a run cannot go on before its tests are known")
    left = [nodeid for nodeid in log.collected if nodeid not in log.outcomes]
    if not left:
        return None
    if asked:
        return tuple(left)
    touched = {nodeid.split("::", 1)[0] for nodeid in log.outcomes}
    names = (nodeid if (file := nodeid.split("::", 1)[0]) in touched else file for nodeid in left)
    return tuple(dict.fromkeys(names))
