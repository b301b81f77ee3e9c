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
from collections.abc import Callable, Iterator, Sequence

from regreen_probe import bubblewrap, confine

SECRET = "regreen-secret"  # noqa: S105 — the word that must not be read
FILES, ATTRIBUTES, READING, SERVICES, NETWORK, PROCESSES, KERNEL, MEMORY, RESOURCES = (
    "files", "attributes", "reading", "services", "network", "processes", "kernel", "memory", "resources",
)  # fmt: skip
DOOR = "socket"
WRAPPED = "wrapped"
"""The level `partial`, inside bubblewrap."""
TRIAL_SECONDS = 20


def look(wrap: dict | None = None) -> dict:
    """Try the levels, strongest first. Takes some ten milliseconds.

    Args:
        wrap: what hosts inside bubblewrap need, of the process's options; None when that is not to be tried.

    Returns:
        The field `isolation` of the `hello`.
    """
    if not confine.available():
        return _seen(confine.NONE, [], ["this system or interpreter has no confinement for us"])
    reasons = []
    program = "" if wrap is None else bubblewrap.find(wrap["project"])
    for level in (confine.FULL, *([WRAPPED] if program else []), confine.PARTIAL):
        inside: list[str] = []
        try:
            leaks, why = _try(level, program)
            if level == WRAPPED and wrap is not None:
                inside = bubblewrap.wrapper(program, wrap)
        except OSError as error:  # no place for temporary files
            leaks, why = [], "it cannot be tried: %s" % error
        if why:
            reasons.append(why)
        elif FILES in leaks:
            reasons.append("files outside of the copy can be written in spite of it")
        elif leaks and level == confine.FULL:
            reasons.append("it does not keep runs from: " + ", ".join(leaks))
        elif inside:
            return _seen(confine.PARTIAL, leaks, reasons, inside)
        else:
            if leaks and wrap is not None and not program:
                reasons.append("bubblewrap is not installed, inside which test runs can do less")
            return _seen(level, leaks, reasons)
    return _seen(confine.NONE, [], reasons)


def attempt(trial: dict, writer: int) -> None:
    """Be the child of a trial that was started inside bubblewrap; ends the process.

    Args:
        trial: of the process's options.
        writer: where to tell what went through.
    """
    _as_run(confine.Confinement(trial["plan"]), trial["bait"], trial["home"], writer)


def _seen(level: str, leaks: list[str], reasons: list[str], wrapper: Sequence[str] = ()) -> dict:
    return {"level": level, "leaks": leaks, "why": "; ".join(reasons), "wrapper": list(wrapper)}


