"""What does each level of confinement really keep a run from, on this machine?

A child confines itself as a run does and then tries to do harm; whether it did is looked at from outside. Nothing is
claimed that was not seen. Nothing is bound or connected but a UNIX socket in a folder of our own.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator

from regreen_probe import confine

SECRET = "regreen-secret"  # noqa: S105 — the word that must not be read
FILES, ATTRIBUTES, READING, SERVICES, NETWORK, PROCESSES, KERNEL, MEMORY, RESOURCES = (
    "files", "attributes", "reading", "services", "network", "processes", "kernel", "memory", "resources",
)  # fmt: skip
DOOR = "socket"


class Seen:
    """What was seen.

    Args:
        level: the strongest level that holds here.
        leaks: what runs can still do at it; names that docs/internals/wire.md explains.
        why: why a stronger level does not hold, or "".
    """

    def __init__(self, level: str, leaks: list[str], why: str) -> None:
        self.level = level
        self.leaks = leaks
        self.why = why

    def record(self) -> dict[str, object]:
        """For the `hello`."""
        return {"level": self.level, "leaks": self.leaks, "why": self.why}


def look() -> Seen:
    """Try the levels, strongest first. Takes some ten milliseconds."""
    if not confine.available():
        return Seen(confine.NONE, [], "this system or interpreter has no confinement for us")
    reasons = []
    for level in (confine.FULL, confine.PARTIAL):
        try:
            leaks, why = _try(level)
        except OSError as error:  # no place for temporary files
            leaks, why = [], "it cannot be tried: %s" % error
        if why:
            reasons.append(why)
        elif FILES in leaks:
            reasons.append("files outside of the copy can be written in spite of it")
        elif leaks and level == confine.FULL:
            reasons.append("it does not keep runs from: " + ", ".join(leaks))
        else:
            return Seen(level, leaks, "; ".join(reasons))
    return Seen(confine.NONE, [], "; ".join(reasons))


class _Bait:
    """What a run must not reach.

    Args:
        folder: an empty one.
    """

    def __init__(self, folder: str) -> None:
        self.copy, self.user, self.outside, self.temp = (
            os.path.join(folder, name) for name in ("copy", "user", "outside", "temp")
        )
        for path in (self.copy, self.user, self.outside, self.temp, os.path.join(self.copy, "old")):
            os.mkdir(path)
        self.file = os.path.join(self.outside, "file")
        for path, text in (
            (os.path.join(self.copy, "which"), "copy"),
            (os.path.join(self.user, "which"), "user"),
            (self.file, SECRET),
        ):
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
        os.chmod(self.file, 0o600)
        here = os.path.dirname(os.path.abspath(__file__))
        name = ".regreen-%d" % os.getpid()
        self.marks = [os.path.join(place, name) for place in (self.outside, self.user, here, sys.prefix)]
        self.shared = "/dev/shm/" + name  # noqa: S108 — a run must not
        self.listener = socket.socket(socket.AF_UNIX)
        with _working_in(self.outside):  # the path of a socket must be short
            self.listener.bind(DOOR)
        self.listener.listen()
        self.listener.setblocking(False)
        self.parent = os.getpid()
        self.network = _network()

    def plan(self, level: str) -> dict:
        """The confinement of a run in it."""
        return {
            "level": level, "copies": [[self.copy, self.user]], "beneath": [], "readable": [], "network": False, "relaxed": False,
            "memory": 1 << 30, "processes": 64, "disk": 1 << 20, "file": 1 << 20, "bytecode": "", "keep_bytecode": False,
        }  # fmt: skip

    def harm(self, told: dict) -> list[str]:
        """What got through, seen from outside."""
        written = [path for path in self.marks if os.path.exists(path)]
        for path in written:
            os.unlink(path)
        with contextlib.suppress(BlockingIOError):
            self.listener.accept()[0].close()
            told[SERVICES] = True
        told[FILES] = bool(written)
        with contextlib.suppress(OSError):
            os.unlink(self.shared)
            told[MEMORY] = True
        told[ATTRIBUTES] = os.stat(self.file).st_mode & 0o777 != 0o600
        names = (FILES, ATTRIBUTES, READING, SERVICES, NETWORK, PROCESSES, KERNEL, MEMORY, RESOURCES)
        return [name for name in names if told.get(name)]


@contextlib.contextmanager
def _working_in(folder: str) -> Iterator[None]:
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _try(level: str) -> tuple[list[str], str]:
    """(what got through, why the level does not work at all or "")."""
    folder = tempfile.mkdtemp(prefix="regreen-")
    bait = _Bait(folder)
    try:
        confinement = confine.Confinement(bait.plan(level))
        reader, writer = os.pipe()
        try:
            pid = confinement.fork()
        except confine.Refused as refused:
            os.close(writer)
            os.close(reader)
            return [], str(refused)
        if pid == 0:
            _as_run(confinement, bait, writer)
        os.close(writer)
        said = b"".join(iter(lambda: os.read(reader, 1 << 16), b""))
        os.close(reader)
        os.waitpid(pid, 0)
        told = json.loads(said or b'{"refused": "the trial ended without a word"}')
        return ([], told["refused"]) if "refused" in told else (bait.harm(told), "")
    finally:
        bait.listener.close()
        shutil.rmtree(folder, ignore_errors=True)


def _as_run(confinement: confine.Confinement, bait: _Bait, writer: int) -> None:
    """In the child: confine ourselves, try everything, tell; ends the process."""
    told: dict[str, object] = {}
    try:
        confinement.settle([writer], lambda _record: None)
        confinement.enter(bait.temp)
        if confinement.level == confine.FULL:
            _live(bait.user)
        else:
            told[RESOURCES] = True  # each process has its limits, all together have none
        told.update(dict.fromkeys(_attempts(bait), True))
    except (confine.Refused, OSError) as error:
        told = {"refused": str(error)}
    finally:
        os.write(writer, json.dumps(told).encode())
        os._exit(0)


def _live(user: str) -> None:
    """Do what honest tests do in their project. Raises OSError where that is not possible."""
    os.chdir(user)
    with open("which", encoding="ascii") as file:
        if file.read() != "copy":
            raise OSError("the copy is not where the project is")
    os.rename("which", "renamed")
    os.rmdir("old")
    with socket.socket() as server, socket.socket() as client:  # on a loopback that nobody else has
        server.bind(("127.0.0.1", 0))
        server.listen()
        client.connect(server.getsockname())


def _attempts(bait: _Bait) -> Iterator[str]:
    """Try to do harm; the names of what certainly went through."""
    for path in (*bait.marks, bait.shared):
        with contextlib.suppress(OSError):
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    with contextlib.suppress(OSError):
        os.chmod(bait.file, 0o640)
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as client:
        os.chdir(bait.outside)
        client.connect(DOOR)
    for name, attempt in (
        (READING, _reads),
        (NETWORK, _has_network),
        (PROCESSES, _meets),
        (KERNEL, _opens_kernel),
    ):
        with contextlib.suppress(OSError):
            if attempt(bait):
                yield name


def _reads(bait: _Bait) -> bool:
    with open(bait.file, encoding="ascii") as file:
        return file.read() == SECRET


def _network() -> str:
    """Which network this process is in."""
    return os.readlink("/proc/self/ns/net")


def _has_network(bait: _Bait) -> bool:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()
    return _network() == bait.network


def _meets(bait: _Bait) -> bool:
    """Whether the process that started all this can be signalled or read."""
    attempts: list[Callable[[], object]] = [
        lambda: os.kill(bait.parent, 0),
        lambda: open("/proc/%d/environ" % bait.parent, "rb").close(),
    ]
    for attempt in attempts:
        with contextlib.suppress(OSError):
            attempt()
            return True
    return False


def _opens_kernel(_bait: _Bait) -> bool:
    """Whether new namespaces, or the keys of the user, can be had."""
    from regreen_probe import kernel

    kernel.syscall(kernel.NUMBERS["unshare"], kernel.NEWUSER)
    return True
