"""Did the processes end that should have?"""

from __future__ import annotations

import time
from collections.abc import Iterable

import psutil


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
