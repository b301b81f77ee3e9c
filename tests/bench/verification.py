"""What do isolation, the spectrum, the copies and the waiting processes cost?"""

from __future__ import annotations

import asyncio
import os
import shutil
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import psutil
import pytest
from tests.bench.measures import Measure, processor_time
from tests.real.data import projects
from tests.real.places import place

from regreen.composition import open_tools
from regreen.oracle.backend import LocalBackend
from regreen.oracle.client import ProbeOracle
from regreen.settings import Settings
from regreen.values import Interpreter, Project, RunRequest, Snapshot
from regreen.workspace.mirror import ProjectMirror

RUNS = 60
FILES = 10_000
BYTES = 4_500
LEAN = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def isolation(work: Path) -> list[Measure]:
    """Processor time of a warm run of one small test, fully isolated against unconfined, in turns."""
    return [asyncio.run(_isolation(work))]


async def _isolation(work: Path) -> Measure:
    root = work / "isolated"
    root.mkdir()
    (root / "test_it.py").write_text("def test_it(): pass\n")
    mirror = ProjectMirror(Project(root, root), cache=work / "isolated-cache")
    snapshot = await mirror.sync({})
    oracles = {level: _oracle(root, mirror, level) for level in ("auto", "none")}
    taken: dict[str, list[float]] = {level: [] for level in oracles}
    levels = set()
    try:
        for number in range(RUNS + 5):
            for level, oracle in oracles.items():
                before = processor_time()
                report = await oracle.run(RunRequest(snapshot))
                if number >= 5:
                    taken[level].append(processor_time() - before)
                levels.add(report.isolation)
    finally:
        for oracle in oracles.values():
            await oracle.close()
        await mirror.close()
    if "full" not in levels:
        raise RuntimeError(f"runs are not fully isolated here, but {levels}")
    with_it, without = (statistics.mean(taken[level]) * 1000 for level in oracles)
    how = f"mean of {RUNS} runs each, in turns: {with_it:.1f} ms against {without:.1f} ms of processor time"
    return Measure("full isolation of a warm run, beyond none", with_it - without, "ms", 4.0, how)


def _oracle(root: Path, mirror: ProjectMirror, level: str) -> ProbeOracle:
    interpreter = Interpreter(Path(sys.executable), sys.version_info[:3], pytest.__version__, "this one")
    settings = Settings(isolation=level)
    return ProbeOracle(
        Project(root, root), interpreter, LocalBackend(mirror), settings, {**os.environ, **LEAN}
    )


def spectrum(work: Path) -> list[Measure]:
    """The whole suite of a real project with the lines that each test executes, against without."""
    del work
    project = next(p for p in projects() if p.name == "click")
    with place(project) as at:
        plain, marked = asyncio.run(_suites(at.root, at.python))
    how = f"{project.name}, median of 3 each, in turns: {marked:.1f} s against {plain:.1f} s"
    return [Measure("per-test spectrum ÷ the plain suite", marked / plain, "×", 1.2, how)]


async def _suites(root: Path, python: Path) -> tuple[float, float]:
    tools = await open_tools(Project(root, root), Settings(interpreter=str(python)))
    plain: list[float] = []
    marked: list[float] = []
    try:
        snapshot = await tools.mirror.sync({})
        await tools.oracle.run(RunRequest(snapshot))
        for _ in range(3):
            for wanted, taken in ((False, plain), (True, marked)):
                report = await tools.oracle.run(RunRequest(snapshot, spectrum=wanted))
                taken.append(report.seconds)
    finally:
        await tools.oracle.close()
        await tools.mirror.close()
    return statistics.median(plain), statistics.median(marked)


def mirror(work: Path) -> list[Measure]:
    """The first copy of many files against copying them plainly, and noticing one that changed."""
    root = work / "many"
    for number in range(FILES):
        path = root / f"package{number % 100}" / f"module{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"VALUE = {number}\n".ljust(BYTES, "#"))
    return asyncio.run(_mirror(work, root))


async def _mirror(work: Path, root: Path) -> list[Measure]:
    began = time.perf_counter()
    _plain_copy(root, work / "plain")
    plain = time.perf_counter() - began
    copies = ProjectMirror(Project(root, root), cache=work / "many-cache")
    try:
        began = time.perf_counter()
        async with copies.lease(await copies.sync({}), {}):
            first = time.perf_counter() - began
        noticed = []
        for number in range(7):
            (root / "package0/module0.py").write_text(f"VALUE = {number}\n")
            noticed.append(await _seconds(lambda: copies.sync({})))
    finally:
        await copies.close()
    often = statistics.median(noticed) * 1000
    return [
        Measure("first copy of 10,000 files ÷ plain sendfile copy", first / plain, "×", 1.5, f"{first:.2f} s against {plain:.2f} s"),
        Measure("noticing one changed file among 10,000", often, "ms", 60.0, "median of 7"),
    ]  # fmt: skip


async def _seconds(what: Callable[[], Awaitable[Snapshot]]) -> float:
    began = time.perf_counter()
    await what()
    return time.perf_counter() - began


def _plain_copy(source: Path, target: Path) -> None:
    for folder, _, names in os.walk(source):
        into = target / Path(folder).relative_to(source)
        into.mkdir(parents=True)
        for name in names:
            with Path(folder, name).open("rb") as read, (into / name).open("wb") as write:
                os.sendfile(write.fileno(), read.fileno(), 0, BYTES)


def waiting(work: Path) -> list[Measure]:
    """Memory of the processes that wait for the next run, against one pytest of the project."""
    return [asyncio.run(_waiting(work))]


async def _waiting(work: Path) -> Measure:
    root = work / "waiting"
    shutil.copytree(Path(__file__).parents[2] / "examples/cart", root)
    tools = await open_tools(Project(root, root), Settings(interpreter=sys.executable))
    try:
        snapshot = await tools.mirror.sync({})
        await tools.oracle.run(RunRequest(snapshot))
        await asyncio.sleep(1.0)
        ours = sum(_pss(p.pid) for p in psutil.Process().children(recursive=True))
    finally:
        await tools.oracle.close()
        await tools.mirror.close()
    code = "import os, pytest, sys; pytest.main(['-q', '-p', 'no:cacheprovider']); print('PSS'); sys.stdout.flush(); sys.stdin.read()"
    plain = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, cwd=root, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert plain.stdout is not None
    while (await plain.stdout.readline()).strip() != b"PSS":
        pass
    theirs = _pss(plain.pid)
    await plain.communicate(b"")
    how = f"{ours / 1e6:.0f} MB against {theirs / 1e6:.0f} MB (PSS)"
    return Measure("memory of what waits ÷ one pytest", ours / theirs, "×", 2.5, how)


def _pss(pid: int) -> int:
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return next(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("Pss:"))
