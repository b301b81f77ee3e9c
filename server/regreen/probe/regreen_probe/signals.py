"""How does a run answer while the project's code is running?

By handlers of signals, between two steps of the interpreter in its main thread: threads of ours would be seen
by the project, and would not survive its forks.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Callable

CHUNK = 1 << 16


class Ear:
    """The pipe from the server, in a process that does just one run: `dump` and the end of input arrive there.

    Args:
        fd: its reading end.
        heard: what has been read of it already.
    """

    def __init__(self, fd: int, heard: bytes) -> None:
        self.fd = fd
        self.heard = heard

    def listen(self, answer: Callable[[object], None]) -> None:
        """Be woken by a signal whenever something arrives."""
        import fcntl

        owner = os.getpid()

        def woken(_number: int, frame: object) -> None:
            if os.getpid() == owner:
                self._take(answer, frame)

        signal.signal(signal.SIGIO, woken)
        fcntl.fcntl(self.fd, fcntl.F_SETOWN, owner)
        flags = fcntl.fcntl(self.fd, fcntl.F_GETFL)
        fcntl.fcntl(self.fd, fcntl.F_SETFL, flags | os.O_ASYNC | os.O_NONBLOCK)
        signal.raise_signal(signal.SIGIO)  # something may have come before we listened

    def _take(self, answer: Callable[[object], None], frame: object) -> None:
        with contextlib.suppress(OSError):  # nothing more for now; or the project closed all it could find
            while True:
                data = os.read(self.fd, CHUNK)
                if not data:
                    end_with_group()
                self.heard += data
        *lines, self.heard = self.heard.split(b"\n")
        for line in lines:
            if line.strip() and json.loads(line).get("op") == "dump":
                answer(frame)


def answer_dumps(answer: Callable[[object], None], ear: Ear | None) -> None:
    """Call `answer` with the interrupted frame when the server asks where the run is.

    Args:
        answer: sends the record.
        ear: None in a fork, which is asked by SIGUSR1.
    """
    if not hasattr(signal, "SIGUSR1"):
        return
    signal.signal(signal.SIGUSR1, lambda _number, frame: answer(frame))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
    if ear is not None:
        ear.listen(answer)


def end_with_group() -> None:
    """The server is gone: so are we, and all that we started."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)
