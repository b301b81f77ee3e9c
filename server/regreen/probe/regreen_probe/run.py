"""What happens in one run, from its request to its end?"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import time
import traceback

from regreen_probe import canary, confine, loader, observe, redirect, suite
from regreen_probe.pipe import Pipe
from regreen_probe.signals import Ear

ONE_THREAD = ("MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""Variables by which libraries for numbers start no threads of their own when they are imported."""
BROKEN = 70
"""Exit status when the probe itself failed; the reason is on descriptor 2."""


def perform(
    line: bytes,
    pipe: Pipe,
    confinement: confine.Confinement,
    ear: Ear | None,
    commands: int | None = None,
) -> None:
    """Do the run of one request and end the process, whatever threads are left.

    Args:
        line: the message, as it came.
        pipe: for its records.
        confinement: of the run; this process is its fork.
        ear: of a process that does just this run: where more messages may come from.
        commands: of a run that is to be parked: where its hot runs are asked for.
    """
    status = BROKEN
    try:
        request = json.loads(line)
        pipe.run = request["id"]
        keep = [pipe.fd, *([ear.fd] if ear else []), *([commands] if commands is not None else [])]
        key = request.pop("key")
        confinement.settle(keep, pipe.send_plainly)
        pipe.owner = os.getpid()
        pipe.seal(key)
        _perform(request, pipe, confinement, ear, commands)
        status = 0
    except confine.Refused as refused:
        pipe.send_plainly({"ev": "unconfined", "why": str(refused)})
        status = 0
    except BaseException:  # this process has nobody else to tell
        traceback.print_exc()
    finally:
        _flush()
        os._exit(status if os.getpid() == pipe.owner else 0)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # the project closed or replaced it
            stream.flush()


def _perform(
    request: dict, pipe: Pipe, confinement: confine.Confinement, ear: Ear | None, commands: int | None
) -> None:
    began = time.perf_counter()
    os.makedirs(request["temp"], exist_ok=True)
    os.chdir(request["cwd"])
    _environment(request)
    roots = redirect.Roots(request["roots"])
    observer = observe.Observer(request["observe"], request["observe_during"])
    options = loader.Options(
        spectrum=request["spectrum"],
        cage=canary.Cage(request["canaries"], pipe.send_from_fork),
        observer=observer,
    )
    redirect.install(roots, os.getcwd(), options)
    sys.dont_write_bytecode = True
    confinement.enter(request["temp"])
    pipe.send({"ev": "started", "pid": confinement.outside, "isolation": confinement.level})
    broken = suite.uncompilable(request["overlaid"], options)
    for record in broken:
        pipe.send(record)
    if broken:
        return
    result = suite.run(request, pipe, confinement, roots, options, ear, commands)
    if request["observe"]:
        pipe.send(observer.record())
    pipe.send({**result, "seconds": round(time.perf_counter() - began, 6)})


def _environment(request: dict) -> None:
    for name, value in request["env"].items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    use_temp(request["temp"])
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
