"""How does a run answer while the project's code is running?

By handlers of signals, between two steps of the interpreter in its main thread: threads of ours would be seen
by the project, and would not survive its forks.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable

CHUNK = 1 << 16


def answer_dumps(answer: Callable[[object], None], reader: int | None) -> None:
    """Call `answer` with the interrupted frame when the server asks where the run is.

    Args:
        answer: sends the record.
        reader: the pipe from the server, in a process that does just this run: `dump` and the end of input
            arrive there. None in a fork, which is asked by SIGUSR1.
    """
    if not hasattr(signal, "SIGUSR1"):
        return
    signal.signal(signal.SIGUSR1, lambda _number, frame: answer(frame))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
    if reader is None:
        return
    import fcntl

    def heard(_number: int, frame: object) -> None:
        while True:
            try:
                data = os.read(reader, CHUNK)
            except BlockingIOError:
                return
            except OSError:  # the project closed every descriptor it could find
                return
            if not data:
                end_with_group()
            for line in data.splitlines():
                if line.strip() and json.loads(line).get("op") == "dump":
                    answer(frame)

    owner = os.getpid()
    signal.signal(signal.SIGIO, lambda number, frame: heard(number, frame) if os.getpid() == owner else None)
    fcntl.fcntl(reader, fcntl.F_SETOWN, owner)
    flags = fcntl.fcntl(reader, fcntl.F_GETFL)
    fcntl.fcntl(reader, fcntl.F_SETFL, flags | os.O_ASYNC | os.O_NONBLOCK)
    signal.raise_signal(signal.SIGIO)  # what came before we listened


def end_with_group() -> None:
    """The server is gone: so are we, and all that we started."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)
