"""Which parts of the world does the engine talk to through an interface?

Only those that have a real and a test implementation, or that would make siblings import each other.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from pathlib import Path
from typing import Protocol

from regreen.values import (
    CallRecord,
    CandidateVerdict,
    Failure,
    HealResult,
    Lesson,
    Message,
    ModelCall,
    ModelInfo,
    ModelReply,
    Progress,
    Project,
    Round,
    RunReport,
    RunRequest,
    Snapshot,
    Spent,
    VerifiedFix,
    WorkingCopy,
)


class Oracle(Protocol):
    """Runs tests of one project in its user's interpreter and tells what happened."""

    async def run(self, request: RunRequest) -> RunReport:
        """Run the tests; cancelling the task kills the run and leaves no process.

        Raises:
            EnvironmentProblem: the interpreter or pytest is missing or cannot be started.
            OracleFailed: the probe died outside a test or broke its protocol.
        """
        ...

    async def screen(self, requests: Sequence[RunRequest]) -> Sequence[RunReport | None]:
        """Try candidates for the same tests quickly, in one process.

        Returns:
            For each the report of a run in which a test was red, or None when only a run of its own can tell: what
            passes is always among these.
        """
        ...

    async def close(self) -> None:
        """End every process of this oracle; safe to call twice."""
        ...


class Mirror(Protocol):
    """The private copy of one project."""

    @property
    def folder(self) -> Path:
        """Where all that it makes is, or will be."""
        ...

    async def sync(self, unsaved: Mapping[Path, bytes]) -> Snapshot:
        """Take a new snapshot: disk overlaid with unsaved editor text (path → encoded bytes)."""
        ...

    async def read(self, snapshot: Snapshot, path: Path) -> bytes:
        """The bytes of one file of a snapshot. Raises KeyError when it is not part of it."""
        ...

    def lease(
        self, snapshot: Snapshot, overlay: Mapping[Path, bytes], *, fresh: bool = False
    ) -> AbstractAsyncContextManager[WorkingCopy]:
        """A writable copy holding `snapshot` with `overlay` on top; cleaned up when the lease ends."""
        ...

    async def close(self) -> None:
        """Release the locks; the files stay for the next start."""
        ...


class Reporter(Protocol):
    """Where the pipeline says what is going on: the terminal, the editor, a list in a test."""

    def progress(self, progress: Progress) -> None:
        """A stage was entered or moved on."""
        ...

    def failure(self, failure: Failure) -> None:
        """A red test was seen."""
        ...

    def candidate(self, failure: Failure, verdict: CandidateVerdict) -> None:
        """A candidate was judged."""
        ...

    def offer(self, result: HealResult) -> None:
        """The first fix of a heal is proven: its result as it is so far. Others are still being looked at."""
        ...

    def result(self, result: HealResult) -> None:
        """A heal ended."""
        ...


class Git(Protocol):
    """What the version control knows, read without running anything of the folder."""

    async def toplevel(self, folder: Path) -> Path | None:
        """The work tree that holds `folder`, None outside of git."""
        ...

    async def changed_files(self, folder: Path) -> frozenset[Path]:
        """Files that differ from the last commit, untracked ones included; empty outside of git."""
        ...

    async def ignored(self, folder: Path, paths: Sequence[Path]) -> frozenset[Path]:
        """Those of `paths` that git ignores."""
        ...

    async def last_change(self, path: Path) -> datetime | None:
        """When the file's last commit was made; None when unknown or uncommitted."""
        ...


class History(Protocol):
    """The run store: what happened in earlier heals, and what the user thought of it."""

    def record(self, project: Project, result: HealResult) -> None:
        """Keep one finished heal."""
        ...

    def accepted(self, project: Project, template: str) -> tuple[int, int]:
        """How often fixes of this template were (accepted, undone) in this project."""
        ...

    def mark(self, project: Project, fix: VerifiedFix, *, undone: bool) -> None:
        """The user accepted a fix, or took it back."""
        ...


class Journal(Protocol):
    """The part of the run store that knows what models were asked, and what it cost."""

    def record_call(self, project: Project, call: CallRecord) -> None:
        """Keep one call, with all that was sent and all that came back."""
        ...

    def record_round(self, project: Project, round_: Round) -> None:
        """Keep one round; one of the same heal and number is replaced."""
        ...

    def spent(self, *, since: datetime | None = None, heal: str = "") -> Spent:
        """What calls cost in all projects since a time (UTC), or in one heal."""
        ...

    def reserve(
        self, heal: str, worst: Spent, seconds: float, allowed: Callable[[Spent, Spent], str]
    ) -> tuple[int, str]:
        """Reserve what a call may come to: its key and "", or 0 and a sentence why not.

        `allowed` is given what the heal and what the day (UTC, all projects) come to with this call and all that are
        in flight, and answers "" or why the call may not be made.
        """
        ...

    def release(self, key: int) -> None:
        """The call is recorded with its cost."""
        ...

    def lose(self, key: int, *, recorded: bool) -> None:
        """Nobody knows what the call cost: its worst case goes on counting, its tokens only if it is not recorded."""
        ...

    def rounds(self, heal: str) -> Sequence[Round]:
        """The rounds of a heal, in order."""
        ...

    def keep_lessons(self, project: Project, heal: str, lessons: Sequence[Lesson]) -> None:
        """Keep what a heal taught; it counts once a fix of that heal is accepted, and no longer when it is undone."""
        ...

    def lessons(self, project: Project, signature: str, code: str, *, limit: int = 5) -> Sequence[Lesson]:
        """Lessons that led to accepted fixes of this project, those nearest to a failure and its code first."""
        ...


class ModelClient(Protocol):
    """Puts questions to language models."""

    async def complete(self, call: ModelCall) -> ModelReply:
        """Ask; what goes wrong is told in the reply. Cancelling the task ends the request and its connection."""
        ...

    async def count(self, model: str, messages: Sequence[Message]) -> int:
        """How many tokens these messages are for a model, as near as is known."""
        ...

    async def describe(self, model: str, base_url: str = "", key_variable: str = "") -> ModelInfo:
        """What is known about a model without asking it anything that costs."""
        ...

    async def close(self) -> None:
        """End every process and connection; safe to call twice."""
        ...


class Clock(Protocol):
    """Time, so that budgets and debouncing can be tested without waiting."""

    def monotonic(self) -> float:
        """Seconds from an arbitrary start."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait without blocking the loop."""
        ...


EventStream = AsyncIterator[Mapping[str, object]]
"""Decoded records of one probe run, in order (see oracle/records.py for their shapes)."""
