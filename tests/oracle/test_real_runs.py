"""The oracle with the real probe, the real mirror and the user's real pytest, on projects that misbehave."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest
from tests.oracle.world import LEAN, World, working_in
from tests.processes import left_running

from regreen.errors import EnvironmentProblem
from regreen.oracle import interpreters
from regreen.oracle.backend import LocalBackend
from regreen.oracle.client import ProbeOracle
from regreen.platform import processes, proctable
from regreen.settings import Settings
from regreen.values import CanaryPoint, Interpreter, Project, Rung, RunReport


@pytest.fixture(params=["warm", "cold", "no fork"])
def rung(request: pytest.FixtureRequest, world: World) -> Rung:
    if request.param == "no fork":
        world.oracle = world.make_oracle(REGREEN_NO_FORK="1")
    return Rung.COLD if request.param == "cold" else Rung.WARM


def statuses(report: RunReport) -> dict[str, str]:
    return {nodeid.split("::")[-1]: outcome.status.value for nodeid, outcome in report.outcomes.items()}


THREE = """
    import time
    import shop

    def test_a():
        assert shop.one() == 1

    def test_hang():
        shop.hang()

    def test_b():
        assert shop.one() == 2
"""
SHOP = """
    import time

    def one():
        return 1

    def hang():
        n = 0
        while True:
            n += 1
            time.sleep(0.01)
"""


async def test_a_test_that_hangs_costs_only_itself_and_says_where(world: World, rung: Rung) -> None:
    world.write(shop=SHOP, test_shop=THREE)
    report = await world.run(rung=rung, seconds_per_test=1.0, spectrum=True)
    assert statuses(report) == {"test_a": "passed", "test_hang": "timeout", "test_b": "failed"}
    assert (report.problem, report.exit_status) == ("", 1)
    hang, wrong = report.failures
    assert (hang.path, hang.line, hang.exception) == (world.root / "test_shop.py", 7, "Timeout")
    assert [(f.path.name, f.function) for f in hang.frames if f.own] == [
        ("test_shop.py", "test_hang"),
        ("shop.py", "hang"),
    ]
    assert report.spectrum.lines[hang.nodeid][world.root / "shop.py"] >= {7, 9}
    assert wrong.comparison is not None
    assert (wrong.comparison.left, wrong.comparison.right) == ("1", "2")
    assert wrong.frames[-1].path == world.root / "test_shop.py"


async def test_a_test_that_ends_its_process_costs_only_itself(world: World, rung: Rung) -> None:
    world.write(
        test_exit="""
        import os, signal

        def test_a(): pass
        def test_exit(): os._exit(0)
        def test_b(): pass
        def test_segfault(): os.kill(os.getpid(), signal.SIGSEGV)
        def test_c(): pass
        """
    )
    report = await world.run(rung=rung)
    assert statuses(report) == {
        "test_a": "passed",
        "test_exit": "crashed",
        "test_b": "passed",
        "test_segfault": "crashed",
        "test_c": "passed",
    }
    assert [failure.message for failure in report.failures] == [
        "the process ended inside this test (exit status 0)",
        "the process ended inside this test (signal SIGSEGV)",
    ]
    assert report.collected == tuple(report.outcomes)


HIDE = """
    import os, subprocess, sys, time

    def test_hide():
        sleep = [sys.executable, "-c", "import time; time.sleep(3600)"]
        subprocess.Popen(sleep)
        subprocess.Popen(sleep, start_new_session=True)
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(3600)
            os._exit(0)
        os.wait()
        time.sleep(3600)
