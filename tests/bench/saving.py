"""How soon does a save have its verdict, the first run its process, and the whole suite its end?

On real projects (those of `tests.real`), against the plain pytest of the same tests in the same minute.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from pathlib import Path

from tests.bench.candidates import by_hand, private
from tests.bench.measures import Measure, processor_time
from tests.real.data import RealProject, bugs, projects
from tests.real.places import Place, place, pristine

from regreen.composition import open_tools
from regreen.settings import Settings
from regreen.values import Project, RunRequest

ROUNDS = 5
SUITES = 3


def saving(work: Path) -> list[Measure]:
    """From a save to the verdict of one affected test, and from nothing to the first process that can run tests."""
    verdicts, firsts = [], []
    with private(work):
        for project in projects():
            with place(project) as at:
                pristine(at)
                cold, verdict, first = asyncio.run(_saving(project, at))
            verdicts.append(verdict / cold)
            firsts.append(first / cold)
    how = f"median of {len(verdicts)} projects, {ROUNDS} saves each"
    return [
        Measure("save → verdict ÷ a cold pytest of the test", statistics.median(verdicts), "×", 1 / 10, how),
        Measure("first process that runs tests ÷ a cold pytest", max(firsts), "×", 1.5, "the worst of them"),
    ]


async def _saving(project: RealProject, at: Place) -> tuple[float, float, float]:
    bug = next(bug for bug in bugs() if bug.project == project.name)
    nodeid, file = bug.caught[0], at.root / bug.file
    text = file.read_bytes()
    cold = statistics.median(by_hand(at, nodeid)[0] for _ in range(ROUNDS))
    tools = await open_tools(Project(at.root, at.root), Settings(interpreter=str(at.python)))
    try:
        snapshot = await tools.mirror.sync({})
        began = time.perf_counter()
        await tools.oracle.run(RunRequest(snapshot, (nodeid,), collect_only=True))
        first = time.perf_counter() - began
        await tools.oracle.run(RunRequest(snapshot, (nodeid,)))
        await asyncio.sleep(0.5)  # what a run left to be done once
        verdicts = []
        for number in range(ROUNDS):
            file.write_bytes(text + b"\n# %d\n" % number)
            began = time.perf_counter()
            report = await tools.oracle.run(RunRequest(await tools.mirror.sync({}), (nodeid,)))
            verdicts.append(time.perf_counter() - began)
            if [outcome.status.value for outcome in report.outcomes.values()] != ["passed"]:
                raise RuntimeError(f"{nodeid} of {project.name} does not pass: {report.problem}")
    finally:
        file.write_bytes(text)
        await tools.oracle.close()
        await tools.mirror.close()
    return cold, statistics.median(verdicts), first


def suite(work: Path) -> list[Measure]:
    """The whole suite in our process against the plain pytest, in turns."""
    ratios, processor, told = [], [], []
    with private(work):
        for project in projects():
            with place(project) as at:
                pristine(at)
                (plain, plain_cpu), (ours, ours_cpu) = asyncio.run(_suite(at))
            ratios.append(ours / plain)
            processor.append(ours_cpu / plain_cpu)
            told.append(f"{project.name} {ours:.1f}/{plain:.1f} s")
    how = f"{', '.join(told)}; processor time {statistics.median(processor):.2f}×"
    return [Measure("whole suite ÷ a plain pytest, worst", max(ratios), "×", 1.15, how)]


async def _suite(at: Place) -> tuple[tuple[float, float], tuple[float, float]]:
    tools = await open_tools(Project(at.root, at.root), Settings(interpreter=str(at.python)))
    plain, ours = [], []
    try:
        snapshot = await tools.mirror.sync({})
        await tools.oracle.run(RunRequest(snapshot, seconds=600))
        for _ in range(SUITES):
            plain.append(by_hand(at))
            used = processor_time()
            report = await tools.oracle.run(RunRequest(snapshot, seconds=600))
            ours.append((report.seconds, processor_time() - used))
    finally:
        await tools.oracle.close()
        await tools.mirror.close()
    return _medians(plain), _medians(ours)


def _medians(taken: list[tuple[float, float]]) -> tuple[float, float]:
    return statistics.median(wall for wall, _ in taken), statistics.median(cpu for _, cpu in taken)
