"""Hostile code under test harms nothing but its own copy: seen from outside, as root and as an ordinary user."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from tests.hostile.harms import HARMS, Harm
from tests.probe.client import PROBE, Copy, Probe, island
from tests.probe.environments import bubblewrap, lacking

if TYPE_CHECKING:
    from typing_extensions import Self

SECRET = "regreen-secret-5d1f"
ORDINARY = 1001
USERS = ["root", "ordinary"] if os.getuid() == 0 else ["ordinary"]
MEMORY, DISK, PROCESSES = 500_000_000, 64_000_000, 64
TEST = """\
import os
class W:
{places}

def test_attack():
{code}
"""
SHARED = ("/dev/shm", "/tmp")
BY_THE_SERVER = {"left", "ended"}
"""What a partly isolated run can be kept from by the server alone; tests/oracle has the proofs."""


class World:
    """A user's machine in small: a home, a project, secrets, services, and a process that stands for the server."""

    def __init__(self, user: int | None) -> None:
        self.base = Path(tempfile.mkdtemp(prefix="regreen-hostile-"))
        self.user = user
        self.mark = self.base.name + "-mark"
        self.home, self.outside = self.base / "home", self.base / "outside"
        # Not in a place of which every run has its own; only root may make one.
        self.beside = Path(tempfile.mkdtemp(prefix="regreen-beside-", dir="/" if os.getuid() == 0 else None))
        for path, text in (
            (self.home / ".ssh/id_rsa", SECRET),
            (self.home / ".bashrc", ""),
            (self.outside / ".env", SECRET),
            (self.beside / "notes", SECRET),
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(0o600)
        self.python, self.lent, self.package = _interpreter(self.base)
        self.packages = self.lent
        (self.base / "inherited").touch()
        self.calls: list[str] = []
        self._listen()
        self.copy: Copy

    def _listen(self) -> None:
        self.tcp, self.udp = socket.socket(), socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        self.tcp.bind(("0.0.0.0", 0))
        self.udp.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        self.udp.bind(("::", 0))
        self.door, self.abstract = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        self.door.bind(str(self.outside / "door"))
        self.abstract.bind("\0" + self.mark)
        for server in (self.tcp, self.door, self.abstract):
            server.listen()
        self.servers = (self.tcp, self.udp, self.door, self.abstract)
        for server in self.servers:
            threading.Thread(target=self._take, args=(server,), daemon=True).start()

    def _take(self, server: socket.socket) -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                if server is self.udp:
                    server.recv(1)
                else:
                    server.accept()[0].close()
                self.calls.append(str(server))

    def __enter__(self) -> Self:
        return self

    def prepare(self, harm: Harm) -> None:
        """Lay out the project with the attack in it, and start the victim."""
        self.copy = Copy(self.base / harm.name.replace(" ", "-"), {"pytest.ini": "[pytest]\naddopts = -s\n"})
        if self.user is not None:
            for path in (self.base, *self.base.rglob("*"), self.beside, self.beside / "notes"):
                os.chown(path, self.user, self.user, follow_symlinks=False)
        self.victim = subprocess.Popen(
            ["sleep", "600"], env={"OPENAI_API_KEY": SECRET}, **self._who(), start_new_session=True
        )
        addresses = [
            a.address for every in psutil.net_if_addrs().values() for a in every if a.family == socket.AF_INET
        ]
        places = {
            "home": str(self.home), "user": str(self.copy.user), "outside": str(self.outside), "mark": self.mark,
            "beside": str(self.beside),
            "packages": str(self.packages), "victim": self.victim.pid, "tcp": self.tcp.getsockname()[1],
            "udp": self.udp.getsockname()[1], "door": str(self.outside / "door"), "addresses": addresses,
            "inherited": "inherited",
        }  # fmt: skip
        lines = "".join(f"    {name} = {value!r}\n" for name, value in places.items())
        code = "".join(f"    {line}\n" for line in harm.code.splitlines())
        (self.copy.root / "calc.py").write_text("")
        (self.copy.user / "calc.py").write_text("good")
        (self.copy.root / "test_it.py").write_text(TEST.format(places=lines, code=code))
        for path in (self.copy.root / "calc.py", self.copy.root / "test_it.py", self.copy.user / "calc.py"):
            if self.user is not None:
                os.chown(path, self.user, self.user)

    def _who(self) -> dict[str, Any]:
        return {} if self.user is None else {"user": self.user, "group": self.user, "extra_groups": []}

    def picture(self) -> dict[str, tuple[object, ...]]:
        """All that is the user's, with content, mode and times; and marks in places that all share."""
        seen: dict[str, tuple[object, ...]] = {}
        for top in (self.home, self.outside, self.copy.user, self.packages):
            for path in sorted(top.rglob("*")):
                status = path.lstat()
                text = path.read_bytes() if path.is_file() and path.suffix not in {".py", ".pyc"} else b""
                if "__pycache__" not in path.parts:
                    moment = 0 if path.is_dir() else status.st_mtime_ns
                    seen[str(path)] = (text, status.st_mode, moment, 0 if path.is_dir() else status.st_nlink)
        for place in SHARED:
            seen[place] = (Path(place, self.mark).is_file(),)
        return seen

    def wrap(self) -> dict[str, Any]:
        """The option of a host that is to move into bubblewrap."""
        user = str(self.copy.user)
        return {
            "project": user,
            "readable": [user],
            "writable": [str(self.copy.temp.parent)],
            "network": False,
        }

    def attack(self, harm: Harm, level: str, *, inside: bool = False) -> bool:
        """Run an attack; whether it did harm.

        Args:
            harm: what is tried.
            level: of the confinement.
            inside: bubblewrap.
        """
        self.prepare(harm)
        before = self.picture()
        fields = self.copy.full() if level == "full" else {}
        plan = self.copy.confine(
            level=level, network=inside, memory=MEMORY, disk=DISK, file=DISK, processes=PROCESSES
        )
        inherited = os.open(self.base / "inherited", os.O_RDWR)
        os.set_inheritable(inherited, True)
        environment = {
            "HOME": str(self.home),
            "TMPDIR": None,
            "OPENAI_API_KEY": None,
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        if inside:
            environment["REGREEN_NO_NAMESPACES"] = "1"
            environment["PATH"] = f"{_bubblewrap(self.base)}{os.pathsep}{os.environ['PATH']}"
        with Probe(
            self.python,
            "host",
            environment,
            [self.lent],
            package=self.package,
            wrap=self.wrap() if inside else None,
            pass_fds=[inherited],
            **self._who(),
        ) as probe:
            os.close(inherited)
            if level != "none" and probe.hello["isolation"]["level"] == "none":
                lacking("any confinement: " + probe.hello["isolation"]["why"])
            if level == "full" and probe.hello["isolation"]["level"] != "full":
                lacking("full isolation: " + probe.hello["isolation"]["why"])
            assert bool(probe.hello["isolation"]["wrapper"]) is inside, probe.hello["isolation"]["why"]
            number = probe.begin(self.copy, **{**fields, "confine": plan})
            records = probe.until(number, lambda r: r["ev"] in {"begin", "ended"})
            if harm.sign == "ended":
                time.sleep(0.5)
                probe.send({"op": "kill", "id": number})
            records += probe.until(number, lambda r: r["ev"] == "ended")
            assert "begin" in [r["ev"] for r in records], (records, probe.stderr)
            (started,) = [r for r in records if r["ev"] == "started"]
            assert started["isolation"] == level
            time.sleep(0.2 if harm.sign == "call" else 0.0)
            left = self._left() if harm.sign == "left" else False
        return self._harmed(harm, before, probe.stderr.decode(errors="replace")) or left

    def _left(self) -> bool:
        time.sleep(0.3)
        found = [
            p for p in psutil.process_iter(["cmdline"]) if self.mark in " ".join(p.info["cmdline"] or [])
        ]
        lives = [p for p in found if "sleep 62" in " ".join(p.info["cmdline"])]
        for process in lives:
            process.kill()
        return bool(lives)

    def _harmed(self, harm: Harm, before: object, said: str) -> bool:
        last = {word: int(number) for word, number in re.findall(r"(made|wrote) (\d+)", said)}
        dead = self.victim.poll() is not None
        self.victim.kill()
        self.victim.wait()
        return {
            "files": self.picture() != before,
            "secret": SECRET in said,
            "call": bool(self.calls),
            "victim": dead,
            "opened": "opened" in said,
            "many": last.get("made", 0) >= 500,
            "memory": "survived" in said,
            "disk": last.get("wrote", 0) * 1_000_000 > 1.1 * DISK,
            "left": False,
            "ended": False,
        }[harm.sign]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for server in self.servers:
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            server.close()
        for place in SHARED:
            Path(place, self.mark).unlink(missing_ok=True)
        shutil.rmtree(self.base, ignore_errors=True)
        shutil.rmtree(self.beside, ignore_errors=True)


@pytest.fixture(scope="session", params=USERS)
def user(request: pytest.FixtureRequest) -> int | None:
    """Who runs the tests; None for ourselves."""
    return ORDINARY if request.param == "ordinary" and os.getuid() == 0 else None


@pytest.fixture
def world(user: int | None) -> Iterator[World]:
    with World(user) as world:
        yield world


def _interpreter(base: Path) -> tuple[Path, Path, Path]:
    """An interpreter that everyone may start, a folder with pytest for it, and the probe."""
    lent, package = base / "lent" / "site-packages", base / "probe"
    shutil.copytree(PROBE, package, ignore=shutil.ignore_patterns("__pycache__"))
    source = Path(pytest.__file__).parents[1]
    lent.mkdir(parents=True)
    for name in (
        "pytest",
        "_pytest",
        "pluggy",
        "iniconfig",
        "packaging",
        "pygments",
        "exceptiongroup",
        "tomli",
    ):
        if (source / name).is_dir():
            shutil.copytree(source / name, lent / name, ignore=shutil.ignore_patterns("__pycache__"))
    if (source / "py.py").exists():
        shutil.copy(source / "py.py", lent)
    base.chmod(0o755)
    return _base_python(), lent, package


def _bubblewrap(base: Path) -> Path:
    """The folder of a bwrap that everyone may start."""
    program = (bubblewrap() / "bwrap").resolve()
    if _open_to_all(program):
        return program.parent
    package, copied = program.parents[1], base / "bubblewrap"
    for folder in (package, package.with_name(package.name + ".libs")):
        shutil.copytree(folder, copied / folder.name, dirs_exist_ok=True)
    return copied / package.name / program.parent.name


def _open_to_all(path: Path) -> bool:
    return all(parent.stat().st_mode & 0o005 == 0o005 for parent in (path, *path.parents))


_copied: list[Path] = []


def _base_python() -> Path:
    """Our interpreter without its environment; a copy of it where others may not enter its folder."""
    real = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    if os.getuid() != 0 or _open_to_all(real):
        return real
    if not _copied:
        prefix = Path(tempfile.mkdtemp(prefix="regreen-python-"))
        prefix.chmod(0o755)
        _copied.append(prefix)
        library = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}"
        unwanted = shutil.ignore_patterns(
            "test", "tests", "site-packages", "__pycache__", "idlelib", "ensurepip", "config-*"
        )
        shutil.copytree(Path(sys.base_prefix, library), prefix / library, ignore=unwanted)
        (prefix / "bin").mkdir()
        shutil.copy(real, prefix / "bin/python3")
        for shared in Path(sys.base_prefix, "lib").glob("libpython*.so*"):
            shutil.copy(shared, prefix / "lib")
    return _copied[0] / "bin/python3"


@pytest.fixture(scope="session", autouse=True)
def _no_copied_interpreter() -> Iterator[None]:
    yield
    for prefix in _copied:
        shutil.rmtree(prefix, ignore_errors=True)


@functools.cache
def leaks_of(level: str) -> list[str]:
    """What the probe says of a level."""
    program = str(bubblewrap() / "bwrap") if level == "wrapped" else ""
    leaks, why = island("effects")._try(level, program)
    assert why == ""
    return list(leaks)


@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.name)
def test_nothing_gets_through_full_isolation(world: World, harm: Harm) -> None:
    assert world.attack(harm, "full") is False


@pytest.mark.parametrize(
    "harm", [h for h in HARMS if h.sign not in BY_THE_SERVER], ids=lambda harm: harm.name
)
def test_partial_isolation_lets_through_just_what_it_says(world: World, harm: Harm) -> None:
    assert world.attack(harm, "partial") is (harm.leak in leaks_of("partial"))


@pytest.mark.parametrize(
    "harm", [h for h in HARMS if h.sign not in BY_THE_SERVER], ids=lambda harm: harm.name
)
def test_a_host_inside_bubblewrap_lets_through_just_what_it_says(world: World, harm: Harm) -> None:
    leaks = leaks_of("wrapped")
    assert leaks == ["resources"]
    assert world.attack(harm, "partial", inside=True) is (harm.leak in leaks)


@pytest.mark.parametrize(
    "harm", [h for h in HARMS if h.unconfined and h.sign != "ended"], ids=lambda harm: harm.name
)
def test_every_attack_does_harm_where_nothing_confines_it(harm: Harm) -> None:
    with World(None) as world:
        assert world.attack(harm, "none") is True
