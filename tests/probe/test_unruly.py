"""Whatever tests do to their process, the records come through and nothing stays behind."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import psutil
import pytest
from tests.processes import left_running

from .client import LIMIT, Copy, Probe, Record, probe

FILES = {
    "shop.py": (
        "import time\n"
        "def forever():\n"
        "    count = 0\n"
        "    while True:\n"
        "        count += 1\n"
        "        time.sleep(0.01)\n"
        "def unused():\n"
        "    return 1\n"
    ),
    "test_unruly.py": (
        "import os, sys, subprocess, threading, time, signal\n"
        "import shop\n"
        "def test_chdir(tmp_path): os.chdir(str(tmp_path))\n"
        "def test_prints():\n"
        '    os.write(1, b\'{"ev": "test", "nodeid": "fake"}\\n\')\n'
        '    print(\'{"ev": "finished"}\')\n'
        "    subprocess.run([sys.executable, '-c', 'print(1)'], check=True)\n"
        "def test_stdin(): assert os.read(0, 10) == b''\n"
        "def test_threads():\n"
        "    threading.Thread(target=time.sleep, args=(1000,)).start()\n"
        "def test_forks():\n"
        "    if os.fork() == 0:\n"
        "        return\n"
        "    os.wait()\n"
        "def test_last(): pass\n"
    ),
    "closing.py": (
        "import os\ndef test_closes():\n    for fd in (0, 1, 2): os.close(fd)\ndef test_after(): pass\n"
    ),
    "exiting.py": "import os\ndef test_before(): pass\ndef test_exits(): os._exit(0)\ndef test_after(): pass\n",
    "aborting.py": "import os\ndef test_aborts(): os.abort()\n",
    "quitting.py": (
        "import sys, pytest\n"
        "def test_system_exit(): sys.exit(3)\n"
        "def test_interrupt(): raise KeyboardInterrupt\n"
        "def test_after(): pass\n"
    ),
    "pytest_exit.py": "import pytest\ndef test_exit(): pytest.exit('enough')\ndef test_after(): pass\n",
    "importing.py": "import sys\nsys.exit(0)\n",
    "hanging.py": (
        "import subprocess, sys, time, shop\n"
        "def test_quick(): pass\n"
        "def test_hangs():\n"
        "    subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)'])\n"
        "    shop.forever()\n"
        "def test_after(): pass\n"
    ),
}


@pytest.mark.parametrize("mode", ["host", "run"])
def test_a_suite_that_misbehaves_is_told_whole(python: Path, copied: Copy, mode: str) -> None:
    with probe(python, mode) as started:
        ran = started.run(copied)

    assert set(ran.outcomes.values()) == {"passed"}
    assert len(ran.of("test")) == len(ran.of("begin")) == 6
    assert ran.one("finished")["exit"] == 0
    assert ran.one("ended")["code"] == 0


def test_closing_the_standard_descriptors_does_not_cut_the_records(host: Probe, copied: Copy) -> None:
    assert host.run(copied, "closing.py").outcomes["test_closes"] in ("passed", "failed", "error")


@pytest.mark.parametrize("mode", ["host", "run"])
@pytest.mark.parametrize(
    ("file", "code", "number"), [("exiting.py", 0, None), ("aborting.py", None, signal.SIGABRT)]
)
def test_an_end_inside_a_test_is_seen_as_one(
    python: Path, copied: Copy, mode: str, file: str, code: int | None, number: int | None
) -> None:
    with probe(python, mode) as started:
        ran = started.run(copied, file)

    assert not ran.of("finished")
    last = ran.of("begin")[-1]["nodeid"]
    assert last.endswith(("::test_exits", "::test_aborts"))
    assert last not in ran.tests
    assert ran.one("ended") == {"id": 1, "ev": "ended", "code": code, "signal": number}


def test_leaving_exceptions_are_failures(host: Probe, copied: Copy) -> None:
    ran = host.run(copied, "quitting.py")
    assert ran.failure("test_system_exit")["exception"] == "SystemExit"
    assert ran.failure("test_interrupt")["exception"] == "KeyboardInterrupt"
    assert ran.failure("test_interrupt")["frames"][-1]["line"] == 3
    assert "Exit" in host.run(copied, "pytest_exit.py").failure("test_exit")["exception"]
    (error,) = host.run(copied, "importing.py").of("collect_error")
    assert error["failure"]["exception"] == "SystemExit"


@pytest.mark.parametrize("mode", ["host", "run"])
def test_a_hanging_run_says_where_it_is_and_what_it_executed(python: Path, copied: Copy, mode: str) -> None:
    with probe(python, mode) as started:
        number = started.begin(copied, "hanging.py", spectrum=True)
        started.until(number, lambda r: r["ev"] == "begin" and r["nodeid"].endswith("test_hangs"))
        stack: Record = {"lines": {}}
        while 6 not in stack["lines"].get(str(copied.root / "shop.py"), ()):  # the last line of the loop
            started.send({"op": "dump", "id": number})
            stack = started.until(number, lambda r: r["ev"] == "stack")[-1]

    assert stack["nodeid"] == "hanging.py::test_hangs"
    assert [f["function"] for f in stack["frames"] if f["own"]] == ["test_hangs", "forever"]
    assert stack["frames"][-1]["locals"][0][:2] == ["count", "int"]
    assert stack["lines"] == {str(copied.root / "shop.py"): [3, 4, 5, 6]}


def _tree(probe: Probe) -> list[psutil.Process]:
    return psutil.Process(probe.process.pid).children(recursive=True)


def _hang(probe: Probe, copied: Copy) -> tuple[int, list[psutil.Process]]:
    """A run that hangs, with a process of its own below it; the run's number and its processes."""
    number = probe.begin(copied, "hanging.py")
    probe.until(number, lambda r: r["ev"] == "begin" and r["nodeid"].endswith("test_hangs"))
    wanted = 2 if probe.mode == "host" else 1
    deadline = time.monotonic() + LIMIT
    while len(processes := _tree(probe)) < wanted:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return number, processes