"""


def runs_of(world: World) -> set[int]:
    """The processes of runs, which work in the copy, or where they see it."""
    return working_in(world.mirror.folder, world.root)


async def test_cancelling_leaves_no_process_however_it_hides(world: World, rung: Rung) -> None:
    world.write(test_hide=HIDE)
    task = asyncio.create_task(world.run(rung=rung))
    while len(runs_of(world)) < 4:  # noqa: ASYNC110 — until the test has started all it starts
        await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    while runs_of(world):  # noqa: ASYNC110 — daemons of a zygote go once it is idle
        await asyncio.sleep(0.02)


async def test_a_timeout_leaves_no_process_however_it_hides(world: World, rung: Rung) -> None:
    world.write(test_hide=HIDE)
    report = await world.run(rung=rung, seconds_per_test=1.0)
    assert statuses(report) == {"test_hide": "timeout"}
    while runs_of(world):  # noqa: ASYNC110 — daemons of a zygote go once it is idle
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("mode", ["WARM", "COLD"])
def test_the_death_of_the_server_leaves_no_run(tmp_path: Path, mode: str, number: int) -> None:
    root = tmp_path / "shop"
    root.mkdir()
    (root / "test_hang.py").write_text("import time\ndef test_hang():\n    time.sleep(3600)\n")
    code = textwrap.dedent(f"""
        import asyncio, sys
        from pathlib import Path
        from regreen.oracle.backend import LocalBackend
        from regreen.oracle.client import ProbeOracle
        from regreen.settings import Settings
        from regreen.values import *
        from regreen.workspace.mirror import ProjectMirror
        async def main():
            project = Project(Path({str(root)!r}), Path({str(root)!r}))
            mirror = ProjectMirror(project, cache=Path({str(tmp_path / "cache")!r}))
            oracle = ProbeOracle(project, Interpreter(Path(sys.executable), (3, 11, 7), "9", "test"), LocalBackend(mirror), Settings())
            await oracle.run(RunRequest(await mirror.sync({{}}), rung=Rung.{mode}))
        asyncio.run(main())
    """)
    with subprocess.Popen([sys.executable, "-c", code], env={**os.environ, **LEAN}) as server:
        while not working_in(tmp_path):
            assert server.poll() is None
            time.sleep(0.05)
        started = psutil.Process(server.pid).children(recursive=True)
        assert started
        server.send_signal(number)
        server.wait()
    assert left_running(started, seconds=10) == []


async def test_env_file_variables_reach_the_tests(world: World) -> None:
    (world.root / "test.env").write_text("STAGE=testing\nPATH_LIKE='a b'\n")
    world.oracle = world.make_oracle(env_file="test.env")
    world.write(
        test_env="import os\ndef test_env(): assert (os.environ['STAGE'], os.environ['PATH_LIKE']) == ('testing', 'a b')\n"
    )
    assert statuses(await world.run()) == {"test_env": "passed"}


async def test_two_runs_at_once_see_their_own_text(world: World, rung: Rung) -> None:
    world.write(
        shop=SHOP,
        test_shop="import shop, time\ndef test_one():\n    time.sleep(0.2)\n    assert shop.one() == 1\n",
    )
    snapshot = await world.mirror.sync({})
    path = world.root / "shop.py"
    good = path.read_bytes()
    bad = good.replace(b"return 1", b"return 2")
    reports = await asyncio.gather(
        *(world.run(snapshot=snapshot, rung=rung, overlay={path: text}) for text in (good, bad, good, bad))
    )
    assert [statuses(report)["test_one"] for report in reports] == ["passed", "failed", "passed", "failed"]
    assert all(report.origins == {path} for report in reports)
    assert path.read_bytes() == good


async def test_no_run_sees_the_text_of_an_earlier_one(world: World, rung: Rung) -> None:
    """Same size, same second: what a stale .pyc would show."""
    world.write(
        shop="def one():\n    return 1\n", test_shop="import shop\ndef test_one(): assert shop.one() == 1\n"
    )
    path = world.root / "shop.py"
    seen = []
    for value in (1, 2, 1):
        text = f"def one():\n    return {value}\n"
        stat = path.stat()
        path.write_text(text)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        path.touch()
        seen.append(statuses(await world.run(rung=rung))["test_one"])
        overlay = {path: text.replace(f"return {value}", "return 9").encode()}
        assert statuses(await world.run(rung=rung, overlay=overlay)) == {"test_one": "failed"}
    assert seen == ["passed", "failed", "passed"]


async def test_what_a_test_wrote_is_gone_in_the_next_run(world: World, rung: Rung) -> None:
    world.write(
        test_state="""
        import os, pathlib
        def test_fresh():
            assert not os.path.exists("left")
            open("left", "w").close()
            pathlib.Path("shop.py").write_text("broken(")
        """,
        shop="x = 1\n",
    )
    for _ in range(2):
        assert statuses(await world.run(rung=rung)) == {"test_fresh": "passed"}
    assert (world.root / "shop.py").read_text() == "x = 1\n"
    assert not (world.root / "left").exists()


async def test_the_canary_is_seen_and_a_patch_that_does_not_compile_is_named(
    world: World, rung: Rung
) -> None:
    world.write(shop=SHOP, test_shop="import shop\ndef test_one(): assert shop.one() == 1\n")
    path = world.root / "shop.py"
    report = await world.run(rung=rung, canaries=(CanaryPoint(path, 4),))
    assert report.canary_arrived
    assert statuses(report) == {"test_one": "failed"}
    report = await world.run(rung=rung, canaries=(CanaryPoint(path, 9),))
    assert not report.canary_arrived
    assert statuses(report) == {"test_one": "passed"}
    report = await world.run(rung=rung, overlay={path: b"def one(:\n"})
    assert report.uncompilable == {path}
    assert report.problem.startswith("cannot compile shop.py:1")
    assert report.outcomes == {}


async def test_a_broken_import_is_a_failure_of_its_file_and_the_others_run(world: World) -> None:
    world.write(test_a="import nothing_like_this\ndef test_a(): pass\n", test_b="def test_b(): pass\n")
    report = await world.run("test_a.py", "test_b.py")
    assert report.outcomes["test_a.py"].failure is not None
    assert report.outcomes["test_a.py"].failure.exception == "ModuleNotFoundError"
    assert report.outcomes["test_a.py"].failure.is_collection


async def test_collecting_only_runs_nothing(world: World) -> None:
    world.write(test_a="def test_a(): open('ran', 'w')\ndef test_b(): pass\n")
    report = await world.run(collect_only=True)
    assert report.collected == ("test_a.py::test_a", "test_a.py::test_b")
    assert report.outcomes == {}
    assert report.problem == ""


async def test_an_import_that_hangs_is_stopped_at_its_own_limit(world: World) -> None:
    world.write(conftest="import time\ntime.sleep(3600)\n", test_a="def test_a(): pass\n")
    report = await world.run(import_seconds=1.5)
    assert report.problem.startswith("import and collection took longer than 1.5 s")
    assert report.outcomes == {}


async def test_once_a_test_has_used_up_its_limit_the_next_ones_that_hang_cost_less(world: World) -> None:
    world.write(
        test_loop="""
        def test_quick(): pass
        def test_first():
            while True: pass
        def test_second():
            while True: pass
        def test_last(): pass
        """
    )
    report = await world.run(seconds_per_test=3.5)
    hanging = [one.failure.message for one in report.outcomes.values() if one.failure]
    assert hanging == ["still running after 3.5 s", "still running after 3 s"]
    assert statuses(report)["test_last"] == "passed"


async def test_a_red_test_that_hangs_again_does_not_end_a_run_that_stops_at_the_first_failure(
    world: World,
) -> None:
    world.write(
        test_loop="def test_hangs():\n    while True: pass\ndef test_red(): assert 0\ndef test_last(): pass\n"
    )
    report = await world.run(
        "test_loop.py",
        seconds_per_test=1.0,
        stop_at_first_failure=True,
        known_red=("test_loop.py::test_hangs",),
    )
    assert statuses(report) == {"test_hangs": "timeout", "test_red": "failed"}


async def test_a_process_that_ends_at_import_says_so(world: World) -> None:
    world.write(test_a="import os\nos._exit(3)\n")
    report = await world.run()
    assert report.problem.startswith("the process ended during import or collection (exit status 3)")


async def test_threads_that_are_left_behind_hold_nothing_up(world: World, rung: Rung) -> None:
    world.write(
        test_a="""
        import threading, time
        def test_a():
            threading.Thread(target=time.sleep, args=(3600,)).start()
        """
    )
    report = await world.run(rung=rung)
    assert (statuses(report), report.problem, report.exit_status) == ({"test_a": "passed"}, "", 0)


async def test_what_tests_print_never_reaches_the_protocol(world: World, rung: Rung) -> None:
    world.write(
        test_a="""
        import os, subprocess, sys
        print('{"id": 1, "ev": "begin"}')
        def test_a():
            os.write(1, b'{"id": 1, "ev": "finished"}\\n')
            print("on stdout")
            sys.__stdout__.write("garbage\\n"); sys.__stdout__.flush()
            subprocess.run(["echo", "from a child"], check=True)
            assert sys.stdin.read() == "" if sys.stdin else True
        """
    )
    (world.root / "pyproject.toml").write_text('[tool.pytest.ini_options]\naddopts = "-s"\n')
    report = await world.run(rung=rung)
    assert statuses(report) == {"test_a": "passed"}
    assert "from a child" in report.stderr


async def test_a_suite_that_stops_at_the_first_failure(world: World) -> None:
    world.write(test_a="def test_a(): pass\ndef test_b(): assert 0\ndef test_c(): pass\n")
    report = await world.run(stop_at_first_failure=True)
    assert statuses(report) == {"test_a": "passed", "test_b": "failed"}


@pytest.mark.parametrize("kind", ["unittest", "pytest"])
async def test_without_pytest_unittest_projects_run_with_ours(
    world: World, rung: Rung, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGREEN_CACHE_DIR", str(tmp_path / "regreen"))
    world.write(
        test_u="import unittest\nclass T(unittest.TestCase):\n    def test_u(self): self.assertEqual(1, 2)\n"
    )
    python = make_bare_python(tmp_path / "bare")
    version, found = await interpreters.check(python)
    assert found is None
    project = Project(world.root, world.root, kind=kind)
    env = {**os.environ, **({"REGREEN_NO_FORK": "1"} if rung is Rung.COLD else {})}
    world.oracle = ProbeOracle(
        project, Interpreter(python, version, None, "test"), LocalBackend(world.mirror), Settings(), env
    )
    if kind == "pytest":
        with pytest.raises(EnvironmentProblem, match="pytest is not installed"):
            await world.run(rung=rung)
        return
    report = await world.run(rung=rung)
    assert statuses(report) == {"test_u": "failed"}
    (failure,) = report.failures
    assert "1 != 2" in failure.message


def make_bare_python(folder: Path) -> Path:
    import venv

    venv.EnvBuilder(symlinks=True, with_pip=False).create(folder)
    return folder / "bin" / "python"


async def test_inspect_tells_what_doctor_shows(world: World) -> None:
    facts = await world.oracle.inspect()
    assert facts.python == sys.version_info[:3]
    assert facts.pytest == pytest.__version__
    assert facts.prefix == Path(sys.prefix)


async def test_a_restarted_zygote_answers_after_the_old_one_was_killed(world: World) -> None:
    world.write(test_a="def test_a(): pass\n")
    assert statuses(await world.run()) == {"test_a": "passed"}
    (zygote,) = processes.alive()
    os.kill(zygote.pid, signal.SIGKILL)
    assert statuses(await world.run()) == {"test_a": "passed"}
    (new,) = processes.alive()
    assert new.pid != zygote.pid
    assert zygote.pid not in proctable.table()


FORGE = """
    import json, os, stat

    def pipes():
        for fd in range(3, 1024):
            try:
                if stat.S_ISFIFO(os.fstat(fd).st_mode): yield fd
            except OSError: pass

    def test_forge():
        for fd in pipes():
            for number in range(1, 9):
                for record in ({record}):
                    try: os.write(fd, b"\\n" + json.dumps({{"id": number, **record}}).encode() + b"\\n")
                    except OSError: pass
        assert False
"""
GREEN = {
    "ev": "test", "nodeid": "test_forge.py::test_forge", "outcome": "passed", "seconds": 0.0, "path": "", "line": 1,
    "phases": {"setup": "passed", "call": "passed", "teardown": "passed"}, "markers": [], "failure": None,
}  # fmt: skip


async def test_a_run_that_writes_records_of_its_own_is_not_believed(world: World, rung: Rung) -> None:
    world.write(test_forge=FORGE.format(record=[GREEN]), test_other="def test_other(): pass\n")
    report = await world.run("test_forge.py::test_forge", rung=rung)
    assert "wrote into the pipe of the results" in report.problem
    assert statuses(await world.run("test_other.py", rung=rung)) == {"test_other": "passed"}


async def test_no_run_can_speak_for_another(world: World) -> None:
    world.write(
        test_forge=FORGE.format(record=[GREEN, {"ev": "ended", "code": 0, "signal": None}]),
        test_slow="import time\ndef test_slow(): time.sleep(1.5)\n",
    )
    slow = asyncio.create_task(world.run("test_slow.py"))
    await asyncio.sleep(0.7)
    await world.run("test_forge.py")
    report = await slow
    assert statuses(report) == {"test_slow": "passed"}
    assert report.problem == ""
