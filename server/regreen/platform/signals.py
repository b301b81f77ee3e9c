"""How does a request to stop, from the keyboard or the system, reach a running event loop?"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

STOPPING = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
"""Ctrl-C, a polite end, a closed terminal, Ctrl-Break: whichever of them the system has."""


@contextmanager
def on_stop(stop: Callable[[], object], *, windows: bool = sys.platform == "win32") -> Iterator[None]:
    """Call `stop` in the running loop whenever the process is asked to stop.

    Must be entered in the main thread, inside of a running loop. What was there before is put back.

    Args:
        stop: must return at once; called once for each request.
        windows: the loop cannot wait for signals there, so the interpreter's own handler wakes it.
    """
    loop = asyncio.get_running_loop()
    numbers = [signal.Signals[name] for name in STOPPING if name in signal.Signals.__members__]
    before: dict[signal.Signals, Any] = {number: signal.getsignal(number) for number in numbers}

    def wake(_number: int, _frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(stop)

    ignored = [number for number in numbers if before[number] is signal.SIG_IGN]  # nohup, for example
    heard = [number for number in numbers if number not in ignored]
    for number in heard:
        if windows:
            signal.signal(number, wake)
        else:
            loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in heard:
            if not windows:
                loop.remove_signal_handler(number)
            signal.signal(number, before[number])
