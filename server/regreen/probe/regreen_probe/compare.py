"""What do several candidates answer where the tests do not look?

The tests run unpatched, and the calls of the functions that the candidates change are kept. Then, for each candidate, a
fork of this process swaps the code and is asked those calls, and others like them. The unpatched code is asked first
and last: where it disagrees with itself, nothing can be compared.
"""

from __future__ import annotations

import asyncio
import functools
import gc
import inspect
import itertools
import json
import os
import select
import signal
import time
import types
from collections.abc import Callable, Mapping

import pytest

from regreen_probe import drawn, inputs, parked, reprs, swap
from regreen_probe.calls import Call, Recorder
from regreen_probe.markers import Table

GENERATED = 160
"""How many calls that no test made are asked."""
UNPATCHED_SECONDS = 0.1
"""For the unpatched code; calls that it does not come to are not asked."""
EACH_SECONDS = 0.5
"""For one candidate. Whoever takes so much longer than the unpatched code does not end."""
SECONDS = 3.0
"""For everything, after the tests; candidates whose turn does not come are not asked."""
CALL_SECONDS = (0.03, 0.2)
"""Processor time for one call, at least and at most; between them ten times what the slowest call of a test took."""
ITEMS = 50
"""Of a generator."""
TOO_LONG = "does not end"


class TooLong(BaseException):
    """A call has used up its processor time."""


class Comparing:
    """The pytest plug-in that keeps calls while the tests run.

    Args:
        candidates: {"path", "text"} of each.
        tables: the statement markers of what was imported, by file.
    """

    def __init__(self, candidates: list[dict], tables: Mapping[str, Table]) -> None:
        self.candidates = candidates
        self.tables = tables
        self.recorder = Recorder({})
        self.swaps: list[list[swap.Swap] | None] = []

    def pytest_collection_finish(self):
        """Find what the candidates change, before anything of it runs."""
        if not self.candidates:
            return
        functions = swap.Functions(self.tables)
        self.swaps = [_plan(functions, candidate) for candidate in self.candidates]
        live = [one for swaps in self.swaps for each in swaps or () for one in each.functions]
        codes = [function.__code__ for function in set(live)]
        self.recorder.functions = {
            function.__code__: function for function in live if codes.count(function.__code__) == 1
        }

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        """Watch the calls of one test."""
        if self.recorder.functions:
            self.recorder.start(item.nodeid)
        yield
        if self.recorder.functions:
            self.recorder.stop()

    def compare(self, send: Callable[[dict[str, object]], None]) -> None:
        """Send a `compared` record for each call that can be compared; none where this process cannot be forked."""
        seen = list(self.recorder.calls.values())
        if not seen or not hasattr(os, "fork") or parked.shares():
            return
        others = drawn.more(seen, GENERATED // 2)
        near = inputs.more(seen, GENERATED - len(others))
        calls = seen + list({call.text: call for call in near + others}.values())
        limit = min(max(CALL_SECONDS[0], 10 * self.recorder.slowest), CALL_SECONDS[1])
        until = time.monotonic() + SECONDS

        def asked(swaps: list[swap.Swap], seconds: float) -> list[str]:
            return _asked(calls, swaps, self.tables, limit, seconds)

        first = asked([], UNPATCHED_SECONDS)
        calls = calls[: len(first)]
        nothing = [None] * len(calls)
        after = []
        for swaps in self.swaps:
            if swaps is None or time.monotonic() > until:
                after.append(nothing)
            else:
                told = asked(swaps, EACH_SECONDS)
                after.append(told + [TOO_LONG] * (len(calls) - len(told)))
        last = asked([], EACH_SECONDS)
        for n, call in enumerate(calls[: len(last)]):
            if first[n] == last[n]:
                send(_record(call, first[n], [told[n] for told in after]))


def _record(call: Call, before: str, answers: list) -> dict[str, object]:
    known = list(dict.fromkeys([before, *(told for told in answers if told is not None)]))
    return {
        "ev": "compared",
        "call": call.text,
        "test": call.test,
        "answers": known,
        "before": 0,
        "after": [None if told is None else known.index(told) for told in answers],
    }


def _plan(functions: swap.Functions, candidate: dict) -> "list[swap.Swap] | None":
    try:
        return functions.plan(candidate["path"], candidate["text"])
    except swap.NotSwappable:
        return None


# --------------------------------------------------------------------------- in a fork


def _asked(
    calls: list[Call], swaps: list[swap.Swap], tables: Mapping[str, Table], limit: float, seconds: float
) -> list[str]:
    """The answers to the calls in order, with swapped code; fewer where the time ends.

    Args:
        calls: in their order.
        swaps: to be applied.
        tables: tell which files are the project's.
        limit: processor seconds for a call.
        seconds: for all of them.
    """
    mine, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(mine)
            silence = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(silence, number)
            for one in swaps:
                one.apply()
            _forget(tables)
            signal.signal(signal.SIGPROF, _too_long)
            for call in calls:
                os.write(theirs, json.dumps(answer(call, limit)).encode() + b"\n")
        finally:
            os._exit(0)
    os.close(theirs)
    try:
        told = _read(mine, time.monotonic() + seconds)
    finally:
        os.close(mine)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return [json.loads(line) for line in told.split(b"\n")[:-1]]


def _read(pipe: int, until: float) -> bytes:
    told = b""
    while (left := until - time.monotonic()) > 0 and select.select([pipe], [], [], left)[0]:
        data = os.read(pipe, 65536)
        if not data:
            break
        told += data
    return told


def _forget(tables: Mapping[str, Table]) -> None:
    """Empty the caches of the project's functions: they hold what the unpatched code has answered."""
    for thing in gc.get_objects():
        if type(thing) is functools._lru_cache_wrapper:
            code = getattr(inspect.unwrap(thing), "__code__", None)
            if code is not None and code.co_filename in tables:
                thing.cache_clear()


def _too_long(_number: int, _frame: "types.FrameType | None") -> None:
    raise TooLong


def answer(call: Call, limit: float) -> str:
    """What a call returns or raises, and what it does to what it was given."""
    positional, named = call.given()
    before = _texts(positional, named)
    try:
        signal.setitimer(signal.ITIMER_PROF, limit)
        try:
            text = reprs.stable(_whole(call.function(*positional, **named)))
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    except TooLong:
        return TOO_LONG
    except BaseException as error:  # what it raises is the answer
        text = reprs.type_name(type(error))
    changed = [now for n, now in enumerate(_texts(positional, named)) if now != before[n]]
    return f"{text}, leaving {', '.join(changed)}" if changed else text


def _texts(positional: list, named: dict) -> list[str]:
    return [reprs.stable(value) for value in (*positional, *named.values())]


def _whole(result: object) -> object:
    """What a function that is a generator, or asynchronous, comes to."""
    if inspect.iscoroutine(result):
        return asyncio.run(result)
    return list(itertools.islice(result, ITEMS)) if inspect.isgenerator(result) else result
