"""What does the zygote know and do?

It holds pytest and nothing of the project. Each run is a fork of it; a run that is parked, with its tests
collected, takes messages of its own through it.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
from collections.abc import Callable

from regreen_probe import bubblewrap, cache, confine, effects, facts, identity, preload, run
from regreen_probe.forking import CHUNK, Forking
from regreen_probe.pipe import Pipe, private


def can_fork() -> bool:
    """Whether one process can serve many runs here."""
    return hasattr(os, "fork") and not os.environ.get("REGREEN_NO_FORK")


def serve(reader: int, pipe: Pipe, options: dict) -> None:
    """Be the zygote until the server says stop or goes away; ends the process."""
    seen = options.get("seen")
    if seen is None:
        seen = effects.look(options.get("wrap"))  # while this process is small
        if seen["wrapper"]:
            bubblewrap.move(seen["wrapper"], reader, pipe.fd, {**options, "seen": seen})
    with contextlib.suppress(ImportError):  # told by hello: the project may need none of its own
        importlib.import_module("pytest")
    identity.remember()
    pytest = facts.imported_pytest()
    if not can_fork():
        pipe.send(facts.hello(pytest, fork=False, isolation=seen))
        while os.read(reader, CHUNK):  # every run has a process of its own; this one only waits for the end
            pass
        os._exit(0)
    host = Host(reader, pipe)
    host.say(facts.hello(pytest, fork=True, isolation=seen))
    host.serve()


class Host(Forking):
    """The zygote."""

    def __init__(self, reader: int, pipe: Pipe) -> None:
        super().__init__(reader, pipe)
        self.files: list[str] = []
        self.modules: list[str] = []
        self.trial: preload.Trial | None = None
        self.parked: dict[int, int] = {}  # parked run → where its messages go
        self.routes: dict[int, int] = {}  # hot run → the parked run that it is a fork of

    # ------------------------------------------------------------------ messages

    def obey(self, message: dict, line: bytes) -> bool:
        """Do what one message asks for; False when it asks to stop."""
        op = message["op"]
        if op == "run":
            self._start(line, message)
        elif op in ("hot", "batch"):
            self._hot(line, message)
        elif op == "precompile":
            self.files += message["files"]
        elif op == "preload":
            self._end_trial()
            self.trial = preload.Trial(message["modules"], message["never"])
        elif message.get("id") in self.routes:
            self._tell(self.routes[message["id"]], line)
        else:
            return super().obey(message, line)
        return True

    def _start(self, line: bytes, message: dict) -> None:
        number = message["id"]
        confinement = confine.Confinement(message["confine"])
        ends = os.pipe() if message["park"] else ()

        def begin(pipe: Pipe) -> None:
            mine = private(ends[0]) if ends else None
            for fd in ends:
                os.close(fd)
            run.perform(line, pipe, confinement, None, mine)

        try:
            self.fork(number, begin, keep=ends[:1], how=confinement.fork)
        except confine.Refused as refused:
            for fd in ends[1:]:
                os.close(fd)
            self.say({"id": number, "ev": "unconfined", "why": str(refused)})
            self.say({"id": number, "ev": "ended", "code": 0, "signal": None})
        else:
            if ends:
                self.parked[number] = ends[1]

    def _hot(self, line: bytes, message: dict) -> None:
        number, park = message["id"], message["park"]
        if park in self.parked:
            self.routes[number] = park
            self._tell(park, line)
        else:
            self.say({"id": number, "ev": "ended", "code": None, "signal": None})

    def _tell(self, park: int, line: bytes) -> None:
        """Pass a message on; a parked run waits for nothing but messages, and takes them at once."""
        with contextlib.suppress(OSError):  # it is gone, which will be said
            data = line + b"\n"
            while data:
                data = data[os.write(self.parked[park], data) :]

    def relayed(self, lines: list[bytes]) -> None:
        """Notice hot runs that have ended: their parked run says so."""
        for line in lines if self.routes else ():
            said = line.partition(b" ")[2]
            if said.startswith(b"{") and b'"ended"' in said:
                self.routes.pop(json.loads(said).get("id"), None)

    def buried(self, number: int) -> None:
        """A child has ended: if it was parked, so have its forks."""
        end = self.parked.pop(number, None)
        if end is None:
            return
        os.close(end)
        for hot in [hot for hot, park in self.routes.items() if park == number]:
            del self.routes[hot]
            self.say({"id": hot, "ev": "ended", "code": None, "signal": None})

    # ------------------------------------------------------------------ the rest of the loop

    def ears(self) -> dict[int, Callable[[], None]]:
        """The trial of a preload."""
        return {} if self.trial is None else {self.trial.fd: self._hear}

    def held(self) -> list[int]:
        """What children must not keep."""
        return [*self.parked.values(), *([self.trial.fd] if self.trial else [])]

    def _hear(self) -> None:
        if self.trial is not None and self.trial.hear():
            trial, self.trial = self.trial, None
            trial.end()
            self.modules, self.trial = trial.outcome()

    def _end_trial(self) -> None:
        if self.trial is not None:
            self.trial.end()
            self.trial = None

    def bye(self) -> None:
        """End what is no child."""
        self._end_trial()

    def idle(self) -> bool:
        """Do one small thing that later runs need not do."""
        if self.modules:
            preload.into_zygote(self.modules.pop(0))
            if not self.modules:
                gc.freeze()
            return True
        if self.files:
            cache.precompile(self.files.pop(0))
            return True
        return False
