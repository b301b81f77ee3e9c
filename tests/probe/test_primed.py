"""A run that is forked where pytest's plug-ins are loaded already says what a run of its own says."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from .client import LIMIT, Copy, Probe, Ran, probe
from .environments import lacking

TEST = """\
import pytest

def test_green(request):
    assert request.config.rootpath.name == "shop"

def test_red(tmp_path):
    assert str(tmp_path) == 1

def check_other():
    pass
"""
PROJECTS: dict[str, dict[str, str]] = {
    "no options": {"test_it.py": TEST},
    "options beside the tests": {
        "pytest.ini": "[pytest]\naddopts = -q\n",
        "tests/pytest.ini": "[pytest]\npython_functions = check_*\n",
        "tests/test_it.py": TEST,
    },
    "options that choose": {
        "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-k green tests/a -p no:cacheprovider'\n",
        "tests/a/test_it.py": TEST,
        "tests/b/test_more.py": TEST,
    },
    "test paths": {"tox.ini": "[pytest]\ntestpaths = tests/a\n", "tests/a/test_it.py": TEST, "test_no.py": TEST},
    "a conftest with options, fixtures and a plug-in": {
        "conftest.py": (
            "import pytest\n"
            "pytest_plugins = ['helper']\n"
            "def pytest_addoption(parser): parser.addoption('--level', default='7')\n"
            "@pytest.fixture\n"
            "def level(request): return request.config.getoption('--level')\n"
        ),
        "helper.py": "import pytest\n@pytest.fixture\ndef helped(level): return level * 2\n",
        "test_it.py": "def test_it(helped): assert helped == '77'\ndef test_no(helped): assert helped == '7'\n",
    },
    "a conftest that raises": {"conftest.py": "1 / 0\n", "test_it.py": TEST},
    "a syntax error": {"test_it.py": "def test_it(:\n"},
    "captured output": {"test_it.py": "import sys\ndef test_it():\n    print('out')\n    sys.stderr.write('err')\n    assert 0\n"},
    "strict": {"setup.cfg": "[tool:pytest]\nfilterwarnings = error\naddopts = --strict-markers\n", "test_it.py": TEST},
}  # fmt: skip


def told(ran: Ran) -> list[dict[str, Any]]:
    """What a run says, without what differs from run to run."""
    left_out = {"id", "seconds", "pid", "preload", "loaded"}
    return [{k: v for k, v in record.items() if k not in left_out} for record in ran.records]


class Priming:
    """A zygote and a project in it.

    Args:
        started: the zygote.
        copy: of the project.
        more: of its confinement.
    """

    def __init__(self, started: Probe, copy: Copy, **more: Any) -> None:
        if started.hello["isolation"]["level"] != "full":
            lacking("full isolation: " + started.hello["isolation"]["why"])
        self.probe, self.copy, self.more = started, copy, more

    def run(self, *args: str, **fields: Any) -> Ran:
        return self.probe.run(self.copy, *args, **self.copy.full(**self.more), **fields)

    def write(self, name: str, text: str, *, user: bool = True) -> None:
        """Change a file of the copy, and of the user's project."""
        for root in (self.copy.root, self.copy.user)[: 1 + user]:
            (root / name).write_text(text)

    def process(self) -> psutil.Process | None:
        """The primed process, or what is to become it; no run is going on."""
        children = psutil.Process(self.probe.process.pid).children()
        return children[0] if children else None

    def is_used(self, *args: str) -> bool:
        """Whether a run was seen to be a fork of it."""
        number = self.probe.begin(self.copy, *args, **self.copy.full(**self.more))
        started = self.probe.until(number, lambda r: r["ev"] == "started")[-1]
        try:
            above = [process.pid for process in psutil.Process(started["pid"]).parents()]
        except psutil.NoSuchProcess:
            above = []
        self.probe.until(number, lambda r: r["ev"] == "ended")
        return self.probe.process.pid in above and above.index(self.probe.process.pid) == 1

    def wait(self, *args: str) -> None:
        """Until runs with these arguments are forks of it."""
        deadline = time.monotonic() + LIMIT
        while not self.is_used(*args):
            assert time.monotonic() < deadline, "no process was primed"