def test_kill_ends_a_run_with_all_it_started_and_no_other(host: Probe, copied: Copy) -> None:
    first, processes = _hang(host, copied)
    host.send({"op": "kill", "id": first})
    ended = host.until(first, lambda r: r["ev"] == "ended")[-1]

    assert (ended["code"], ended["signal"]) == (None, signal.SIGKILL)
    assert left_running(processes) == []
    assert host.run(copied, "test_unruly.py::test_last").outcomes == {"test_last": "passed"}


@pytest.mark.parametrize("how", ["end of input", "stop"])
def test_when_the_server_goes_the_host_and_all_runs_go(python: Path, copied: Copy, how: str) -> None:
    with probe(python) as started:
        _, processes = _hang(started, copied)
        if how == "stop":
            started.send({"op": "stop"})
        else:
            started.close_input()
        assert started.process.wait(LIMIT) == 0
        assert left_running(processes) == []


def test_a_cold_run_ends_with_its_server(python: Path, copied: Copy) -> None:
    with probe(python, "run") as started:
        _, processes = _hang(started, copied)
        started.close_input()
        assert started.process.wait(LIMIT) == -signal.SIGKILL
        assert left_running(processes) == []


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="the kernel ends orphans on Linux only")
def test_a_run_dies_with_a_zygote_that_was_killed(python: Path, copied: Copy) -> None:
    with probe(python) as started:
        _, processes = _hang(started, copied)
        runs = [p for p in processes if p.ppid() == started.process.pid]
        started.process.kill()
        assert left_running(runs) == []
        for process in processes:
            if process.is_running():
                process.kill()  # what the run started is for the server to find


def test_temporary_files_go_to_the_folder_of_the_run(host: Probe, tmp_path: Path) -> None:
    copy = Copy(
        tmp_path,
        {
            "test_it.py": (
                "import tempfile, os\n"
                "def test_temp(tmp_path):\n"
                "    for place in (tempfile.mkdtemp(), str(tmp_path)):\n"
                "        assert place.startswith(os.environ['TMPDIR'])\n"
            )
        },
    )
    assert host.run(copy).outcomes == {"test_temp": "passed"}
    assert list(copy.temp.iterdir())


def test_the_environment_is_what_the_request_says(host: Probe, tmp_path: Path) -> None:
    copy = Copy(
        tmp_path,
        {
            "test_it.py": (
                "import os\n"
                "def test_env():\n"
                "    assert os.environ['STAGE'] == 'test' and 'HOME' not in os.environ\n"
            )
        },
    )
    assert host.run(copy, env={"STAGE": "test", "HOME": None}).outcomes == {"test_env": "passed"}
