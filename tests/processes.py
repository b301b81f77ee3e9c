"""Did the processes end that should have, and is nothing of them left behind?"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from contextlib import suppress

import psutil

MARK = "REGREEN_TEST_MARK"
"""A variable that all processes of one test inherit."""


def ended(process: psutil.Process) -> bool:
    """Whether it runs no more. One that only waits to be reaped has ended: when that happens is its new parent's affair."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def left_running(processes: Iterable[psutil.Process], seconds: float = 60.0) -> list[psutil.Process]:
    """Those that do not end within some time; returns as soon as all have."""
    deadline = time.monotonic() + seconds
    left = list(processes)
    while (left := [process for process in left if not ended(process)]) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def marked(mark: str) -> list[psutil.Process]:
    """Every process that inherited the mark of a test."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):  # noqa: PERF203 — each process may end at any moment
            continue
    return found


def survivors(mark: str, seconds: float = 15) -> list[str]:
    """The command lines of the processes of a test that still run after some time."""
    deadline = time.monotonic() + seconds
    while (left := marked(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    lines = []
    for process in left:
        with suppress(psutil.NoSuchProcess):
            lines.append(" ".join(process.cmdline()))
    return lines


async def close_pipes(process: asyncio.subprocess.Process) -> None:
    """Close what joins us to a process that has ended.

    Its end may be known before that of its pipes. If the event loop is closed then, the garbage collector complains
    of them in whatever test runs next.
    """
    process._transport.close()  # type: ignore[attr-defined]
    for _ in range(3):  # the pipes are closed in the turn after the one that is asked to
        await asyncio.sleep(0)