@pytest.fixture
def zygote(python: Path) -> Iterator[Probe]:
    with probe(python) as started:
        yield started


@pytest.mark.parametrize("project", PROJECTS)
def test_it_says_the_same(zygote: Probe, tmp_path: Path, project: str) -> None:
    priming = Priming(zygote, Copy(tmp_path, PROJECTS[project]))
    args = ["tests"] if (priming.copy.root / "tests").is_dir() else []
    own = priming.run(*args, spectrum=True)
    priming.wait(*args)
    forked = priming.run(*args, spectrum=True)
    assert priming.is_used(*args)
    assert told(forked) == told(own)


def test_every_python_can_do_it(every_python: Path, tmp_path: Path) -> None:
    with probe(every_python) as started:
        priming = Priming(
            started, Copy(tmp_path, PROJECTS["a conftest with options, fixtures and a plug-in"])
        )
        own = priming.run()
        priming.wait()
        assert told(priming.run()) == told(own)


def test_each_run_has_its_own_tests_and_changes(zygote: Probe, tmp_path: Path) -> None:
    priming = Priming(zygote, Copy(tmp_path, {"test_it.py": TEST, "test_more.py": TEST}))
    priming.run("test_it.py")
    priming.wait("test_it.py")
    assert set(priming.run("test_it.py::test_red").tests) == {"test_it.py::test_red"}
    assert set(priming.run("test_more.py::test_green", "test_it.py::test_red").tests) == {
        "test_more.py::test_green",
        "test_it.py::test_red",
    }
    priming.write("test_more.py", "def test_new(): pass\n", user=False)
    assert set(priming.run("test_more.py").tests) == {"test_more.py::test_new"}


@pytest.mark.parametrize("user", [True, False], ids=["saved", "only in the copy"])
def test_options_that_change_are_in_force_at_once(zygote: Probe, tmp_path: Path, *, user: bool) -> None:
    priming = Priming(zygote, Copy(tmp_path, {"test_it.py": TEST, "pytest.ini": "[pytest]\n"}))
    priming.run()
    priming.wait()
    priming.write("pytest.ini", "[pytest]\npython_functions = check_*\n", user=user)
    for _ in range(3):
        assert set(priming.run().tests) == {"test_it.py::check_other"}


CHECKS = "[tool.pytest.ini_options]\npython_functions = 'check_*'\n"
"""Options by which other functions are tests."""


def test_options_of_a_repository_are_in_force_for_a_project_inside(zygote: Probe, tmp_path: Path) -> None:
    copy = Copy(tmp_path, {"tests/test_it.py": TEST})
    above = copy.user.parent / "pyproject.toml"
    priming = Priming(zygote, copy, readable=[str(above.parent)])
    above.write_text(CHECKS)
    own = priming.run("tests", spectrum=True)
    assert own.outcomes == {"check_other": "passed"}
    priming.wait("tests")
    assert told(priming.run("tests", spectrum=True)) == told(own)
    above.write_text("[tool.ruff]\n")
    assert priming.run("tests").outcomes == {"test_green": "passed", "test_red": "failed"}
    priming.wait("tests")
    assert priming.run("tests").outcomes == {"test_green": "passed", "test_red": "failed"}
    above.with_name("pytest.ini").write_text("[pytest]\npython_functions = check_*\n")
    assert priming.run("tests").outcomes == {"check_other": "passed"}


def test_options_above_that_runs_do_not_see_keep_all_from_being_primed(zygote: Probe, tmp_path: Path) -> None:
    copy = Copy(tmp_path, {"test_it.py": TEST})
    (copy.user.parent / "pyproject.toml").write_text(CHECKS)
    priming = Priming(zygote, copy)
    for _ in range(3):
        assert not priming.is_used()
        assert priming.run().outcomes == {"test_green": "passed", "test_red": "failed"}
        assert priming.process() is None


