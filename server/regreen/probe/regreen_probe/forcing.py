"""How is a test run again with a condition forced the other way, whatever comes of it?"""

from __future__ import annotations

import contextlib
import itertools
import signal
import types
from collections.abc import Iterator

import pytest

from regreen_probe import parked, tuning
from regreen_probe.holes import Hole, Visit
from regreen_probe.plugin import Reporter

ALL_WAYS = 5
"""Up to so many visits every way to turn some of them is tried."""
SINGLES = 12
"""How many single visits are turned, one at a time …"""
LATEST = 3
"""… and how many of the last ones besides."""

Plan = "tuple[dict[int, bool], bool | None]"  # see Hole.plan and Hole.after


class TooLong(BaseException):
    """A test has used up its processor time."""


def possible() -> bool:
    """Whether processor time can be limited on this system."""
    return hasattr(signal, "setitimer")


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `TooLong` in what is done inside when it takes more processor time, and again after as long."""
    before = signal.signal(signal.SIGPROF, _too_long)
    signal.setitimer(signal.ITIMER_PROF, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _too_long(_number: int, _frame: types.FrameType | None) -> None:
    raise TooLong


class Rerun:
    """What came of it.

    Args:
        visits: of the hole.
        line: the first line of the project on the way to the failure, which is the test's; 0 where it is not known.
        green: the test passed.
    """

    def __init__(self, visits: list[Visit], line: int, *, green: bool) -> None:
        self.visits = visits
        self.line = line
        self.green = green


class Again:
    """Runs a test once more, in this process and without a word.

    Args:
        reporter: tells how it went.
        tuner: would end the session at a red test.
    """

    def __init__(self, reporter: Reporter, tuner: tuning.Tuner) -> None:
        self.reporter = reporter
        self.tuner = tuner

    def run(self, item: pytest.Item, seconds: float, hole: Hole, plan: Plan) -> Rerun:
        """Run it while a hole is forced.

        Args:
            item: the test.
            seconds: how much processor time it may use.
            hole: a condition.
            plan: how it is forced.
        """
        told: list[dict] = []
        reporter = self.reporter
        send, looks = reporter.send, reporter.looks
        reporter.send, reporter.looks = told.append, 0
        hole.force(*plan)
        self.tuner.go_on()
        try:
            with limited(seconds):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        except TooLong:
            told.clear()
        finally:
            visits = hole.release()
            reporter.send, reporter.looks = send, looks
            parked.tear_down(item.session)
        failure = told[-1].get("failure") if told else None
        green = bool(told) and told[-1].get("outcome") == "passed"
        return Rerun(
            visits, failure["frames"][0]["line"] if failure and failure["frames"] else 0, green=green
        )


def plans(now: list[bool], *, guard: bool) -> Iterator[Plan]:
    """Ways to force a condition: of few visits any, of many single ones, all from one on, and all.

    Args:
        now: what it was at each visit of the failing run.
        guard: it is not there yet, so that it was never true.
    """
    if len(now) <= ALL_WAYS:
        for count in range(1, len(now) + 1):
            for numbers in itertools.combinations(range(len(now)), count):
                yield {number: not now[number] for number in numbers}, None
        return
    last = range(max(SINGLES, len(now) - LATEST), len(now))
    for number in (*range(min(len(now), SINGLES)), *last):
        yield {number: not now[number]}, None
    for number in range(min(len(now), SINGLES)):
        yield dict(enumerate(now[:number])), not now[number]
    if not guard:
        yield {}, True
        yield {}, False
