"""How does the probe start, in any of its modes?"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import sys

from regreen_probe import confine, effects, facts, held, host, preload, run, signals, suite
from regreen_probe.pipe import Pipe, private_pipes

CHUNK = 1 << 16


def main(mode: str) -> None:
    """Serve as the `host` of many runs, or do one `run`, at once or after a `wait`; ends the process.

    Args:
        mode: "host", "run", "wait", or "try" for what `effects` wants to see.

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
    messages = Messages(reader)
    if mode == "wait":
        _once(_wait(messages, pipe), messages, pipe)
    pipe.send(facts.hello(facts.installed_pytest(), fork=host.can_fork(), isolation=None))
    _once(messages.take(), messages, pipe)


class Messages:
    """What the server sends to a process of one run.

    Args:
        reader: where it comes from.
    """

    def __init__(self, reader: int) -> None:
        self.reader = reader
        self.more = b""

    def take(self) -> bytes:
        """Wait for the next message. When the server is gone, the process ends."""
        parts = [self.more]
        while b"\n" not in parts[-1]:
            parts.append(os.read(self.reader, CHUNK))
            if not parts[-1]:
                os._exit(0)
        line, _, self.more = b"".join(parts).partition(b"\n")
        return line


def _wait(messages: Messages, pipe: Pipe) -> bytes:
    """Import what the first message names, say hello, and wait; the message of the run."""
    holding = held.Held()
    ahead = json.loads(messages.take())
    os.environ.update(ahead["env"])
    with contextlib.suppress(ImportError):  # told by hello: the project may need none of its own
        suite.prepare()
    # A thread would not come along into namespaces, and outlive Landlock and seccomp unconfined.
    bad = preload.first_bad(ahead["modules"], ahead["never"], threads=not confine.available())
    holding.note()
    gc.collect()
    gc.freeze()
    hello = facts.hello(facts.imported_pytest(), fork=host.can_fork(), isolation=None)
    pipe.send({**hello, "bad": bad})
    while True:
        line = messages.take()
        message = json.loads(line)
        if message["op"] == "run":
            return line
        pipe.send(holding.answer(message))


def _once(line: bytes, messages: Messages, pipe: Pipe) -> None:
    """Do the run of one message."""
    message = json.loads(line)
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
    run.perform(run.Running(line, pipe, confinement, signals.Ear(messages.reader, messages.more)))


def _status(status: int) -> int:
    """The exit status for a child's; what ended its run otherwise was told by a record."""
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