class _Bait:
    """What a run must not reach.

    Args:
        folder: an empty one.

    Attributes:
        places: what the run is told of it.
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
        self.places = {
            "temp": self.temp, "outside": self.outside, "file": self.file, "marks": self.marks,
            "shared": self.shared, "parent": os.getpid(), "network": _network(),
        }  # fmt: skip

    def plan(self, level: str, *, network: bool = False) -> dict:
        """The confinement of a run in it."""
        return {
            "level": level, "copies": [[self.copy, self.user]], "beneath": [], "readable": [], "network": network,
            "services": [], "sockets": [], "relaxed": False,
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


def _try(level: str, program: str = "") -> tuple[list[str], str]:
    """(what got through, why the level does not work at all or "")."""
    if level == confine.FULL and os.environ.get("REGREEN_NO_NAMESPACES"):
        return [], "REGREEN_NO_NAMESPACES is set"
    folder = tempfile.mkdtemp(prefix="regreen-")
    bait = _Bait(folder)
    try:
        told = _told_inside(program, bait) if level == WRAPPED else _told_by_a_fork(level, bait)
        return ([], told["refused"]) if "refused" in told else (bait.harm(told), "")
    finally:
        bait.listener.close()
        shutil.rmtree(folder, ignore_errors=True)


def _told_by_a_fork(level: str, bait: _Bait) -> dict:
    confinement = confine.Confinement(bait.plan(level))
    reader, writer = os.pipe()
    try:
        pid = confinement.fork()
    except confine.Refused as refused:
        os.close(writer)
        os.close(reader)
        return {"refused": str(refused)}
    if pid == 0:
        _as_run(confinement, bait.places, bait.user if level == confine.FULL else "", writer)
    os.close(writer)
    said = b"".join(iter(lambda: os.read(reader, 1 << 16), b""))
    os.close(reader)
    os.waitpid(pid, 0)
    return dict(json.loads(said or b'{"refused": "the trial ended without a word"}'))


def _told_inside(program: str, bait: _Bait) -> dict:
    import subprocess  # not needed where namespaces can be had

    wrap = {"readable": [], "writable": [bait.copy, bait.temp], "network": False}
    trial = {"plan": bait.plan(confine.PARTIAL, network=True), "bait": bait.places, "home": bait.copy}
    command = [*bubblewrap.wrapper(program, wrap), *bubblewrap.again("try", {"lent": [], "trial": trial})]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TRIAL_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return {"refused": "bubblewrap does not come to an end"}
    if not done.stdout:
        return {"refused": done.stderr.decode(errors="replace").strip()[-200:] or "bubblewrap does not work"}
    return dict(json.loads(done.stdout))


def _as_run(confinement: confine.Confinement, bait: dict, home: str, writer: int) -> None:
    """In the child: confine ourselves, try everything, tell; ends the process.

    Args:
        confinement: ours.
        bait: places to reach.
        home: where the copy is to be found and the network is our own; "" where that cannot be had.
        writer: where to tell.
    """
    told: dict[str, object] = {}
    try:
        confinement.settle([writer], lambda _record: None)
        confinement.enter(bait["temp"])
        if home:
            _live(home)
        if confinement.level != confine.FULL:
            told[RESOURCES] = True  # each process has its limits, all together have none
        told.update(dict.fromkeys(_attempts(bait), True))
    except (confine.Refused, OSError) as error:
        told = {"refused": str(error)}
    finally:
        os.write(writer, json.dumps(told).encode())
        os._exit(0)


def _live(home: str) -> None:
    """Do what honest tests do in their project. Raises OSError where that is not possible."""
    os.chdir(home)
    with open("which", encoding="ascii") as file:
        if file.read() != "copy":
            raise OSError("the copy is not where the project is")
    os.rename("which", "renamed")
    os.rmdir("old")
    with socket.socket() as server, socket.socket() as client:  # on a loopback that nobody else has
        server.bind(("127.0.0.1", 0))
        server.listen()
        client.connect(server.getsockname())


def _attempts(bait: dict) -> Iterator[str]:
    """Try to do harm; the names of what certainly went through."""
    for path in (*bait["marks"], bait["shared"]):
        with contextlib.suppress(OSError):
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    with contextlib.suppress(OSError):
        os.chmod(bait["file"], 0o640)
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as client:
        os.chdir(bait["outside"])
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


def _reads(bait: dict) -> bool:
    with open(bait["file"], encoding="ascii") as file:
        return file.read() == SECRET


def _network() -> str:
    """Which network this process is in."""
    return os.readlink("/proc/self/ns/net")


def _has_network(bait: dict) -> bool:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()
    return _network() == bait["network"]


def _meets(bait: dict) -> bool:
    """Whether the process that started all this can be signalled or read."""
    attempts: list[Callable[[], object]] = [
        lambda: os.kill(bait["parent"], 0),
        lambda: open("/proc/%d/environ" % bait["parent"], "rb").close(),
    ]
    for attempt in attempts:
        with contextlib.suppress(OSError):
            attempt()
            return True
    return False


def _opens_kernel(_bait: dict) -> bool:
    """Whether new namespaces, or the keys of the user, can be had."""
    from regreen_probe import kernel

    kernel.syscall(kernel.NUMBERS["unshare"], kernel.NEWUSER)
    return True
