"""What happens in one run, from its request to its end?"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import time
import traceback

from regreen_probe import canary, confine, holes, loader, observe, redirect, suite
from regreen_probe.pipe import Pipe
from regreen_probe.signals import Ear

ONE_THREAD = ("MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""Variables by which libraries for numbers start no threads of their own when they are imported."""
BROKEN = 70
"""Exit status when the probe itself failed; the reason is on descriptor 2."""


class Over(Exception):
    """The run is over before its tests begin, and all was told."""


class Running:
    """One run, in the process that is this run.

    Args:
        line: the message that asks for it, as it came.
        pipe: for its records.
        confinement: of the run; this process is its fork.
        ear: of a process that does just this run: where more messages may come from.
        commands: of a run that is to be parked: where its hot runs are asked for.
    """

    def __init__(
        self,
        line: bytes,
        pipe: Pipe,
        confinement: confine.Confinement,
        ear: Ear | None = None,
        commands: int | None = None,
    ) -> None:
        self.request = json.loads(line)
        self.pipe = pipe
        self.confinement = confinement
        self.ear = ear
        self.commands = commands

    def begin(self) -> suite.Suite:
        """Become the run: its world, its environment, its paths; what pytest is to be run with.

        Raises:
            confine.Refused: it cannot be confined as asked.
            Over: a patched file cannot be compiled.
        """
        request, pipe, confinement = self.request, self.pipe, self.confinement
        pipe.run = request["id"]
        keep = [fd for fd in (pipe.fd, self.ear and self.ear.fd, self.commands) if fd is not None]
        key = request.pop("key")
        confinement.settle(keep, pipe.send_plainly)
        pipe.owner = os.getpid()
        pipe.seal(key)
        self.began = time.perf_counter()
        os.makedirs(request["temp"], exist_ok=True)
        os.chdir(request["cwd"])
        set_environment(request)
        use_temp(request["temp"])
        roots = redirect.Roots(request["roots"])
        self.observer = observe.Observer(request["observe"], request["observe_during"])
        options = loader.Options(
            spectrum=request["spectrum"],
            cage=canary.Cage(request["canaries"], pipe.send_from_fork),
            observer=self.observer,
            sampler=holes.Sampler(request["synthesise"]),
        )
        redirect.install(roots, os.getcwd(), options)
        sys.dont_write_bytecode = True
        confinement.enter(request["temp"])
        pipe.send({"ev": "started", "pid": confinement.outside, "isolation": confinement.level})
        broken = suite.uncompilable(request["overlaid"], options)
        for record in broken:
            pipe.send(record)
        if broken:
            raise Over
        self.suite = suite.Suite(request, pipe, confinement, roots, options, self.ear, self.commands)
        return self.suite

    def finish(self, status: int) -> None:
        """Tell how it ended, with pytest's exit status."""
        result = self.suite.finished(status)
        if self.request["observe"]:
            self.pipe.send(self.observer.record())
        self.suite.comparing.compare(self.pipe.send)
        self.pipe.send({**result, "seconds": round(time.perf_counter() - self.began, 6)})


def perform(running: Running) -> None:
    """Do a run and end the process, whatever threads are left."""
    with ending(running):
        running.finish(running.begin().main())


@contextlib.contextmanager
def ending(of):
    """End the process with what is done inside, and say so where a run could not be confined.

    Args:
        of: has the pipe for records, at the end.
    """
    status = BROKEN
    try:
        yield
        status = 0
    except Over:
        status = 0
    except confine.Refused as refused:
        of.pipe.send_plainly({"ev": "unconfined", "why": str(refused)})
        status = 0
    except BaseException:  # this process has nobody else to tell
        traceback.print_exc()
    finally:
        _flush()
        os._exit(status if os.getpid() == of.pipe.owner else 0)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # the project closed or replaced it
            stream.flush()


def set_environment(request: dict) -> None:
    """Set the variables of a run, but for those that name its own folder."""
    for name, value in request["env"].items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    if request["park"]:  # threads of native libraries would not survive the forks
        for name in ONE_THREAD:
            os.environ.setdefault(name, "1")
    # A program that a test starts would leave .pyc files in the copy, and the next one would believe them.
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"


def use_temp(folder: str) -> None:
    """Let temporary files go into the run's own folder."""
    for name in ("TMPDIR", "TEMP", "TMP"):
        os.environ[name] = folder
    tempfile.tempdir = None
