"""How does the probe start, in any of its modes?"""

from __future__ import annotations

import json
import os
import sys

from regreen_probe import confine, effects, facts, host, run, signals
from regreen_probe.pipe import Pipe, private_pipes

CHUNK = 1 << 16


def main(mode: str) -> None:
    """Serve as the `host` of many runs, or do one `run`; ends the process.

    Args:
        mode: "host", "run", or "try" for what `effects` wants to see.

    The arguments of the process are the folder of this package, the mode, and options (docs/internals/wire.md).
    """
    if sys.argv[1] in sys.path:
        sys.path.remove(sys.argv[1])  # the package is found by its own path from now on
    options = json.loads(sys.argv[3])
    sys.path += options["lent"]
    reader, pipe = private_pipes()
    confine.die_with_parent(os.getppid())
    if mode == "host":
        host.serve(reader, pipe, options)
    elif mode == "try":
        effects.attempt(options["trial"], pipe.fd)
    else:
        _once(reader, pipe)


def _once(reader: int, pipe: Pipe) -> None:
    pipe.send(facts.hello(facts.installed_pytest(), fork=host.can_fork(), isolation=None))
    request, more = _first_line(reader)
    if not request:
        os._exit(0)
    message = json.loads(request)
    confinement = confine.Confinement(message["confine"])
    if confinement.level == confine.FULL:
        parent = os.getpid()
        try:
            pid = confinement.fork()
        except confine.Refused as refused:
            pipe.send({"id": message["id"], "ev": "unconfined", "why": str(refused)})
            os._exit(0)
        if pid:
            os._exit(_status(os.waitpid(pid, 0)[1]))
        confine.die_with_parent(parent)
        pipe.owner = os.getpid()
    run.perform(request, pipe, confinement, signals.Ear(reader, more))


def _status(status: int) -> int:
    """The exit status for a child's; what ended its run otherwise was told by a record."""
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _first_line(reader: int) -> tuple[bytes, bytes]:
    """The first message, and what came with it of the next; empty when the server is gone."""
    parts: list[bytes] = []
    while not parts or b"\n" not in parts[-1]:
        parts.append(os.read(reader, CHUNK))
        if not parts[-1]:
            return b"", b""
    line, _, more = b"".join(parts).partition(b"\n")
    return line, more
