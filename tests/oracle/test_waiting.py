"""Where there is no fork: a process that was started ahead serves one run, and is not there a moment too long."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest
from tests.oracle.world import LEAN, World
from tests.processes import left_running

from regreen.oracle import waiting
from regreen.platform import processes
from regreen.platform.processors import at_once
from regreen.values import Rung, RunReport

AT_ONCE = at_once()
TEST = """
    import sys
    HELD = [name for name in ("pytest", "wave", "extra") if name in sys.modules]
    import wave

    def test_it():
        print(HELD)
        assert False
    """


@pytest.fixture
def shop(world: World) -> World:
    world.oracle = world.make_oracle(REGREEN_NO_FORK="1")
    world.write(test_it=TEST)
    return world


def living() -> set[int]:
    return {process.pid for process in processes.alive() if process.returncode is None}


async def ready(world: World) -> set[int]:
    """The processes that wait, once they are ready for a run."""
    begun = world.oracle._sides["template"].probes._waiting._begun
    while len(begun) < AT_ONCE or not all(task.done() for _, task in begun):  # noqa: ASYNC110 — they tell nobody
        await asyncio.sleep(0.02)
    return living()


def held(report: RunReport) -> list[str]:
    """What the run found imported."""
    (failure,) = report.failures
    return [name for name in ("pytest", "wave", "extra") if name in failure.output]


async def test_each_serves_one_run_and_another_takes_its_place(shop: World) -> None:
    first = await shop.run()
    assert (first.rung, living() - await ready(shop)) == (Rung.COLD, set())
    served: set[int] = set()
    for _ in range(4):
        before = await ready(shop)
        assert before.isdisjoint(served)
        report = await shop.run()
        assert (report.rung, report.isolation) == (Rung.WARM, first.isolation)
        gone = before - living()
        assert len(gone) == 1
        served |= gone
    assert len(served) == 4


async def test_what_it_holds_is_what_an_unpatched_run_needed(shop: World) -> None:
    path = shop.root / "test_it.py"
    await shop.run(overlay={path: path.read_bytes().replace(b"import wave", b"import extra as wave")})
    await ready(shop)
    reports = [await shop.run() for _ in range(AT_ONCE)]
    assert all("wave" not in held(report) for report in reports)
    await ready(shop)
    assert held(await shop.run()) == ["pytest", "wave"]


async def test_a_cold_run_takes_none_of_them(shop: World) -> None:
    await shop.run()
    before = await ready(shop)
    report = await shop.run(rung=Rung.COLD)
    assert report.rung is Rung.COLD
    assert held(report) == ["pytest"]
    assert living() == before


@pytest.mark.parametrize("number", [1, AT_ONCE])
async def test_one_that_was_killed_costs_no_run_and_is_replaced(shop: World, number: int) -> None:
    await shop.run()
    before = await ready(shop)
    killed = sorted(before)[:number]
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    report = await shop.run()
    assert (len(report.failures), report.problem) == (1, "")
    assert (await ready(shop)).isdisjoint(killed)


async def test_a_run_that_is_cancelled_takes_only_its_own_with_it(shop: World) -> None:
    shop.write(
        test_it="import time\ndef test_it(): time.sleep(3600)\n", test_quick="def test_quick(): pass\n"
    )
    await shop.run("test_quick.py")
    before = await ready(shop)
    run = asyncio.create_task(shop.run("test_it.py"))
    while not any(psutil.Process(pid).children() for pid in before):  # noqa: ASYNC110 — processes tell nobody
        await asyncio.sleep(0.02)
    run.cancel()
    await asyncio.wait({run})
    assert run.cancelled()
    assert len(before & living()) == AT_ONCE - 1
    assert len(await ready(shop)) == AT_ONCE


async def test_stopping_while_one_is_asked_for_leaves_none(shop: World) -> None:
    for delay in (0.0, 0.001, 0.01, 0.05):
        await shop.run()
        run = asyncio.create_task(shop.run())
        await asyncio.sleep(delay)
        run.cancel()
        await asyncio.wait({run})
    await ready(shop)
    run = asyncio.create_task(shop.run())
    await asyncio.sleep(0.001)
    await shop.oracle.close()
    await asyncio.wait({run})
    assert living() == set()


async def test_two_runs_at_once_get_one_each(shop: World) -> None:
    await shop.run()
    before = await ready(shop)
    reports = await asyncio.gather(*(shop.run() for _ in range(AT_ONCE)))
    assert [report.rung for report in reports] == [Rung.WARM] * AT_ONCE
    assert before.isdisjoint(living())


async def test_none_waits_for_long(shop: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "IDLE_SECONDS", 0.2)
    await shop.run()
    while len(living()) != 0:  # noqa: ASYNC110 — nobody tells
        await asyncio.sleep(0.02)


BAD = {
    "raising": ("import sys\nif 'test_it' not in sys.modules: raise SystemExit(3)\n", ["pytest", "wave"]),
    "threaded": (
        "import threading\nthreading.Thread(target=threading.Event().wait).start()\n",
        ["pytest", "wave"],
    ),
    "ending": ("import os, sys\nif 'test_it' not in sys.modules: os._exit(3)\n", ["pytest"]),
}
"""Modules that must not be imported ahead, and what a run finds imported all the same."""


def with_extra(world: World, text: str, unconfined: str = "") -> None:
    """Let the test import a module from outside of the project, after all others."""
    folder = world.root.parent / "folder"
    folder.mkdir()
    (folder / "extra.py").write_text(text)
    world.oracle = world.make_oracle(
        REGREEN_NO_FORK="1", REGREEN_NO_CONFINEMENT=unconfined, PYTHONPATH=str(folder)
    )
    world.write(test_it=textwrap.dedent(TEST) + "import extra\n")


@pytest.mark.parametrize("kind", BAD)
async def test_a_module_that_cannot_be_imported_ahead_is_left_to_the_run(shop: World, kind: str) -> None:
    text, found = BAD[kind]
    with_extra(shop, text)
    await shop.run()
    await ready(shop)
    report = await shop.run()
    assert (report.rung, held(report)) == (Rung.WARM, found)


async def test_where_nothing_is_confined_a_module_may_start_threads(shop: World) -> None:
    with_extra(shop, BAD["threaded"][0], unconfined="1")
    await shop.run()
    await ready(shop)
    assert held(await shop.run()) == ["pytest", "wave", "extra"]


def waiting_below(pid: int) -> list[psutil.Process]:
    found = []
    for process in psutil.Process(pid).children(recursive=True):
        with contextlib.suppress(psutil.Error):  # ended while we looked
            if "wait" in process.cmdline():
                found.append(process)
    return found


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_death_of_the_server_leaves_none(tmp_path: Path, number: int) -> None:
    root = tmp_path / "shop"
    root.mkdir()
    (root / "test_it.py").write_text("def test_it(): pass\n")
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
            await oracle.run(RunRequest(await mirror.sync({{}})))
            await asyncio.sleep(3600)
        asyncio.run(main())
    """)
    environment = {**os.environ, **LEAN, "REGREEN_NO_FORK": "1"}
    with subprocess.Popen([sys.executable, "-c", code], env=environment) as server:
        while len(started := waiting_below(server.pid)) < AT_ONCE:
            assert server.poll() is None
            time.sleep(0.05)
        server.send_signal(number)
        server.wait()
    assert left_running(started, seconds=10) == []
