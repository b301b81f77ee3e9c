"""A process that waits for runs knows whether what it holds is still what is on the disk."""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .client import Copy, Probe, island, probe

FILES = {
    "conftest.py": "import sys\nHELD = frozenset(sys.modules)\n",
    "test_it.py": (
        "import os\n"
        "def test_it():\n"
        "    from conftest import HELD\n"
        "    print(sorted({'pytest', 'wave', 'colorsys'} & HELD), os.environ.get('STAGE'))\n"
        "    assert False\n"
    ),
}


@pytest.fixture
def waiting(python: Path) -> Iterator[Probe]:
    ahead = {"modules": ["wave", "no_such_module"], "never": [], "env": {"STAGE": "ahead"}}
    with Probe(python, "wait", ahead=ahead) as started:
        yield started


def test_a_process_that_waits_holds_what_it_was_told_to_and_does_one_run(
    waiting: Probe, copied: Copy
) -> None:
    assert waiting.hello["bad"] == "no_such_module"
    assert waiting.check()["changed"] == ""
    ran = waiting.run(copied)
    assert ran.failure("test_it")["output"] == "['pytest', 'wave'] ahead\n"
    assert ran.one("ended")["code"] == 0
    assert waiting.process.wait(10) == 0


def test_a_process_that_waits_ends_with_the_server(waiting: Probe) -> None:
    waiting.close_input()
    assert waiting.process.wait(10) == 0


@pytest.mark.parametrize("mode", ["host", "wait"])
def test_it_tells_how_much_memory_it_takes(python: Path, mode: str) -> None:
    with probe(python, mode) as started:
        told = started.check()
        rss = int(Path(f"/proc/{started.process.pid}/statm").read_text().split()[1]) * os.sysconf(
            "SC_PAGE_SIZE"
        )
        assert told["changed"] == ""
        assert abs(told["memory"] - rss) < 5_000_000


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages on the import path, of which one is imported."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "one.py").write_text("A = 1\n")
    (folder / "two.py").write_text("A = 1\n")
    (folder / "one-1.0.dist-info").mkdir()
    (folder / "one.pth").write_text("# nothing\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    one = types.ModuleType("one")
    one.__file__ = str(folder / "one.py")
    monkeypatch.setitem(sys.modules, "one", one)
    return folder


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "nothing": (str, ""),
    "a module that is held": (lambda folder: (folder / "one.py").write_text("A = 22\n"), "one.py"),
    "one that is held goes": (lambda folder: (folder / "one.py").unlink(), "."),
    "a module that is not held": (lambda folder: (folder / "two.py").write_text("A = 22\n"), ""),
    "compiled files": (lambda folder: (folder / "__pycache__").mkdir(), ""),
    "a new package": (lambda folder: (folder / "three").mkdir(), "."),
    "a package that is gone": (lambda folder: (folder / "two.py").unlink(), "."),
    "the same version once more": (lambda folder: os.utime(folder / "one-1.0.dist-info"), "."),
    "a path file": (lambda folder: (folder / "one.pth").write_text("/elsewhere\n"), "."),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_noticed_if_it_can_matter(packages: Path, change: str) -> None:
    held = island("held").Held()
    act, where = CHANGES[change]
    act(packages)
    assert held.changed() == (where and os.path.normpath(packages / where))


def test_what_is_imported_later_counts_from_then_on(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = island("held").Held()
    two = types.ModuleType("two")
    two.__file__ = str(packages / "two.py")
    monkeypatch.setitem(sys.modules, "two", two)
    held.note()
    (packages / "two.py").write_text("A = 22\n")
    assert held.changed() == str(packages / "two.py")


def test_looking_imports_no_lazy_module(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Lazy(types.ModuleType):
        def __getattribute__(self, name: str) -> object:
            raise AssertionError(name)

    monkeypatch.setitem(sys.modules, "lazy", Lazy("lazy"))
    assert island("held").Held().changed() == ""
