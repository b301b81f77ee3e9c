"""What does the zygote know and do?

It holds pytest and nothing of the project. Each run is a fork of it; a run that is parked, with its tests
collected, takes messages of its own through it.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
from collections.abc import Callable

from regreen_probe import bubblewrap, cache, confine, effects, facts, held, preload, primed, run, suite
from regreen_probe.forking import CHUNK, Forking, end_group
from regreen_probe.pipe import Pipe, private

PRIMED = 0
"""In place of a run's id, of the process that has loaded pytest's plug-ins."""


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
    if not can_fork():
        pipe.send(facts.hello(facts.installed_pytest(), fork=False, isolation=seen))
        while os.read(reader, CHUNK):  # every run has a process of its own; this one only waits for the end
            pass
        os._exit(0)
    holding = held.Held()
    with contextlib.suppress(ImportError):  # told by hello: the project may need none of its own
        suite.prepare()
    holding.note()
    host = Host(reader, pipe, holding)
    host.say(facts.hello(facts.imported_pytest(), fork=True, isolation=seen))
    host.serve()


class Host(Forking):
    """The zygote."""

    def __init__(self, reader: int, pipe: Pipe, holding: held.Held) -> None:
        super().__init__(reader, pipe)
        self.holding = holding
        self.files: list[str] = []
        self.modules: list[str] = []
        self.trial: preload.Trial | None = None
        self.parked: dict[int, int] = {}  # parked run → where its messages go
        self.routes: dict[int, int] = {}  # run → the parked run, or the primed process, that it is a fork of
        self.asked: dict[int, bytes] = {}  # message of each run of the primed process that is still silent
        self.primed: primed.Known | None = None
        self.to_prime: primed.Known | None = None
        self.unprimable: primed.Likeness | None = None

    # ------------------------------------------------------------------ messages

    def obey(self, message: dict, line: bytes) -> bool:
        """Do what one message asks for; False when it asks to stop."""
        op = message["op"]
        if op == "run":
            self._run(line, message)
        elif op in ("hot", "batch"):
            self._hot(line, message)
        elif op == "precompile":
            self.files += message["files"]
            self._tell_primed(line)
        elif op == "preload":
            self._end_trial()
            os.environ.update(message["env"])
            self.trial = preload.Trial(message["modules"], message["never"])
        elif op == "check":
            self._tell_primed(line)  # it holds more
            self.say(self.holding.answer(message))
        elif message.get("id") in self.routes:
            self._tell(self.routes[message["id"]], line)
        else:
            return super().obey(message, line)
        return True

    def _run(self, line: bytes, message: dict) -> None:
        """Fork it from the primed process if that is for such runs; else from here, and prime one when there is time."""
        alike = primed.likeness(message)
        same = self.primed is not None and self.primed.alike == alike
        if same and self.primed.waits:
            self.routes[message["id"]], self.asked[message["id"]] = PRIMED, line
            self._tell(PRIMED, line)
            return
        if not same and alike not in (None, self.unprimable):
            self.to_prime = primed.Known(alike, line)
        self._start(line, message)

    def _start(self, line: bytes, message: dict) -> None:
        number = message["id"]
        confinement = confine.Confinement(message["confine"])
        ends = os.pipe() if message["park"] else ()

        def begin(pipe: Pipe) -> None:
            mine = private(ends[0]) if ends else None
            for fd in ends:
                os.close(fd)
            run.perform(run.Running(line, pipe, confinement, commands=mine))

        try:
            self.fork(number, begin, keep=ends[:1], how=confinement.fork)
        except confine.Refused as refused:
            for fd in ends[1:]:
                os.close(fd)
            self.refuse(number, refused)
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

    def _tell_primed(self, line: bytes) -> None:
        if self.primed is not None and self.primed.waits:
            self._tell(PRIMED, line)

    def relayed(self, number: int, lines: list[bytes]) -> list[bytes]:
        """Notice runs that have ended: those that they are forks of say so. The primed process has no prefix."""
        if number == PRIMED and self.primed is not None and not self.primed.waits:
            self.primed.waits = True  # as it says first
            del lines[0]
        for line in lines if self.asked else ():
            self.asked.pop(int(line.split(b" ", 1)[0]) if line[:1].isdigit() else PRIMED, None)
        for line in lines if self.routes else ():
            said = line if number == PRIMED else line.partition(b" ")[2]
            if said.startswith(b"{") and b'"ended"' in said:
                ended = json.loads(said).get("id")
                self.routes.pop(ended, None)
                self.asked.pop(ended, None)
        return lines

    def buried(self, number: int) -> None:
        """A child has ended: if it was parked or primed, so have its forks."""
        end = self.parked.pop(number, None)
        if end is None:
            return
        os.close(end)
        if number == PRIMED and self.primed is not None:
            self.unprimable = self.unprimable if self.primed.waits else self.primed.alike
            self.primed = None
        for fork in [fork for fork, of in self.routes.items() if of == number]:
            del self.routes[fork]
            line = self.asked.pop(fork, None)
            if line is None:
                self.say({"id": fork, "ev": "ended", "code": None, "signal": None})
            else:
                self._start(line, json.loads(line))

    # ------------------------------------------------------------------ the primed process

    def _prime(self) -> bool:
        """Let a process load the plug-ins, in place of the one that is there; False when that has to wait."""
        if PRIMED in self.children:
            if PRIMED not in self.routes.values():
                self.primed = None
                end_group(self.children[PRIMED].pid)
            return False
        self.primed, self.to_prime = self.to_prime, None
        line, ends = self.primed.line, os.pipe()

        def begin(pipe: Pipe) -> None:
            mine = private(ends[0])
            for fd in ends:
                os.close(fd)
            primed.wait(line, mine, pipe, self.holding)

        self.fork(PRIMED, begin, keep=ends[:1], prefix=b"")
        self.parked[PRIMED] = ends[1]
        return True

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
            if self.modules:  # the primed process shall have them, too
                self.to_prime = self.to_prime or (
                    self.primed and primed.Known(self.primed.alike, self.primed.line)
                )

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
            self.holding.note()
            if not self.modules:
                gc.freeze()
            return True
        if self.files:
            cache.precompile(self.files.pop(0))
            return True
        if self.to_prime is not None and self.trial is None:
            return self._prime()
        return False
