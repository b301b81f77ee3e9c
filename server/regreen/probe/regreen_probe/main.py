"""How does the probe start, in either of its two modes?"""

from __future__ import annotations

import os
import sys

from regreen_probe import confine, facts, host, run, signals
from regreen_probe.pipe import Pipe, private_pipes

CHUNK = 1 << 16


def main(mode: str) -> None:
    """Serve as the `host` of many runs, or do one `run`; ends the process.

    Args:
        mode: "host" or "run".

    The arguments of the process are the folder of this package, the mode, and the folders of a pytest that is lent
    to this interpreter, normally none.
    """
    if len(sys.argv) > 1 and sys.argv[1] in sys.path:
        sys.path.remove(sys.argv[1])  # the package is found by its own path from now on
    sys.path += sys.argv[3:]
    reader, pipe = private_pipes()
    confine.die_with_parent(os.getppid())
    if mode == "host":
        host.serve(reader, pipe)
    else:
        _once(reader, pipe)


def _once(reader: int, pipe: Pipe) -> None:
    pipe.send(facts.hello(facts.installed_pytest(), fork=host.can_fork()))
    request, more = _first_line(reader)
    if not request:
        os._exit(0)
    run.perform(request, pipe, signals.Ear(reader, more))


def _first_line(reader: int) -> tuple[bytes, bytes]:
    """The first message, and what came with it of the next; empty when the server is gone."""
    parts: list[bytes] = []
    while not parts or b"\n" not in parts[-1]:
        parts.append(os.read(reader, CHUNK))
        if not parts[-1]:
            return b"", b""
    line, _, more = b"".join(parts).partition(b"\n")
    return line, more
