"""The zygote imports once what every run needs, and nothing that could hurt or mislead a later run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from tests.processes import left_running

from .client import LIMIT, Copy, Probe

# `held` tells which modules a run finds imported before anything of the project is.
FILES = {
    "conftest.py": "import sys\nHELD = frozenset(sys.modules)\n",
    "shop.py": "import wave\n",
    "test_it.py": (
        "import shop\n"
        "def test_it():\n"
        "    from conftest import HELD\n"
        "    print(sorted(n for n in ('wave', 'threaded', 'raising', 'pulling', 'plugin', 'shop') if n in HELD))\n"
        "    assert False\n"
    ),
}


@pytest.fixture
def extra(tmp_path: Path) -> Path:
    """A folder of third-party modules."""
    folder = tmp_path / "extra"
    folder.mkdir()
    (folder / "threaded.py").write_text(
        "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"
    )
    (folder / "hanging.py").write_text("import time\ntime.sleep(1000)\n")
    (folder / "raising.py").write_text("raise SystemExit(3)\n")
    (folder / "plugin.py").write_text("")
    (folder / "pulling.py").write_text("import plugin\n")
    return folder


@pytest.fixture
def zygote(python: Path, extra: Path) -> Iterator[Probe]:
    with Probe(python, env={"PYTHONPATH": str(extra)}) as probe:
        yield probe


def held(probe: Probe, copy: Copy) -> str:
    return str(probe.run(copy, details=True).failure("test_it")["output"])


def held_at_last(probe: Probe, copy: Copy) -> str:
    """What is held once something is: runs do not wait for it."""
    deadline = time.monotonic() + LIMIT
    while "[]" in (output := held(probe, copy)):
        assert time.monotonic() < deadline
    return output


def test_a_run_tells_what_it_imported_but_not_the_projects_own_modules(host: Probe, copied: Copy) -> None:
    told = host.run(copied).one("finished")["preload"]
    assert "wave" in told["modules"]
    assert not {"shop", "test_it", "conftest"} & set(told["modules"])
    assert {"shop", "test_it"} <= set(told["never"])


def test_what_is_preloaded_is_there_before_the_project_is(zygote: Probe, copied: Copy) -> None:
    assert "wave" not in held(zygote, copied)
    zygote.send({"op": "preload", "modules": ["wave"], "never": [], "env": {}})
    assert "['wave']" in held_at_last(zygote, copied)


@pytest.mark.parametrize("bad", ["threaded", "raising", "pulling", "no_such_module"])
def test_what_turns_out_badly_is_left_out_and_the_rest_is_kept(zygote: Probe, copied: Copy, bad: str) -> None:
    zygote.send({"op": "preload", "modules": [bad, "wave"], "never": ["plugin"], "env": {}})
    assert "['wave']" in held_at_last(zygote, copied)


def test_a_trial_that_hangs_holds_up_no_run_and_ends_with_the_host(zygote: Probe, copied: Copy) -> None:
    zygote.send({"op": "preload", "modules": ["hanging"], "never": [], "env": {}})
    assert "[]" in held(zygote, copied)
    processes = psutil.Process(zygote.process.pid).children()
    assert processes
    zygote.close_input()
    assert left_running(processes) == []
