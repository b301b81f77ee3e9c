"""Where do the runs of a project happen, and what leads there?

A backend lays copies and starts probes beside them. All else, the order of the runs, their limits, their seals and
what they prove, is the server's, and needs of a backend no more than bytes that come in order: docs/internals/wire.md
says which.
"""

from __future__ import annotations

import asyncio
import enum
import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol

from regreen.errors import EnvironmentProblem
from regreen.platform import processes
from regreen.ports import Mirror
from regreen.values import Snapshot, WorkingCopy

BOOT = (
    "import sys; sys.path[:] = [p for p in sys.path if p]; sys.path.insert(0, sys.argv[1]); "
    "from regreen_probe.main import main; main(sys.argv[2])"
)
PROBE = Path(__file__).resolve().parent.parent / "probe"
"""The folder that holds regreen_probe and nothing else."""
NICE = 5
"""How much lower than the editor's the tests' priority is; more would starve them beside a build."""


class Mode(enum.Enum):
    """What a process is for."""

    HOST = "host"  # the zygote
    WAIT = "wait"  # for one run, and imports ahead what that will need
    RUN = "run"  # for one run, at once


class Link(Protocol):
    """A byte stream to one probe and back. Nothing that comes over it is believed without its seal.

    Attributes:
        has_inside: processes at its other end are counted in a namespace of their own.
    """

    has_inside: bool

    @property
    def stdout(self) -> asyncio.StreamReader | None:
        """What the probe says; its end is the end of the probe, or of the way to it."""
        ...

    @property
    def returncode(self) -> int | None:
        """The probe's exit status, minus a signal's number; None while it runs, and where it is not known."""
        ...

    @property
    def stderr_written(self) -> int:
        """How many bytes the probe, and what it started, wrote on descriptor 2."""
        ...

    def stderr_tail(self, since: int = 0) -> str:
        """The last of what they wrote; without what was written before this value of `stderr_written`."""
        ...

    def write(self, data: bytes) -> None:
        """Send to the probe; never blocks, lost when it is gone."""
        ...

    def close_stdin(self) -> None:
        """Let the probe read the end of its input."""
        ...

    async def wait(self) -> int:
        """Wait until the probe has ended; its exit status."""
        ...

    async def drained(self) -> None:
        """Wait a moment for the rest of what it wrote on descriptor 2."""
        ...

    async def kill_tree(self) -> None:
        """End the probe and all that it started, and wait until it is gone; safe to call twice."""
        ...

    async def kill_branch(self, pid: int) -> None:
        """End more surely what a `kill` message asks the zygote to end, where processes can be reached from here."""
        ...

    async def kill_strays(self) -> None:
        """End what its runs left behind, where processes can be reached from here."""
        ...


class Backend(Protocol):
    """A place where the tests of a project can run."""

    @property
    def folder(self) -> Path:
        """The folder of all copies there."""
        ...

    def open(
        self, snapshot: Snapshot, overlay: Mapping[Path, bytes], *, fresh: bool = False
    ) -> AbstractAsyncContextManager[WorkingCopy]:
        """A writable copy of a snapshot there; see `ports.Mirror.lease`."""
        ...

    async def start(
        self,
        executable: Path,
        environment: Mapping[str, str],
        mode: Mode,
        options: Mapping[str, Any],
        wrapper: Sequence[str] = (),
    ) -> Link:
        """Start a probe there.

        Args:
            executable: the interpreter.
            environment: of the process.
            mode: what it is for.
            options: of the process (docs/internals/wire.md).
            wrapper: a command that starts it inside of something, as the zygote named it.

        Raises:
            EnvironmentProblem: the interpreter cannot be started.
        """
        ...


class LocalBackend:
    """The machine that we are on, with the copies of a mirror. Implements `Backend`.

    Args:
        mirror: leases the copies.
    """

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror
        self.open = mirror.lease

    @property
    def folder(self) -> Path:
        """The folder of all copies."""
        return self._mirror.folder

    async def start(
        self,
        executable: Path,
        environment: Mapping[str, str],
        mode: Mode,
        options: Mapping[str, Any],
        wrapper: Sequence[str] = (),
    ) -> Link:
        """Start a process; see `Backend.start`."""
        argv: Sequence[str | Path] = [
            *wrapper, executable, "-c", BOOT, PROBE, mode.value, json.dumps(options),
        ]  # fmt: skip
        try:
            process = await processes.start(
                argv, cwd=PROBE, env=environment, stdin=True, stdout=True, nice=NICE
            )
        except OSError as error:
            raise EnvironmentProblem(
                f"The interpreter {executable} cannot be started: {error.strerror or error}.",
                "Choose another one with the setting regreen.interpreter.",
            ) from error
        process.has_inside = bool(wrapper)
        return process
