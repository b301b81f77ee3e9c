"""How do jobs run, and what follows from them?"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regreen.engine.documents import Documents
from regreen.engine.judgement import suite_is_due
from regreen.engine.lane import IDLE_SECONDS, Job, Lane
from regreen.engine.registry import Registry
from regreen.engine.showing import Showing, summary
from regreen.engine.state import Offer, ProjectState
from regreen.engine.world import Face, Level, World
from regreen.errors import UserError
from regreen.platform.background import run_blocking

if TYPE_CHECKING:
    from regreen.engine.runs import Runs

log = logging.getLogger(__name__)

UNTRUSTED = (
    "Regreen runs nothing in this folder until you trust it: use the quick fix here, the command "
    "`regreen.server.trust`, or `regreen trust` in a terminal."
)

Found = Callable[[ProjectState, Sequence[Offer], Callable[[], bool]], Coroutine[Any, Any, None]]
"""Hears of fixes found after a save by hand, with a question whether they are still the newest."""


class Work:
    """The lanes of all projects, and the tasks that belong to no lane."""

    def __init__(
        self, world: World, face: Face, documents: Documents, registry: Registry, showing: Showing
    ) -> None:
        self._world = world
        self._face = face
        self._documents = documents
        self._registry = registry
        self._showing = showing
        self._lanes: dict[Path, Lane] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._runs: Runs | None = None
        self.found: Found | None = None
        self.closed = False

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None] | None:
        """Do something beside; what it raises is logged. None where all is closed, and it is not done."""
        if self.closed:
            work.close()
            return None
        task = asyncio.get_running_loop().create_task(logged(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: work.close())  # where it was cancelled before it began
        return task

    def may_run(self, state: ProjectState, notice_at: Path | None) -> bool:
        """Whether anything of this project may run; the first refusal is told at `notice_at`."""
        if not state.settings.enable:
            return False
        if self._registry.is_trusted(state.folder):
            return True
        nowhere_yet = state.notice_at is None and notice_at is not None
        if state.problem != UNTRUSTED or nowhere_yet:
            state.problem, state.notice_at = UNTRUSTED, notice_at
            self._face.log(Level.INFO, f"{state.folder}: {UNTRUSTED}")
            self._showing.refresh(state)
        return False

    def submit(self, state: ProjectState, job: Job) -> None:
        """Do this soon in a project, instead of what runs there now."""
        if self.closed:
            return
        lane = self._lanes.get(state.root)
        if lane is None:
            lane = self._lanes[state.root] = Lane(lambda job: self._do(state, job), self._world.clock)
        lane.submit(job)

    @property
    def busy(self) -> bool:
        """Whether any project runs something."""
        return any(lane.busy for lane in self._lanes.values())

    async def _do(self, state: ProjectState, job: Job) -> None:
        lane = self._lanes[state.root]
        generation = lane.generation
        if not self.may_run(state, state.notice_at):
            return
        had_problem = state.problem
        title = "Regreen: checking the suite" if job.check_suite else f"Regreen: {state.root.name}"
        self._face.begin(state.root, title, lambda: self.cancel(state))
        self._showing.set_activity(state, "running")
        message = ""
        found: Sequence[Offer] = ()
        try:
            state.problem = ""
            found = await (await self.runs()).do(state, job)
            message = summary(state)
        except UserError as error:
            state.problem = message = str(error)
            state.notice_at = next(iter(sorted(job.changed)), state.notice_at)
        except Exception:
            state.problem = message = "Something failed inside of Regreen; its log says what."
            raise
        finally:
            if state.problem and state.problem != had_problem:
                self._face.log(Level.WARNING, f"{state.root}: {state.problem}")
            self._face.end(state.root, message)
            self._showing.set_activity(state, "idle")
            self._showing.refresh(state)
        by_hand = job.by_hand or state.was_saved_by_hand(job.changed)
        if by_hand and not job.offers_only and found and self.found is not None:
            self.spawn(self.found(state, found, lambda: lane.generation == generation))
        if not job.check_suite:
            self.spawn(self._idle(state, lane))

    async def settled(self, state: ProjectState) -> None:
        """Wait until all that was asked for in a project is over."""
        if (lane := self._lanes.get(state.root)) is not None:
            await lane.settled()

    async def runs(self) -> Runs:
        """What does the jobs; imported when the first one comes, so that the server starts without it."""
        if self._runs is None:
            module = await run_blocking(import_module, "regreen.engine.runs")
            self._runs = module.Runs(self._world, self._face, self._documents, self._showing.refresh)
        return self._runs

    async def _idle(self, state: ProjectState, lane: Lane) -> None:
        generation = lane.generation
        await self._world.clock.sleep(IDLE_SECONDS)
        if lane.generation == generation and not lane.busy and suite_is_due(state):
            lane.submit(Job(check_suite=True))

    def cancel(self, state: ProjectState) -> bool:
        """Stop what the user no longer wants; tells whether there was anything."""
        lane = self._lanes.get(state.root)
        if lane is None or not lane.cancel():
            return False
        for path in list(state.seen):  # the next save runs again, even of the same text
            entry = state.snapshot.files.get(path) if state.snapshot else None
            if entry is None or entry.digest != state.seen[path]:
                del state.seen[path]
        self._face.log(Level.INFO, f"{state.root}: cancelled.")
        return True

    async def end(self, state: ProjectState) -> None:
        """End everything that runs in a project."""
        if (lane := self._lanes.pop(state.root, None)) is not None:
            await lane.close()
        await state.close_tools()

    async def close(self) -> None:
        """End everything; returns when no process that we started is left."""
        self.closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        ends = [logged(self.end(state)) for state in list(self._registry.states.values())]
        await asyncio.gather(*tasks, *ends, return_exceptions=True)


async def logged(work: Coroutine[Any, Any, None]) -> None:
    """Await something that nobody else awaits."""
    try:
        await work
    except Exception:
        log.exception("A task failed inside of Regreen.")
