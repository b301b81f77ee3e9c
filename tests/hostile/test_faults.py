"""Whatever dies, fills up or jumps in the middle of a run: the server says so, goes on, and nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
from tests.oracle.world import World, opened, working_in

from regreen.platform import processes
from regreen.values import Rung, TestStatus

STAGES = {
    "imports": "import time\ntime.sleep(60)\ndef test_it(): pass\n",
    "a test": "import time\ndef test_it(): time.sleep(60)\n",
}
GOOD = "def test_good(): pass\n"


@pytest.fixture
async def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    async with opened(tmp_path, monkeypatch) as world:
        world.write(test_good=GOOD)
        yield world


def below() -> list[psutil.Process]:
    """All processes that Regreen has started here, and those below them; servers that other tests share are not."""
    hosts = [psutil.Process(process.pid) for process in processes.alive()]
    return [one for host in hosts for one in (host, *host.children(recursive=True))]


async def until_it_runs(world: World) -> set[int]:
    """The processes that work in the project; those that only start others there are gone by then."""
    before, now = set[int](), working_in(world.root, world.mirror.folder)
    while not now or now != before:
        await asyncio.sleep(0.2)
        before, now = now, working_in(world.root, world.mirror.folder)
    return now


@pytest.mark.parametrize("rung", [Rung.WARM, Rung.COLD])
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("victim", ["outermost", "innermost"])
async def test_a_process_that_is_killed_costs_one_run(
    world: World, rung: Rung, stage: str, victim: str
) -> None:
    world.write(test_it=STAGES[stage])
    task = asyncio.create_task(world.run("test_it.py", rung=rung, import_seconds=20, seconds_per_test=20))
    innermost = await until_it_runs(world)
    if victim == "outermost":
        for process in processes.alive():
            os.kill(process.pid, signal.SIGKILL)
        task.cancel()
        await asyncio.wait({task})
    else:
        for pid in innermost:
            os.kill(pid, signal.SIGKILL)
        report = await task
        crashed = [outcome.status for outcome in report.outcomes.values()]
        assert crashed == [TestStatus.CRASHED] or "SIGKILL" in report.problem
    assert [o.status for o in (await world.run("test_good.py", rung=rung)).outcomes.values()] == [
        TestStatus.PASSED
    ]


FULL = """
import pytest

def test_disk(tmp_path):
    with pytest.raises(OSError, match="No space left|File too large"):
        with open("big", "wb") as file:
            for _ in range(100): file.write(bytes(1_000_000))

def test_temp(tmp_path):
    with pytest.raises(OSError, match="No space left|File too large"):
        for n in range(100): (tmp_path / str(n)).write_bytes(bytes(1_000_000))
    for n in range(100): (tmp_path / str(n)).unlink(missing_ok=True)

def test_after(): pass
"""


async def test_a_run_that_fills_its_disk_ends_as_a_test_sees_it(world: World) -> None:
    world.write(test_full=FULL)
    world.oracle = world.make_oracle(disk_megabytes=20)
    report = await world.run("test_full.py")
    assert {name.rpartition("::")[2]: o.status.value for name, o in report.outcomes.items()} == {
        "test_disk": "passed",
        "test_temp": "passed",
        "test_after": "passed",
    }
    assert report.problem == ""


def of_this_process() -> dict[str, int]:
    """How many descriptors, mounts and descendants this process has."""
    return {
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "mounts": len(Path("/proc/self/mountinfo").read_text().splitlines()),
        "processes": len(below()),
    }


async def test_two_hundred_runs_leave_nothing_behind(world: World, tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    world.oracle = world.make_oracle(TMPDIR=str(temporary))
    for rung in (Rung.WARM, Rung.COLD):
        await world.run("test_good.py", rung=rung)
    await asyncio.sleep(1)  # what the zygote does once, when it has time
    before = of_this_process()
    for number in range(200):
        rung = Rung.COLD if number % 20 == 0 else Rung.WARM
        report = await world.run("test_good.py", rung=rung)
        assert [o.status for o in report.outcomes.values()] == [TestStatus.PASSED]
    assert of_this_process() == before
    assert list(temporary.iterdir()) == []
    assert list(world.mirror.folder.rglob("*regreen-*")) == []
