"""What does trying one candidate cost on each rung, against a plain cold pytest of the same test?

On real projects (those of `tests.real`), with one injected bug each and the candidates that Regreen itself would try.
"""

from __future__ import annotations

import asyncio
import os
import resource
import statistics
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from tests.bench.measures import Measure, processor_time
from tests.real.data import RealProject, bugs, projects
from tests.real.places import Place, inject, place, pristine

from regreen import edits, pipeline, templates
from regreen.composition import open_tools
from regreen.pipeline.coverage import Coverage
from regreen.pipeline.ground import survey
from regreen.settings import Settings
from regreen.validation.ladder import Target, request_for
from regreen.values import (
    Candidate,
    CandidateVerdict,
    Failure,
    HealResult,
    Progress,
    Project,
    Rung,
    RunRequest,
)

LOOKED_AT = 60
TRIED = 25
COLD = 5


@dataclass(frozen=True, slots=True)
class Row:
    """One project; seconds are medians of wall time, but for those of the processor.

    Args:
        cold: of `python -m pytest --tb=native` on the test, by hand.
        warm, hot, batched: of one candidate.
        cpu: what one candidate takes of the processor, cold, warm, hot and batched; means.
        parking: until the first hot candidate was judged, beyond the others.
        swapped: how many of the candidates looked at could be tried hot.
        looked_at: how many there were.
        disagreeing: candidates that the two rungs judge differently.
    """

    name: str
    cold: float
    warm: float
    hot: float
    batched: float
    cpu: tuple[float, float, float, float]
    parking: float
    swapped: int
    looked_at: int
    disagreeing: int

    def __str__(self) -> str:
        cold, warm, hot, batched = (seconds * 1000 for seconds in self.cpu)
        return (
            f"  {self.name:15} cold pytest {self.cold * 1000:6.0f} ms   warm {self.warm * 1000:5.1f} ms "
            f"({self.cold / self.warm:4.1f}×)   hot {self.hot * 1000:5.1f} ms ({self.cold / self.hot:4.1f}×)   "
            f"batched {self.batched * 1000:4.1f} ms ({self.cold / self.batched:5.1f}×)   "
            f"parking {self.parking * 1000:4.0f} ms   hot {self.swapped} of {self.looked_at}, "
            f"{self.disagreeing} judged differently   "
            f"processor: cold {cold:.0f} ms, warm {warm:.0f}, hot {hot:.0f}, batched {batched:.1f}"
        )


class Silent:
    """A reporter for nobody."""

    def progress(self, progress: Progress) -> None:
        """Say nothing."""

    def failure(self, failure: Failure) -> None:
        """Say nothing."""

    def candidate(self, failure: Failure, verdict: CandidateVerdict) -> None:
        """Say nothing."""

    def offer(self, result: HealResult) -> None:
        """Say nothing."""

    def result(self, result: HealResult) -> None:
        """Say nothing."""


def measured(work: Path) -> tuple[list[Measure], list[Row]]:
    """The ratios over all projects, and each project's row.

    Raises:
        RuntimeError: a project could not be measured.
    """
    rows = []
    with private(work):
        for project in projects():
            with place(project) as at:
                rows.append(asyncio.run(_row(project, at)))
                pristine(at)
    hot = [row.hot / row.cold for row in rows]
    warm = [row.warm / row.cold for row in rows]
    batched = [row.batched / row.cold for row in rows]
    how = f"{len(rows)} projects, {sum(row.swapped for row in rows)} candidates, wall time"
    return [
        Measure("a hot candidate / a cold pytest, median", statistics.median(hot), "×", 1 / 20, how),
        Measure("a hot candidate / a cold pytest, worst", max(hot), "×", 1 / 12, how),
        Measure("a batched candidate / a cold pytest, median", statistics.median(batched), "×", 1 / 80, how),
        Measure("a warm candidate / a cold pytest, median", statistics.median(warm), "×", 1 / 4, how),
    ], rows


@contextmanager
def private(work: Path) -> Iterator[None]:
    """Keep Regreen's own files below `work`, and our own environment out of the projects' way."""
    before = dict(os.environ)
    os.environ |= {"REGREEN_CACHE_DIR": str(work / "cache"), "REGREEN_STATE_DIR": str(work / "state")}
    for name in ("VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE"):  # without .pyc files a plain pytest is slower
        os.environ.pop(name, None)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ |= before


