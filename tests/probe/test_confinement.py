"""A confined run writes only where it may, and the level is what was seen."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from .client import Copy, Probe, probe
from .environments import lacking

FILES = {
    "test_it.py": (
        "import os, sys, resource, multiprocessing, subprocess\n"
        "USER = os.environ['USER_TREE']\n"
        "def _write(path):\n"
        "    with open(path, 'w') as file: file.write('x')\n"
        "def test_user_tree(): _write(os.path.join(USER, 'new.txt'))\n"
        "def test_user_file(): _write(os.path.join(USER, 'test_it.py'))\n"
        "def test_remove(): os.remove(os.path.join(USER, 'test_it.py'))\n"
        "def test_by_process():\n"
        "    code = 'open(%r, \"w\")' % os.path.join(USER, 'new.txt')\n"
        "    subprocess.run([sys.executable, '-c', code], check=True)\n"
        "def test_reads(): assert open(os.path.join(USER, 'test_it.py')).read()\n"
        "def test_copy():\n"
        "    _write('new.txt')\n"
        "    os.makedirs('deep/er')\n"
        "    os.rename('new.txt', 'deep/er/new.txt')\n"
        "    os.truncate('deep/er/new.txt', 0)\n"
        "def test_temp(tmp_path): _write(str(tmp_path / 'new.txt'))\n"
        "def test_devices():\n"
        "    _write(os.devnull)\n"
        "    multiprocessing.get_context('fork').Lock().acquire()\n"
        "    os.close(os.openpty()[0])\n"
        "def test_limits():\n"
        "    assert resource.getrlimit(resource.RLIMIT_CORE)[0] == 0\n"
        "    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == 1 << 30\n"
    )
}
REFUSED = ["test_user_tree", "test_user_file", "test_remove", "test_by_process"]


@pytest.mark.parametrize("mode", ["host", "run"])
def test_where_the_kernel_has_landlock_only_the_copy_and_temp_are_written(
    python: Path, copied: Copy, mode: str
) -> None:
    with probe(python, mode) as started:
        ran = started.run(copied, env={"USER_TREE": str(copied.user)})
        landlock = bool(started.hello["landlock"])

    assert ran.one("started")["isolation"] == ("landlock" if landlock else "none")
    if landlock:
        assert [name for name, outcome in ran.outcomes.items() if outcome != "passed"] == REFUSED
        assert ran.failure("test_user_tree")["exception"] == "PermissionError"
        assert sorted(p.name for p in copied.user.iterdir()) == ["test_it.py"]
        assert (copied.user / "test_it.py").read_text() == FILES["test_it.py"]


@pytest.mark.parametrize("mode", ["host", "run"])
def test_without_landlock_the_level_is_none_and_tests_run(python: Path, copied: Copy, mode: str) -> None:
    with probe(python, mode, REGREEN_NO_LANDLOCK="1") as started:
        assert started.hello["landlock"] == 0
        ran = started.run(copied, env={"USER_TREE": str(copied.user)})
    assert ran.one("started")["isolation"] == "none"
    assert ran.outcomes["test_user_tree"] == "passed"


def test_no_confinement_is_entered_when_none_is_wanted(python: Path, copied: Copy) -> None:
    with probe(python) as started:
        ran = started.run(
            copied, "test_it.py::test_user_tree", confine="none", env={"USER_TREE": str(copied.user)}
        )
    assert ran.one("started")["isolation"] == "none"
    assert ran.outcomes == {"test_user_tree": "passed"}


def test_a_level_that_cannot_be_seen_is_not_claimed(python: Path, copied: Copy) -> None:
    with probe(python) as started:
        ran = started.run(
            copied, "test_it.py::test_reads", writable=["/"], env={"USER_TREE": str(copied.user)}
        )
    assert ran.one("started")["isolation"] == "none"


def test_trying_the_confinement_leaves_nothing_behind(python: Path, copied: Copy) -> None:
    with probe(python, REGREEN_NO_LANDLOCK="1") as started:
        started.run(copied, "test_it.py::test_reads", env={"USER_TREE": str(copied.user)})
    assert sorted(p.name for p in copied.temp.parent.iterdir()) == ["0", "temp"]


def test_a_run_signals_nobody_but_what_it_started(host: Probe, tmp_path: Path) -> None:
    if host.hello["landlock"] < 6:
        lacking("a kernel whose Landlock knows signals (Linux 6.12)")
    with subprocess.Popen(["sleep", "60"]) as bystander:
        test = (
            "import os, pytest, signal, subprocess\n"
            "def test_others():\n"
            f"    for pid in ({bystander.pid}, os.getppid()):\n"
            "        with pytest.raises(PermissionError): os.kill(pid, signal.SIGKILL)\n"
            "def test_own():\n"
            "    child = subprocess.Popen(['sleep', '60'])\n"
            "    child.terminate()\n"
            "    assert child.wait() == -signal.SIGTERM\n"
        )
        ran = host.run(Copy(tmp_path, {"test_it.py": test}))
        assert ran.outcomes == {"test_others": "passed", "test_own": "passed"}
        assert bystander.poll() is None
        bystander.kill()
