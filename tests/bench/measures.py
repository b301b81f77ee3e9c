"""How fast does the server start and answer, and what does it cost when it has nothing to do?

Every figure is a ratio or a quantile of one run on one machine, because seconds alone say more about the machine.
Each measure says how it was taken, so that a surprising number can be doubted in the right place.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
from tests.bench.client import LspClient
from tests.bench.projects import FAILURES, crowd, shop, shop_text

RUN_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Measure:
    """One measured figure.

    Args:
        name: what was measured.
        value: the figure, in `unit`.
        unit: "×", "ms", "%".
        target: at most this.
        how: what it was measured on.
    """

    name: str
    value: float
    unit: str
    target: float
    how: str

    @property
    def reached(self) -> bool:
        """Whether the figure is within its target."""
        return self.value <= self.target


def processor_time() -> float:
    """Processor time of all processes below ours and of those that they have waited for, in seconds."""
    total = 0.0
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it has ended meanwhile: whoever waits for it adds it
            times = child.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


@contextmanager
def server(folder: Path, home: Path) -> Iterator[LspClient]:
    """A running server, shut down at the end; its own files are below `home`."""
    environment = {
        **os.environ,
        "REGREEN_CACHE_DIR": str(home / "cache"),
        "REGREEN_STATE_DIR": str(home / "state"),
        "VIRTUAL_ENV": str(
            Path(sys.executable).parent.parent
        ),  # the projects have no environment of their own
    }
    home.mkdir(parents=True, exist_ok=True)
    client = LspClient([_regreen(), "--stdio"], folder, home / "server.log", environment)
    try:
        yield client
    finally:
        client.close()


def start(work: Path, rounds: int) -> Measure:
    """From the start of the process to the reply to `initialize`, against importing the protocol library alone."""
    shop(work / "start")
    ours, theirs = [], []
    for _ in range(rounds + 1):
        began = time.perf_counter()
        with server(work / "start", work / "home-start") as client:
            client.initialize()
            ours.append(time.perf_counter() - began)
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import pygls.lsp.server"], check=True)
        theirs.append(time.perf_counter() - began)
    first, second = (
        statistics.median(ours[1:]),
        statistics.median(theirs[1:]),
    )  # the first fills the disk cache
    how = f"median of {rounds}: {first * 1000:.0f} ms against {second * 1000:.0f} ms"
    return Measure("start to the initialize reply ÷ importing pygls", first / second, "×", 1.6, how)


def replies(work: Path, requests: int) -> Measure:
    """The slow end of code action replies, with 1,000 red tests known and a heal at work.

    Raises:
        RuntimeError: the failures did not become known, or the heal ended too early.
    """
    many, riddle = crowd(work / "crowd")
    with server(work / "crowd", work / "home-crowd") as client:
        client.initialize()
        for path in (many, riddle, riddle.with_name("riddle.py")):
            client.open(path)
        client.started("regreen.server.runTests", {"uri": many.as_uri()})
        client.until(
            lambda: len(client.diagnostics.get(many.as_uri(), ())) >= FAILURES and not client.working,
            RUN_SECONDS,
            "running 1,000 red tests",
        )
        client.started(
            "regreen.server.heal", {"uri": riddle.as_uri(), "nodeid": "test_riddle.py::test_riddle"}
        )
        time.sleep(1.0)
        taken = []
        for number in range(requests):
            path, line = (many, 4 * (number % FAILURES) + 1) if number % 2 else (riddle, 7)
            began = time.perf_counter()
            client.actions(path, line)
            taken.append((time.perf_counter() - began) * 1000)
            time.sleep(0.01)
            if not client.working:
                raise RuntimeError(f"the heal ended after {number} requests")
    p50, p99 = statistics.median(taken), statistics.quantiles(taken, n=100)[98]
    how = f"{requests} requests, {FAILURES} red tests, a heal at work; median {p50:.1f} ms, longest {max(taken):.1f} ms"
    return Measure("code action reply, 99th percentile", p99, "ms", 10.0, how)


def idle(work: Path, seconds: float) -> Measure:
    """Processor time of the server and everything it started, while nobody asks for anything."""
    module, tests = shop(work / "idle")
    with server(work / "idle", work / "home-idle") as client:
        client.initialize()
        client.open(module)
        client.open(tests)
        client.started("regreen.server.runTests", {"uri": tests.as_uri()})
        client.until(lambda: not client.working, RUN_SECONDS, "running two tests")
        time.sleep(5.0)  # what is left to do after a run is not idleness
        before, began = _cpu(client.process.pid), time.perf_counter()
        time.sleep(seconds)
        used, elapsed = _cpu(client.process.pid) - before, time.perf_counter() - began
        children = len(psutil.Process(client.process.pid).children(recursive=True))
    how = f"{used * 1000:.0f} ms of processor time in {elapsed:.0f} s, the server and {children} other processes"
    return Measure("idle load", 100 * used / elapsed, "%", 0.5, how)


def memory(work: Path, few: int, many: int) -> Measure:
    """Resident memory of the server after many heals against after a few.

    Raises:
        RuntimeError: a heal found nothing.
    """
    module, tests = shop(work / "memory")
    sizes: dict[int, int] = {}
    wrong = ("-=", "*=", "|=", "^=")
    with server(work / "memory", work / "home-memory") as client:
        client.initialize()
        client.open(tests)
        client.open(module)
        client.started("regreen.server.runTests", {"uri": tests.as_uri()})
        client.until(lambda: not client.working, RUN_SECONDS, "running two tests")
        version = 1
        for number in range(1, many + 1):
            version += 2
            # A text seen before would be taken for an undo, which is not healed again.
            note = f"round {number}"
            client.save(module, version - 1, shop_text(wrong[number % len(wrong)], note))
            client.until(lambda: _offered(client, module), RUN_SECONDS, f"finding fix {number}")
            client.save(module, version, shop_text("+=", f"{note}, mended"))
            client.until(lambda: _all_green(client), RUN_SECONDS, f"going green after fix {number}")
            if number in (few, many):
                sizes[number] = psutil.Process(client.process.pid).memory_info().rss
    ratio = sizes[many] / sizes[few]
    how = f"{sizes[few] / 1e6:.0f} MB after {few} heals, {sizes[many] / 1e6:.0f} MB after {many}"
    return Measure(f"memory after {many} heals ÷ after {few}", ratio, "×", 1.2, how)


def _offered(client: LspClient, module: Path) -> bool:
    return any(
        action["kind"] == "quickfix.regreen" and "data" in action for action in client.actions(module, 6)
    )


def _all_green(client: LspClient) -> bool:
    return not client.working and not any(client.diagnostics.values())


def _cpu(pid: int) -> float:
    """Seconds of processor time of a process and its living descendants."""
    process = psutil.Process(pid)
    total = 0.0
    for one in (process, *process.children(recursive=True)):
        with one.oneshot():
            times = one.cpu_times()
            total += times.user + times.system
    return total


def _regreen() -> str:
    beside = shutil.which("regreen", path=str(Path(sys.executable).parent))
    if beside is None:
        raise FileNotFoundError("the `regreen` command is not installed beside this Python")
    return beside