def test_nothing_of_the_project_is_imported_in_it(zygote: Probe, tmp_path: Path) -> None:
    mark = tmp_path / "imported"
    harmful = f"open({str(mark)!r}, 'w').close()\n"
    options = "[pytest]\naddopts = -p mine\n"
    files = {"pytest.ini": options, "mine.py": harmful, "test_it.py": TEST}
    priming = Priming(zygote, Copy(tmp_path, files))
    for _ in range(4):
        ran = priming.run("test_it.py")
        assert ran.outcomes["test_green"] == "passed"
        time.sleep(0.2)
    assert priming.process() is None
    assert not mark.exists()


def test_plug_ins_that_start_threads_are_loaded_by_each_run(python: Path, tmp_path: Path) -> None:
    extra = tmp_path / "extra"
    extra.mkdir()
    (extra / "threaded.py").write_text(
        "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"
    )
    with probe(python, PYTHONPATH=str(extra), PYTEST_PLUGINS="threaded") as started:
        priming = Priming(started, Copy(tmp_path, {"test_it.py": TEST}), readable=[str(extra)])
        for _ in range(3):
            ran = priming.run()
            assert ran.outcomes == {"test_green": "passed", "test_red": "failed"}
            time.sleep(0.3)
        assert priming.process() is None


def test_one_that_was_killed_is_replaced_and_none_is_left(python: Path, tmp_path: Path) -> None:
    with probe(python) as started:
        priming = Priming(started, Copy(tmp_path, {"test_it.py": TEST}))
        priming.run()
        priming.wait()
        first = priming.process()
        assert first is not None
        first.kill()
        assert priming.run().outcomes == {"test_green": "passed", "test_red": "failed"}
        priming.wait()
        second = priming.process()
        assert second is not None
        assert second.pid != first.pid
    assert not second.is_running()


def test_a_run_can_be_ended_and_asked_where_it_is(zygote: Probe, tmp_path: Path) -> None:
    files = {"test_it.py": "import os, time\ndef test_it():\n    if os.path.exists('nap'): time.sleep(60)\n"}
    priming = Priming(zygote, Copy(tmp_path, files))
    priming.run()
    priming.wait()
    (priming.copy.root / "nap").touch()
    number = zygote.begin(priming.copy, **priming.copy.full())
    zygote.until(number, lambda r: r["ev"] == "begin")
    time.sleep(0.2)
    zygote.send({"op": "dump", "id": number})
    stack = zygote.until(number, lambda r: r["ev"] == "stack")[-1]
    assert stack["nodeid"] == "test_it.py::test_it"
    zygote.send({"op": "kill", "id": number})
    assert zygote.until(number, lambda r: r["ev"] == "ended")[-1]["signal"] == 9


def test_a_plug_in_that_is_edited_is_loaded_anew(python: Path, tmp_path: Path) -> None:
    extra = tmp_path / "extra"
    extra.mkdir()
    plug_in = "import pytest\n\n@pytest.fixture\ndef answer():\n    return %d\n"
    (extra / "answering.py").write_text(plug_in % 1)
    test = "def test_it(answer):\n    assert answer == 1\n"
    with probe(python, PYTHONPATH=str(extra), PYTEST_PLUGINS="answering") as started:
        priming = Priming(started, Copy(tmp_path, {"test_it.py": test}), readable=[str(extra)])
        assert priming.run().outcomes == {"test_it": "passed"}
        priming.wait()
        (extra / "answering.py").write_text(plug_in % 42)
        started.send({"op": "check", "id": 999})
        assert priming.run().outcomes == {"test_it": "failed"}
        priming.wait()
        assert priming.run().outcomes == {"test_it": "failed"}
