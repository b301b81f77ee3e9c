"""Whoever is killed in the middle of a heal, and whenever: nothing of it is left, and the next heal works."""

from __future__ import annotations

import contextlib
import json
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.cli.commands import BRIEF, PLAIN, Regreen, events, tree
from tests.lsp.editor import NEOVIM, Editor, environment
from tests.oracle.world import working_in
from tests.processes import ended, left_running

from regreen.values import Outcome

CART = "def total(prices):\n    result = 0\n    for price in prices:\n        result -= price\n    return result\n"
TEST = '''\
import ctypes, os, pathlib, time

import cart

BORN = os.getpid()


def _tell():
    """Let the outside see, by the name of this process, what is being run."""
    if "== 1" + "5" not in pathlib.Path(__file__).read_text():
        name = b"rg-perturbed"
    elif os.getpid() != BORN:
        name = b"rg-hot"
    elif "-=" in pathlib.Path(cart.__file__).read_text():
        name = b"rg-plain"
    else:
        name = b"rg-patched"
    ctypes.CDLL(None).prctl(15, name)
    time.sleep(0.2)
    ctypes.CDLL(None).prctl(15, b"python")


def test_total():
    _tell()
    assert cart.total([10, 5]) == 15


def test_empty():
    assert cart.total([]) == 0
'''
STAGES = {
    "the baseline": ("rg-plain", "host"),
    "the unpatched test, cold": ("rg-plain", "run"),
    "a search": ("rg-hot", "host"),
    "a plausible candidate": ("rg-patched", "host"),
    "a perturbed test": ("rg-perturbed", "host"),
    "the proof": ("rg-patched", "run"),
}
"""Stage of a heal → the name that the test has then, and the mode of its probe."""


@dataclass
class Home:
    """A project with one bug, and all the places where something could be left."""

    base: Path
    mounts: str = field(default_factory=lambda: Path("/proc/self/mountinfo").read_text())

    def __post_init__(self) -> None:
        self.root, self.temporary = self.base / "shop", self.base / "temporary"
        self.temporary.mkdir()
        self.root.mkdir()
        config = "[tool.pytest.ini_options]\npythonpath = ['.']\n" + BRIEF.replace("30", "12")
        for name, text in (("pyproject.toml", config), ("cart.py", CART), ("test_cart.py", TEST)):
            (self.root / name).write_text(text)
        self.tree = tree(self.root)
        self.state = self.base / "regreen"

    @property
    def environment(self) -> dict[str, str]:
        return {**environment(self.state), "TMPDIR": str(self.temporary)}

    def check(self) -> None:
        """Nothing runs, is mounted or was written that should not be."""
        assert working_in(self.root, self.state) == set()
        assert Path("/proc/self/mountinfo").read_text() == self.mounts
        assert list(self.temporary.iterdir()) == []
        assert tree(self.root) == self.tree

    def check_after_the_next(self) -> None:
        """What a start tidies up after one that was killed is tidied up."""
        self.check()
        cache = self.state / "cache"
        left = [path for path in cache.rglob("*.temp") if any(path.iterdir())]
        assert [*left, *cache.rglob("fresh-*"), *cache.rglob("*.tmp")] == []


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path)
    yield home
    home.check()


def stages(process: psutil.Process) -> Iterator[tuple[str, psutil.Process]]:
    """The stages that a Regreen is in, and the test's process."""
    names = {seen: stage for stage, seen in STAGES.items()}
    for child in process.children(recursive=True):
        try:
            seen = (child.name(), child.cmdline()[4])
        except (psutil.Error, IndexError):  # it has just ended, or begun
            continue
        if seen in names:
            yield names[seen], child


def started_by(regreen: psutil.Process, descendant: psutil.Process) -> psutil.Process:
    """The zygote, or the cold process, that a test runs in."""
    return next(p for p in [descendant, *descendant.parents()] if p.ppid() == regreen.pid)


async def test_a_server_that_is_killed_at_any_stage_leaves_nothing_and_the_next_one_heals(home: Home) -> None:
    settings: dict[str, Any] = {"interpreter": str(PLAIN), "heal.maxCandidates": 12}
    for stage in (*STAGES, ""):
        editor = Editor(NEOVIM, home.environment)
        await editor.start(home.root, settings=settings)
        server = psutil.Process(editor.server.pid)
        await editor.command("heal", nodeid="test_cart.py::test_total", root=str(home.root))
        if not stage:
            await editor.fix_at(home.root / "test_cart.py", 24)
            await editor.idle()
            await editor.stop()
            break
        await editor.until(_in(stage, server))
        family = server.children(recursive=True)
        server.kill()
        await editor.server.wait()
        assert left_running(family, seconds=20) == [], stage
        await editor.stop()
        home.check()
    home.check_after_the_next()


def _in(stage: str, server: psutil.Process) -> Callable[[], bool]:
    return lambda: any(seen == stage for seen, _ in stages(server))


@pytest.mark.parametrize("victim", ["the test", "the process around it"])
def test_a_heal_whose_processes_are_killed_at_every_stage_ends_with_an_outcome(
    home: Home, victim: str
) -> None:
    regreen = Regreen(home.state, home.root)
    command = ("heal", home.root, "--json", "--interpreter", PLAIN)
    killed: set[str] = set()
    with regreen.start(*command, environment=home.environment) as heal:
        process = psutil.Process(heal.pid)
        while not ended(process):
            for stage, test in stages(process):
                if stage not in killed:
                    with contextlib.suppress(psutil.NoSuchProcess, StopIteration):  # it has just ended
                        target = test if victim == "the test" else started_by(process, test)
                        target.send_signal(signal.SIGKILL)
                        killed.add(stage)
            time.sleep(0.01)
        assert heal.stdout is not None
        said = [json.loads(line) for line in heal.stdout]
    assert {"the baseline", "the unpatched test, cold"} <= killed
    outcomes = [event["outcome"] for event in said if event["event"] == "result"]
    assert set(outcomes) <= {outcome.name for outcome in Outcome} - {Outcome.INTERNAL_ERROR.name}
    home.check()
    (result,) = events(regreen(*command, environment=home.environment), "result")
    assert result["outcome"] == "VERIFIED"
    home.check_after_the_next()
