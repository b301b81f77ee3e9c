"""What does a person see while waiting, and how do results appear?"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from regreen.ports import Reporter
from regreen.terminal.blocks import result_block
from regreen.terminal.diffs import visible
from regreen.terminal.evidence import plural, seconds
from regreen.values import CandidateVerdict, Failure, HealResult, Progress

STAGES = {"search": "Trying patches", "verify": "Verifying"}
"""What is said before the message of a stage whose messages only count."""

ONE_PROVEN = "a fix is proven, looking at others"


class ShownReporter(Reporter, Protocol):
    """A reporter that may own a part of the screen for a while."""

    def showing(self) -> AbstractContextManager[object]:
        """While entered, progress is on the screen; afterwards it looks as results alone would have left it."""
        ...

    def paused(self) -> AbstractContextManager[object]:
        """While entered, nothing is drawn, so that a person can be asked something."""
        ...


def for_people(out: Console, err: Console) -> ShownReporter:
    """A live line on a terminal, plain lines otherwise."""
    return LiveReporter(out) if out.is_terminal else PlainReporter(out, err)


class _Blocks:
    """Prints results; a fix shown once is only referred to the second time."""

    def __init__(self, out: Console) -> None:
        self._out = out
        self._shown: dict[str, str] = {}  # diff → node id of the block that shows it

    def print(self, result: HealResult) -> None:
        before = self._shown.get(result.fixes[0].diff, "") if result.fixes else ""
        self._out.print(result_block(result, shown_before=before))
        if result.fixes and not before:
            self._shown[result.fixes[0].diff] = result.failure.nodeid


class LiveReporter:
    """One transient line below the results: what is being done, for which test, for how long."""

    def __init__(self, out: Console) -> None:
        self._blocks = _Blocks(out)
        self._spinner = Spinner("dots", text="")
        self._live = Live(self._spinner, console=out, transient=True, refresh_per_second=8)
        self._began = time.monotonic()
        self._line = ""
        self._red = self._tried = 0

    def showing(self) -> AbstractContextManager[object]:
        """The line is there while this is entered."""
        return self._live

    @contextmanager
    def paused(self) -> Iterator[None]:
        """The line makes room for a question, and comes back."""
        self._live.stop()
        try:
            yield
        finally:
            self._live.start(refresh=True)

    def progress(self, progress: Progress) -> None:
        """Say what is being done now."""
        self._line = _line(progress)
        self._refresh()

    def failure(self, failure: Failure) -> None:
        """Count a red test."""
        del failure
        self._red += 1
        self._refresh()

    def candidate(self, failure: Failure, verdict: CandidateVerdict) -> None:
        """Count a candidate."""
        del failure, verdict
        self._tried += 1
        self._refresh()

    def offer(self, result: HealResult) -> None:
        """Say that there is one; it is printed with what else is known when the heal ends."""
        self.progress(Progress("verify", ONE_PROVEN, result.failure.nodeid))

    def result(self, result: HealResult) -> None:
        """Print a finished heal above the line."""
        self._tried = 0
        self._blocks.print(result)

    def _refresh(self) -> None:
        parts = [self._line]
        if self._red:
            parts.append(f"{self._red} red")
        if self._tried:
            parts.append(f"{plural(self._tried, 'candidate')} tried")
        parts.append(seconds(time.monotonic() - self._began))
        self._spinner.update(text=Text(" · ".join(parts), no_wrap=True, overflow="ellipsis"))


class PlainReporter:
    """A line on stderr whenever a new stage begins; results on stdout."""

    def __init__(self, out: Console, err: Console) -> None:
        self._blocks = _Blocks(out)
        self._err = err
        self._last = ("", "")

    def showing(self) -> AbstractContextManager[object]:
        """Plain lines need no preparation."""
        return nullcontext()

    def paused(self) -> AbstractContextManager[object]:
        """Nor do they stand in the way of a question."""
        return nullcontext()

    def progress(self, progress: Progress) -> None:
        """Print the first message of each stage of each test."""
        key = (progress.stage, progress.nodeid)
        if key != self._last:
            self._last = key
            self._err.print(_line(progress))

    def failure(self, failure: Failure) -> None:
        """Name the red test as soon as it is known."""
        self._err.print(f"red: {visible(failure.nodeid)}")

    def candidate(self, failure: Failure, verdict: CandidateVerdict) -> None:
        """Hundreds of these would bury the results; `--json` has them."""

    def offer(self, result: HealResult) -> None:
        """It is printed when the heal ends."""

    def result(self, result: HealResult) -> None:
        """Print a finished heal."""
        self._blocks.print(result)


def _line(progress: Progress) -> str:
    """For example "Trying patches, 12 suspects (40%): test_a.py::test_b"."""
    said = ", ".join(part for part in (STAGES.get(progress.stage, ""), progress.message) if part)
    share = f" ({progress.fraction:.0%})" if progress.fraction is not None else ""
    test = f": {progress.nodeid}" if progress.nodeid else ""
    return visible(f"{said or progress.stage}{share}{test}")
