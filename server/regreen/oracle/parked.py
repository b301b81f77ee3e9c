"""What is a run that waits with its tests collected, and what can be told of its forks?"""

from __future__ import annotations

import re
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from regreen.oracle.channel import Run
from regreen.platform.waiting import uninterrupted
from regreen.values import RunReport, RunRequest, WorkingCopy

_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+\b")
_REFUSED = ("PermissionError", "OperationalError")
"""Exceptions of tests that write into the project: a hot run may not, as its folder is shared."""

Key = tuple[int, tuple[str, ...]]


@dataclass(slots=True)
class Parked:
    """A run that waits with its tests collected.

    Args:
        key: what it was parked for.
        run: its own records.
        copy: the folder that all its forks share, as they see it.
        pid: of its process.
        ended: that it did was heard.
        number: of the last hot run.
        held: ends it with all its forks, and gives the folder back.
    """

    key: Key
    run: Run
    copy: WorkingCopy
    pid: int = 0
    ended: bool = False
    number: int = 0
    held: AsyncExitStack = field(default_factory=AsyncExitStack)

    @property
    def temp(self) -> Path:
        """Its folder for temporary files, and what its forks may write in."""
        return self.copy.copy_temp / "regreen-parked"

    async def end(self) -> None:
        """Leave no process of it."""
        if not self.ended:
            await uninterrupted(self.run.kill(self.pid))
        self.run.forget()


def can_be_hot(request: RunRequest) -> bool:
    """Whether a request can be run in a fork of a parked run."""
    return (
        len(request.overlay) == 1 and bool(request.nodeids) and not request.canaries and not request.observe
    )


def key_of(request: RunRequest) -> Key:
    """What a run is parked for: the snapshot and the tests."""
    return (request.snapshot.generation, request.nodeids)


def essence(report: RunReport) -> dict[str, tuple[str, str, str]]:
    """What two runs of the same code must have in common."""
    return {
        nodeid: (
            outcome.status.value,
            outcome.failure.exception if outcome.failure else "",
            _ADDRESS.sub("", outcome.failure.message) if outcome.failure else "",
        )
        for nodeid, outcome in report.outcomes.items()
    }


def was_refused(report: RunReport) -> bool:
    """Whether a test wanted to write where a hot run may not."""
    return any(failure.exception.rpartition(".")[2] in _REFUSED for failure in report.failures)
