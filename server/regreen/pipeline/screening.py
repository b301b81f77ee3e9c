"""Which candidates need no run of their own to be refused?"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from regreen import edits
from regreen.pipeline.parts import Tools
from regreen.pipeline.stream import Stream
from regreen.platform.waiting import uninterrupted
from regreen.source import ProjectSources
from regreen.validation.gate import Gate
from regreen.validation.ladder import Known, Step, Target, judge_alone, request_for
from regreen.values import Candidate, Flag, RunRequest, Snapshot, TestSelection, Verdict

TOGETHER = 8
"""How many candidates are tried in one process at first."""

AHEAD = 2
"""How many such handfuls are under way: one for each core of a small machine."""


@dataclass(frozen=True, slots=True)
class Field:
    """What every candidate of one search is judged against.

    Args:
        select: the impacted tests of a candidate.
        texts: the snapshot's bytes of every file a candidate may edit.
        sources: the snapshot's Python files, parsed.
        siblings: other cases of the target's test function that have not been run.
    """

    target: Target
    snapshot: Snapshot
    known: Known
    gate: Gate
    select: Callable[[Candidate], TestSelection]
    texts: Mapping[Path, bytes]
    sources: ProjectSources
    siblings: tuple[str, ...] = ()


@dataclass(slots=True)
class Ready:
    """A candidate that was applied.

    Args:
        next: the run of the target with it, or the verdict where none is needed.
        flags: what the gate found about it.
        seconds: its share of what was spent on it so far.
    """

    candidate: Candidate
    next: RunRequest | Step
    flags: tuple[Flag, ...] = ()
    seconds: float = 0.0


def prepared(field: Field, candidate: Candidate) -> Ready:
    """Apply a candidate and ask the gate."""
    try:
        overlay = {e.path: edits.apply_to_bytes(field.texts[e.path], e) for e in candidate.edits}
    except (ValueError, KeyError, UnicodeEncodeError) as error:
        return Ready(candidate, Step(Verdict.UNAPPLICABLE, str(error)))
    ruling = field.gate.examine(candidate, overlay)
    if ruling.refusal:
        return Ready(candidate, Step(Verdict.REJECTED, ruling.refusal))
    return Ready(
        candidate, request_for(field.target, field.snapshot, overlay, candidate.origin), ruling.flags
    )


class Queue:
    """Hands out candidates in order; a handful at a time is made, and screened in one process, ahead of need."""

    def __init__(self, field: Field, candidates: Stream, tools: Tools) -> None:
        self._field = field
        self._source = candidates
        self._tools = tools
        self._taking = asyncio.Lock()
        self._handing = asyncio.Lock()
        self._ready: deque[Ready] = deque()
        self._ahead: deque[asyncio.Task[list[Ready]]] = deque()

    async def next(self) -> Ready | None:
        """The next one; None when there is none."""
        async with self._handing:
            if not self._ready:
                while len(self._ahead) < AHEAD:
                    self._ahead.append(asyncio.create_task(self._screened()))
                self._ready.extend(await self._ahead.popleft())
            return self._ready.popleft() if self._ready else None

    async def close(self) -> None:
        """Leave nothing that was begun ahead."""
        for task in self._ahead:
            task.cancel()
        await uninterrupted(asyncio.gather(*self._ahead, return_exceptions=True))
        await self._source.close()

    async def _screened(self) -> list[Ready]:
        """The next handful; judged are those that need no run, and those that one run of them all refuses."""
        async with self._taking:
            candidates = await self._source.take(TOGETHER)
        clock = self._tools.clock
        started = clock.monotonic()
        every: list[Ready] = []
        for candidate in candidates:
            every.append(prepared(self._field, candidate))
            await asyncio.sleep(0)  # the gate takes some milliseconds each time
        waiting = [(each, each.next) for each in every if isinstance(each.next, RunRequest)]
        reports = await self._tools.oracle.screen([request for _, request in waiting])
        for (each, _), report in zip(waiting, reports, strict=True):
            step = judge_alone(report, self._field.target) if report is not None else None
            if step is not None and step.verdict is not Verdict.PLAUSIBLE:
                each.next = step
        for each in every:
            each.seconds = (clock.monotonic() - started) / len(every)
        return every
