"""How is a process started so that it, and everything it starts, can always be ended?

This is the only place that starts processes. Each gets its own session, a mark in its environment that its
descendants inherit (see `proctable`), a bounded tail of what it writes on descriptor 2, and an entry in the
registry that `kill_all` empties, also on the way out through `os._exit`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import subprocess
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from regreen.platform import proctable, winjob
from regreen.platform.background import run_blocking
from regreen.platform.waiting import uninterrupted, within

log = logging.getLogger(__name__)

WINDOWS = os.name == "nt"
STDERR_TAIL = 16_384
"""How much of a process's standard error is kept, in bytes."""
PIPE_GRACE = 0.3
"""How long after a process's end its output may still be on its way, in seconds."""
MAX_LINE = 64 * 1024 * 1024
"""The longest line that can be read from a process, in bytes."""

_alive: set[Process] = set()


class _Protocol(asyncio.SubprocessProtocol):
    """Feeds stdout to a stream, keeps the tail of stderr, and tells when the process itself has ended.

    (asyncio's own waits, in some Python versions, until every pipe is closed: a daemon that inherited
    one would keep it waiting for ever. For the same reason the stream ends soon after the process.)
    """

    def __init__(self, stdout: asyncio.StreamReader | None) -> None:
        self.stdout = stdout
        self.stdout_ended = False
        self.tail = bytearray()
        self.written = 0
        self.exited = asyncio.Event()
        self.stderr_closed = asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 1 and self.stdout is not None:
            if not self.stdout_ended:
                self.stdout.feed_data(data)
        else:
            self.written += len(data)
            self.tail += data
            del self.tail[:-STDERR_TAIL]

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        del exc  # the other side is gone: that is all there is to know
        if fd == 1:
            self._end_stdout()
        elif fd == 2:
            self.stderr_closed.set()

    def process_exited(self) -> None:
        self.exited.set()
        asyncio.get_running_loop().call_later(PIPE_GRACE, self._end_stdout)

    def _end_stdout(self) -> None:
        if self.stdout is not None and not self.stdout_ended:
            self.stdout_ended = True
            self.stdout.feed_eof()


class Process:
    """One process that we started, and all that it starts. Made by `start`.

    Attributes:
        pid: its id; also the id of its process group and session.
        mark: what its whole tree carries in the environment.
        stdout: the stream of its output, None unless asked for; ends at the latest `PIPE_GRACE` after the
            process, even if a child still holds the pipe.
        has_inside: it keeps what it starts in a process namespace, whose first process adopts daemons and whose
            second one is the one that matters.
    """

    def __init__(
        self, transport: asyncio.SubprocessTransport, protocol: _Protocol, mark: str, job: winjob.Job | None
    ) -> None:
        self._transport = transport
        self._protocol = protocol
        self._job = job
        self.mark = mark
        self.has_inside = False
        self.pid = transport.get_pid()
        self.stdout = protocol.stdout

    @property
    def returncode(self) -> int | None:
        """Exit status; minus the signal's number if a signal ended it; None while it runs."""
        return self._transport.get_returncode()

    def write(self, data: bytes) -> None:
        """Send to its standard input; buffered, never blocks, lost when the process is gone."""
        pipe = self._transport.get_pipe_transport(0)
        if isinstance(pipe, asyncio.WriteTransport) and not pipe.is_closing():
            pipe.write(data)

    def close_stdin(self) -> None:
        """Let it read the end of its input."""
        pipe = self._transport.get_pipe_transport(0)
        if pipe is not None:
            pipe.close()

    @property
    def stderr_written(self) -> int:
        """How many bytes it and its children wrote on descriptor 2 so far."""
        return self._protocol.written

    def stderr_tail(self, since: int = 0) -> str:
        """The last bytes it and its children wrote on descriptor 2, at most `STDERR_TAIL`.

        Args:
            since: leave out what was written before this value of `stderr_written`.
        """
        tail = self._protocol.tail
        return tail[max(len(tail) - (self._protocol.written - since), 0) :].decode("utf-8", "replace")

    async def wait(self) -> int:
        """Wait until the process itself has ended, whatever its children do; its exit status."""
        await self._protocol.exited.wait()
        code = self.returncode
        return -1 if code is None else code

    async def drained(self, seconds: float = PIPE_GRACE) -> None:
        """Wait until what it wrote on descriptor 2 has arrived, at most so long: a child may hold it open."""
        with contextlib.suppress(asyncio.TimeoutError):
            await within(seconds, self._protocol.stderr_closed.wait())

    async def kill_tree(self) -> None:
        """End it and everything it started, and wait until they are gone; safe at any time, and twice.

        Completes even if the waiting task is cancelled meanwhile: nothing may be left behind.
        """
        await uninterrupted(self._kill_tree())

    async def _kill_tree(self) -> None:
        try:
            if WINDOWS:
                self._kill_job()
            else:
                left = await run_blocking(proctable.kill, self._tree())
                if left:
                    log.warning("processes %s could not be ended", sorted(left))
            with contextlib.suppress(asyncio.TimeoutError):
                await within(3.0, self._protocol.exited.wait())
        finally:
            self._transport.close()
            _alive.discard(self)

    async def kill_branch(self, pid: int) -> None:
        """End a descendant, its group and all below it; the rest of the tree lives on. POSIX only.

        Args:
            pid: its id, inside if there is an inside.
        """
        find = partial(proctable.subtree, pid, self.pid, self.mark, inside=self.has_inside)
        await uninterrupted(run_blocking(proctable.kill, find, seconds=1.0))

    async def kill_strays(self) -> None:
        """End the daemons that its children left behind; it and its children live on. POSIX only."""
        find = partial(proctable.strays, self.pid, self.mark, inside=self.has_inside)
        await uninterrupted(run_blocking(proctable.kill, find))

    def _tree(self) -> Callable[[Mapping[int, proctable.Row]], set[int]]:
        ended = self._protocol.exited.is_set()
        return partial(proctable.whole_tree, self.pid, self.mark, ended=ended)

    def _kill_job(self) -> None:
        if self._job is not None:
            self._job.terminate()
            self._job.close()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            self._transport.kill()

    def kill_now(self) -> None:
        """The same as `kill_tree`, blocking and without an event loop: for the way out."""
        if WINDOWS:
            self._kill_job()
        else:
            proctable.kill(self._tree(), seconds=1.0)
        _alive.discard(self)


