"""Inside bubblewrap runs end, are ended and are told of as anywhere else, and nothing of them is left."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psutil
import pytest
from tests.probe.environments import bubblewrap

from regreen.oracle.client import ProbeOracle
from regreen.platform import processes
from regreen.values import Rung, RunReport, TestStatus

from .world import World, opened, working_in

GOOD = "def test_good(): pass\n"


@pytest.fixture
async def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    """A project on a machine where only bubblewrap may make namespaces."""
    async with opened(tmp_path, monkeypatch) as world:
        world.write(test_good=GOOD)
        world.oracle = oracle(world)
        yield world


def oracle(world: World, services: tuple[str, ...] = ()) -> ProbeOracle:
    path = f"{os.environ['PATH']}{os.pathsep}{bubblewrap()}"
    return world.make_oracle(services=services, REGREEN_NO_NAMESPACES="1", PATH=path)


def statuses(report: RunReport) -> list[str]:
    return [outcome.status.value for outcome in report.outcomes.values()]


async def until(true: Callable[[], object]) -> None:
    """Wait; processes tell nobody."""
    deadline = asyncio.get_running_loop().time() + 20
    while not true():
        assert asyncio.get_running_loop().time() < deadline
        await asyncio.sleep(0.02)


def sleeping(mark: str) -> set[int]:
    """The processes that sleep for a test."""
    return {
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if (process.info["cmdline"] or [])[:2] == ["sleep", mark]
    }


async def test_the_level_is_told_with_what_is_left_of_it_and_why(world: World) -> None:
    found = (await world.oracle.inspect()).isolation
    assert found is not None
    assert (found.level, found.leaks, found.why) == (
        "partial",
        ("resources",),
        "REGREEN_NO_NAMESPACES is set",
    )
    assert str(found).startswith("partial, inside bubblewrap: test runs can take much memory")


@pytest.mark.parametrize("own", [True, False])
async def test_a_bubblewrap_that_the_project_brings_along_is_not_started(
    world: World, tmp_path: Path, own: bool
) -> None:
    ours = world.root / ".venv/bin"
    ours.mkdir(parents=True)
    program = (world.root if own else tmp_path) / "program"
    program.write_text(f"#!/bin/sh\ntouch {world.root}/started\nexit 1\n")
    program.chmod(0o755)
    (ours / "bwrap").symlink_to(program)
    world.oracle = world.make_oracle(REGREEN_NO_NAMESPACES="1", PATH=f"{ours}{os.pathsep}bin{os.pathsep}/bin")
    await world.oracle.inspect()
    assert not (world.root / "started").exists()


async def test_a_bubblewrap_that_does_not_work_is_named_and_done_without(
    world: World, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    program.chmod(0o755)
    world.oracle = world.make_oracle(REGREEN_NO_NAMESPACES="1", PATH=f"{tmp_path}/bin:/usr/bin:/bin")
    found = (await world.oracle.inspect()).isolation
    assert found is not None
    assert (found.level, found.wrapper) == ("partial", ())
    assert "bwrap: setting up uid map: Permission denied" in found.why
    assert statuses(await world.run("test_good.py")) == ["passed"]


async def test_who_has_no_bubblewrap_is_told_what_it_would_give(world: World, tmp_path: Path) -> None:
    world.oracle = world.make_oracle(REGREEN_NO_NAMESPACES="1", PATH=str(tmp_path))
    found = (await world.oracle.inspect()).isolation
    assert found is not None
    assert "attributes" in found.leaks
    assert "bubblewrap is not installed" in found.why


@pytest.mark.parametrize("rung", [Rung.WARM, Rung.COLD])
async def test_a_run_has_a_loopback_of_its_own_and_no_process_but_its_neighbours(
    world: World, rung: Rung
) -> None:
    world.write(
        test_it="""
        import os, socket
        def test_loopback():
            with socket.socket() as server, socket.socket() as client:
                server.bind(("127.0.0.1", 0)), server.listen()
                client.connect(server.getsockname())
        def test_processes():
            assert len([name for name in os.listdir("/proc") if name.isdigit()]) < 5
        """
    )
    report = await world.run("test_it.py", rung=rung)
    assert statuses(report) == ["passed", "passed"]
    assert report.isolation == "partial"


@pytest.mark.parametrize("rung", [Rung.WARM, Rung.COLD])
async def test_a_test_that_hangs_is_ended_with_all_that_it_started(world: World, rung: Rung) -> None:
    mark = f"{3600 + os.getpid()}"
    start = f"import subprocess, time\ndef test_it():\n    subprocess.Popen(['sleep', '{mark}'], start_new_session=True)\n    time.sleep(600)\n"
    world.write(test_it=start)
    report = await world.run("test_it.py", rung=rung, seconds_per_test=1)
    assert [o.status for o in report.outcomes.values()] == [TestStatus.TIMEOUT]
    assert sleeping(mark) == set()
    assert statuses(await world.run("test_good.py", rung=rung)) == ["passed"]


async def test_a_daemon_of_a_test_is_ended_while_the_zygote_lives_on(world: World) -> None:
    mark = f"{7200 + os.getpid()}"
    world.write(
        test_it=f"import subprocess\ndef test_it(): subprocess.Popen(['sh', '-c', 'sleep {mark} & exec sleep 0'], start_new_session=True).wait()\n"
    )
    assert statuses(await world.run("test_it.py")) == ["passed"]
    (host,) = processes.alive()
    await until(lambda: not sleeping(mark))
    assert statuses(await world.run("test_good.py")) == ["passed"]
    assert processes.alive() == {host}
    assert host.returncode is None


@pytest.mark.parametrize("rung", [Rung.WARM, Rung.COLD])
@pytest.mark.parametrize(
    ("body", "said"),
    [("os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"), ("os._exit(3)", "3")],
)
async def test_how_a_run_ended_is_told(world: World, rung: Rung, body: str, said: str) -> None:
    world.write(test_it=f"import os, signal\ndef test_it(): {body}\n")
    report = await world.run("test_it.py", rung=rung)
    (outcome,) = report.outcomes.values()
    assert outcome.status is TestStatus.CRASHED
    assert outcome.failure is not None
    assert re.search(said, outcome.failure.message)


async def test_what_isolation_may_be_to_blame_for_is_tried_outside(world: World, tmp_path: Path) -> None:
    # In a place that is empty inside, but not the project's.
    (tmp_path / "elsewhere").write_text("x")
    world.write(test_it=f"def test_it(): open({str(tmp_path / 'elsewhere')!r}).close()\n")
    assert statuses(await world.run("test_it.py")) == ["failed"]
    assert statuses(await world.run("test_it.py", relaxed=True)) == ["passed"]


async def test_nothing_is_left_when_the_outermost_process_is_killed(world: World) -> None:
    world.write(test_it="import time\ndef test_it(): time.sleep(60)\n")
    task = asyncio.create_task(world.run("test_it.py"))
    await until(lambda: working_in(world.mirror.folder))
    (host,) = processes.alive()
    os.kill(host.pid, signal.SIGKILL)
    await until(lambda: not working_in(world.mirror.folder) or processes.alive() != {host})
    task.cancel()
    await asyncio.wait({task})
    assert statuses(await world.run("test_good.py")) == ["passed"]


async def test_of_services_only_sockets_that_are_named_are_reached(world: World, tmp_path: Path) -> None:
    doors = [tmp_path / name for name in ("named", "other")]
    with contextlib.ExitStack() as held:
        for door in doors:
            server = held.enter_context(socket.socket(socket.AF_UNIX))
            server.bind(str(door))
            server.listen()
        tcp = held.enter_context(socket.create_server(("127.0.0.1", 0)))
        port = tcp.getsockname()[1]
        world.write(
            test_doors=f"""
            import pytest, socket

            @pytest.mark.parametrize("door", {[str(door) for door in doors]!r}, ids=["named", "other"])
            def test_door(door):
                socket.socket(socket.AF_UNIX).connect(door)

            def test_port():
                socket.create_connection(("127.0.0.1", {port}))
            """
        )
        await world.oracle.close()
        world.oracle = oracle(world, (str(doors[0]), str(port)))
        report = await world.run(
            *(f"test_doors.py::test_{name}" for name in ("door[named]", "door[other]", "port"))
        )
    assert statuses(report) == ["passed", "failed", "failed"]
