"""How long may one process of a run take, and what happens when it takes longer?

All deadlines are kept here, on the server's side: the code under test can swallow an alarm, but not SIGKILL of its
process group.
"""

from __future__ import annotations

import asyncio
import enum
from dataclasses import dataclass

from regreen.oracle.channel import Run
from regreen.oracle.records import Record
from regreen.oracle.runlog import RunLog, what_is_left
from regreen.platform.waiting import uninterrupted
from regreen.values import RunRequest, TestStatus

STACK_SECONDS = 0.5
"""How long a hanging run may take to say where it hangs."""
BETWEEN_SECONDS = 30.0
"""How long nothing may come between two tests, or between the last one and the end."""
EXIT_SECONDS = 5.0
"""How long a process may take to end after it has finished: threads that were left behind hold it up."""


class Stop(enum.Enum):
    """Why a process of a run came to its end."""

    ENDED = "ended"  # by itself; what that means is for the log to say
    TEST = "test"  # a test ran into its limit and was noted as TIMEOUT
    LIMIT = "limit"  # another limit; the log's problem says which


@dataclass(frozen=True, slots=True)
class Limits:
    """How long things may take, in seconds; `deadline` is a time of the event loop's clock."""

    importing: float
    test: float
    deadline: float
    whole: float


async def drive(run: Run, log: RunLog, limits: Limits, *, leave: bool = False) -> Stop:
    """Take in the records of a run that was just sent, until its process has ended or a limit ended it.

    When this returns or raises, also by cancellation, nothing of the run's process tree is left.

    Args:
        run: the run.
        log: takes the records.
        limits: of time.
        leave: return once everything is told; the process has nothing more to do then, and its end is not waited for.

    Raises:
        ProbeEnded: the channel broke.
        OracleFailed: a record makes no sense.
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    try:
        while log.end is None and not (leave and log.finished):
            allowed = min(began + _allowed(log, limits), limits.deadline)
            try:
                record = await run.record(allowed - loop.time())
            except asyncio.TimeoutError:
                stop = await _too_long(run, log, limits, loop.time() - began)
                if stop is not None:
                    return stop
                began = loop.time()
                continue
            was = (log.collecting, log.current, log.finished, len(log.outcomes))
            log.feed(record)
            if was != (log.collecting, log.current, log.finished, len(log.outcomes)):
                began = loop.time()
    finally:
        if leave and log.finished:
            run.send({"op": "kill"})
        elif log.end is None or run.channel.once:
            await uninterrupted(run.kill(log.pid))
        run.forget()
    return Stop.ENDED


def _allowed(log: RunLog, limits: Limits) -> float:
    if log.finished:
        return EXIT_SECONDS
    if log.collecting:
        return limits.importing
    return limits.test if log.current else BETWEEN_SECONDS


async def _too_long(run: Run, log: RunLog, limits: Limits, seconds: float) -> Stop | None:
    """What a limit that was reached means; None when the run moved on at the last moment."""
    if log.finished:
        return Stop.ENDED
    was = (log.collecting, log.current, len(log.outcomes))
    stack = await _stack(run, log)
    if asyncio.get_running_loop().time() >= limits.deadline:
        log.problem = f"the run took longer than {limits.whole:g} s"
        return Stop.LIMIT
    if log.end is not None or log.finished or was != (log.collecting, log.current, len(log.outcomes)):
        return None
    if log.collecting:
        log.problem = f"import and collection took longer than {limits.importing:g} s{_place(log, stack)}"
        return Stop.LIMIT
    if log.current:
        if stack is not None and stack.get("nodeid") != log.current:
            stack = None
        log.lost_test(TestStatus.TIMEOUT, f"still running after {limits.test:g} s", seconds, stack)
        return Stop.TEST
    log.problem = (
        f"nothing happened for {BETWEEN_SECONDS:g} s after {next(reversed(log.outcomes), 'the start')}"
    )
    return Stop.LIMIT


async def _stack(run: Run, log: RunLog) -> Record | None:
    """Where the run is now, if it can tell. What else arrives meanwhile goes into the log."""
    loop = asyncio.get_running_loop()
    run.ask_for_stack()
    deadline = loop.time() + STACK_SECONDS
    while log.end is None:
        try:
            record = await run.record(deadline - loop.time())
        except asyncio.TimeoutError:
            return None
        if record.get("ev") == "stack":
            return record
        log.feed(record)
    return None


def _place(log: RunLog, stack: Record | None) -> str:
    """The innermost line of the project that a stack names, for people."""
    for item in reversed(stack.get("frames", ()) if stack is not None else ()):
        if item.get("own"):
            return f", at {log.paths.user(item['path']).name}:{item['line']}"
    return ""


def what_next(request: RunRequest, log: RunLog, stop: Stop, stderr: str) -> tuple[str, ...] | None:
    """The arguments of the process that goes on with the run; None when the run is over.

    A process that ended in a test or between two tests is noted in the log.
    """
    if stop is Stop.LIMIT or log.finished or log.uncompilable:
        return None
    lost = next(reversed(log.outcomes), "") if stop is Stop.TEST else log.current
    if stop is Stop.ENDED:
        how = log.how_it_ended()
        if log.current:
            log.lost_test(TestStatus.CRASHED, f"the process ended inside this test ({how})", 0.0)
        elif log.collecting:
            said = stderr.strip().rsplit("\n", 1)[-1]
            log.problem = f"the process ended during import or collection ({how}){said and ': ' + said}"
            return None
        else:
            log.problem = f"the process ended outside of a test ({how})"
            if not log.progressed:
                return None
    if log.collected is None or (request.stop_at_first_failure and lost not in request.known_red):
        return None
    return what_is_left(request.nodeids, log)