async def _row(project: RealProject, at: Place) -> Row:
    """The first bug of the project whose candidates can be tried hot."""
    rows = []
    for bug in (bug for bug in bugs() if bug.project == project.name):
        inject(at, bug)
        row = await _measure(project.name, at, bug.caught[0])
        if row is not None and row.swapped == TRIED:
            return row
        rows += [row] if row is not None else []
    if not rows:
        raise RuntimeError(f"no candidate of {project.name} could be tried hot")
    return max(rows, key=lambda row: row.swapped)


async def _measure(name: str, at: Place, nodeid: str) -> Row | None:
    settings = Settings(interpreter=str(at.python))
    tools = await open_tools(Project(at.root, at.root), settings)
    try:
        base = await pipeline.baseline(tools, settings, Silent(), nodeids=(nodeid,))
        target = Target(base.report.failures[0], seconds_allowed=10.0)
        ground = await survey(target, base, tools, Coverage(tools), base.report.isolation)
        found = templates.candidates(target.failure, ground.suspects, ground.field.sources)
        overlays = [_overlay(one, ground.field.texts) for one in islice(found, LOOKED_AT)]
        requests = [request_for(target, base.snapshot, overlay, "template") for overlay in overlays]
        hot: list[float] = []
        warm: list[float] = []
        processor: dict[str, list[float]] = {"warm": [], "hot": []}
        tried: list[RunRequest] = []
        disagreeing = looked_at = 0
        for request in requests:
            looked_at += 1
            used, began = processor_time(), time.perf_counter()
            report = await tools.oracle.run(replace(request, rung=Rung.HOT))
            if report.rung is not Rung.HOT:
                continue
            hot.append(time.perf_counter() - began)
            processor["hot"].append(processor_time() - used)
            tried.append(request)
            used, began = processor_time(), time.perf_counter()
            own = await tools.oracle.run(request)
            warm.append(time.perf_counter() - began)
            processor["warm"].append(processor_time() - used)
            statuses = [[o.status for o in one.outcomes.values()] for one in (report, own)]
            disagreeing += statuses[0] != statuses[1]
            if len(hot) == TRIED:
                break
        used, began = processor_time(), time.perf_counter()
        screened = await tools.oracle.screen(tried)
        batched = (time.perf_counter() - began) / max(1, len(tried))
        batched_cpu = (processor_time() - used) / max(1, len(tried))
        if hot and all(report is None for report in screened):
            batched = statistics.median(hot)  # these tests cannot be run twice in one process
            batched_cpu = statistics.mean(processor["hot"])
    finally:
        await tools.oracle.close()
        await tools.mirror.close()
    if len(hot) < 3:
        return None
    cold = [by_hand(at, nodeid, overlay=request.overlay) for request in tried[:COLD]]
    usual = statistics.median(hot)
    return Row(
        name,
        statistics.median(wall for wall, _ in cold),
        statistics.median(warm),
        usual,
        batched,
        (
            statistics.mean(cpu for _, cpu in cold),
            statistics.mean(processor["warm"]),
            statistics.mean(processor["hot"][1:]),  # the first one pays for parking
            batched_cpu,
        ),
        hot[0] - usual,
        len(hot),
        looked_at,
        disagreeing,
    )


def _overlay(candidate: Candidate, texts: Mapping[Path, bytes]) -> dict[Path, bytes]:
    return {edit.path: edits.apply_to_bytes(texts[edit.path], edit) for edit in candidate.edits}


def by_hand(at: Place, *arguments: str, overlay: Mapping[Path, bytes] | None = None) -> tuple[float, float]:
    """Seconds of wall and of processor time of a cold pytest, as somebody would run it with these files."""
    overlay = overlay or {}
    before = {path: path.read_bytes() for path in overlay}
    command: Sequence[str | Path] = [at.python, "-m", "pytest", "-q", "--tb=native", *arguments]
    try:
        for path, data in overlay.items():
            path.write_bytes(data)
        used, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, cwd=at.root, capture_output=True, check=False, timeout=600)
        wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    finally:
        for path, data in before.items():
            path.write_bytes(data)
    return wall, after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
