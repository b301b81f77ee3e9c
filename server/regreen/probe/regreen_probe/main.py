"""How does the probe start, in either of its two modes?"""

from __future__ import annotations

import os
import sys

from regreen_probe import confine, facts, host, run
from regreen_probe.pipe import Pipe, private_pipes


def main(mode: str) -> None:
    """Serve as the `host` of many runs, or do one `run`; ends the process.

    Args:
        mode: "host" or "run".
    """
    if len(sys.argv) > 1 and sys.argv[1] in sys.path:
        sys.path.remove(sys.argv[1])  # the package is found by its own path from now on
    reader, pipe = private_pipes()
    confine.die_with_parent(os.getppid())
    if mode == "host":
        host.serve(reader, pipe)
    else:
        _once(reader, pipe)


def _once(reader: int, pipe: Pipe) -> None:
    pipe.send(facts.hello(fork=host.can_fork()))
    request = _first_line(reader)
    if not request:
        os._exit(0)
    run.perform(request, pipe, reader)


def _first_line(reader: int) -> bytes:
    """One message; byte by byte, so that nothing of what follows is taken from the pipe."""
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = os.read(reader, 1)
        if not byte:
            return b""
        line += byte
    return bytes(line)