async def start(
    argv: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bool = False,
    stdout: bool = False,
    nice: int = 0,
) -> Process:
    """Start a process without a shell, in its own session.

    Args:
        argv: the program and its arguments.
        cwd: its working directory; ours when None.
        env: its whole environment; ours when None.
        stdin: give it a pipe to read from, else the null device.
        stdout: give it a pipe to write to, else the null device.
        nice: how much to lower its priority, 0 to 19; on Windows anything above 0 is "below normal".

    Raises:
        OSError: it cannot be started.
    """
    mark = uuid.uuid4().hex
    options: dict[str, Any] = {"start_new_session": True}
    if WINDOWS:
        below_normal = getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0) if nice else 0
        options = {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0) | below_normal}
    loop = asyncio.get_running_loop()
    stream = asyncio.StreamReader(limit=MAX_LINE) if stdout else None
    transport, protocol = await loop.subprocess_exec(
        lambda: _Protocol(stream),
        *[os.fspath(arg) for arg in argv],
        stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
        stdout=subprocess.PIPE if stdout else subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env={**(os.environ if env is None else env), proctable.MARK: mark},
        **options,
    )
    pipe = transport.get_pipe_transport(1)
    if stream is not None and pipe is not None:
        stream.set_transport(pipe)  # lets a full stream pause the reading
    process = Process(transport, protocol, mark, _job(transport.get_pid()) if WINDOWS else None)
    _alive.add(process)
    if nice and not WINDOWS:
        with contextlib.suppress(OSError):  # it may have ended already
            os.setpriority(os.PRIO_PGRP, process.pid, nice)  # and what it may have started already
    return process


def _job(pid: int) -> winjob.Job | None:
    try:
        return winjob.Job(pid, winjob.kernel32())
    except OSError as error:  # it ended at once, or runs inside a job that forbids nesting
        log.warning("process %d is not in a job: %s", pid, error)
        return None


def alive() -> frozenset[Process]:
    """Every process that was started here and not ended by `kill_tree` yet."""
    return frozenset(_alive)


def kill_all() -> None:
    """End everything that was ever started here and still runs. Blocks; needs no event loop."""
    for process in tuple(_alive):
        process.kill_now()


@dataclass(frozen=True, slots=True)
class Captured:
    """What a short command gave. `code` is None when its deadline ended it."""

    code: int | None
    stdout: bytes
    stderr: str


async def capture(
    argv: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    seconds: float = 10.0,
) -> Captured:
    """Run a short command to its end and give what it wrote; nothing of it outlives the call.

    Raises:
        OSError: it cannot be started.
    """
    process = await start(argv, cwd=cwd, env=env, stdin=bool(stdin), stdout=True)
    stream = process.stdout
    chunks: list[bytes] = []

    async def read() -> None:
        while stream is not None and (chunk := await stream.read(65_536)):
            chunks.append(chunk)

    reading = asyncio.create_task(read())
    code: int | None = None
    try:
        if stdin:
            process.write(stdin)
            process.close_stdin()
        with contextlib.suppress(asyncio.TimeoutError):
            code = await within(seconds, process.wait())
            await reading
            await process.drained()
    finally:
        reading.cancel()
        await process.kill_tree()
    return Captured(code, b"".join(chunks), process.stderr_tail())
