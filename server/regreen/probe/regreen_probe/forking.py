"""How does one process serve many runs, each in a fork of its own?

A process with one thread that forks a child for each run, moves whole lines from the children's pipes to its own,
and ends what it is told to end. What a child does, and what else can be asked for, is for those who build on it.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import sys
from collections.abc import Callable

from regreen_probe import confine
from regreen_probe.pipe import Pipe, private

CHUNK = 1 << 16
MUCH = 1 << 23
"""Bytes waiting for the server at which children have to wait, too."""


class Child:
    """One run: its process group `pid`, the reading end of its pipe, and what is not a whole line yet.

    Args:
        prefix: put before each of its lines.
    """

    def __init__(self, pid: int, fd: int, prefix: bytes) -> None:
        self.pid = pid
        self.fd = fd
        self.prefix = prefix
        self.rest: list[bytes] = []
        self.closed = False


class Forking:
    """The loop.

    Args:
        reader: where messages come from, one JSON object a line; its end means `stop`.
        pipe: where records go.
    """

    def __init__(self, reader: int, pipe: Pipe) -> None:
        self.reader = reader
        self.pipe = pipe
        self.children: dict[int, Child] = {}
        self.output = bytearray()
        self._input = b""

    # ------------------------------------------------------------------ for those who build on it

    def obey(self, message: dict, _line: bytes) -> bool:
        """Do what one message asks for; False when it asks to stop."""
        op = message["op"]
        if op == "stop":
            return False
        if message.get("id") in self.children:
            pid = self.children[message["id"]].pid
            if op == "kill":
                end_group(pid)
            elif op == "dump":
                os.kill(pid, signal.SIGUSR1)
        return True

    def ears(self) -> dict[int, Callable[[], None]]:
        """Further descriptors to listen at, and what to do when something came."""
        return {}

    def held(self) -> list[int]:
        """Further descriptors that a child must not keep."""
        return []

    def idle(self) -> bool:
        """Do one small thing while nobody wants anything; False when there is none."""
        return False

    def relayed(self, _number: int, lines: list[bytes]) -> list[bytes]:
        """What is moved on of whole lines of a child, which have its prefix."""
        return lines

    def buried(self, number: int) -> None:
        """A child has ended, and that was said."""

    def bye(self) -> None:
        """The loop is over."""

    # ------------------------------------------------------------------ the loop

    def serve(self) -> None:
        """Serve until stop; ends the process."""
        self.open()
        try:
            while self.step():
                pass
        finally:
            self.end()

    def open(self) -> None:
        """Be ready for the loop."""
        self.wake, wake_end = os.pipe()
        os.set_blocking(self.wake, False)
        os.set_blocking(wake_end, False)
        signal.set_wakeup_fd(wake_end, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.wake_end = wake_end
        os.set_blocking(self.pipe.fd, False)
        gc.collect()
        gc.freeze()

    def end(self) -> None:
        """Leave no child behind; ends the process."""
        try:
            self.bye()
            self._end_all()
        finally:
            os._exit(0)

    def say(self, record: dict[str, object]) -> None:
        """Send a record when the other side takes it."""
        self.output += json.dumps(record).encode() + b"\n"

    def refuse(self, number: int, why: object) -> None:
        """Say that a run could not be confined as asked, and that it is over."""
        self.say({"id": number, "ev": "unconfined", "why": str(why)})
        self.say({"id": number, "ev": "ended", "code": 0, "signal": None})

    def step(self) -> bool:
        """One turn of the loop; False when it is over."""
        fds = {c.fd: (number, c) for number, c in self.children.items() if not c.closed}
        ears = self.ears()
        listen = [self.reader, self.wake, *ears]
        if len(self.output) < MUCH:
            listen += fds
        send = [self.pipe.fd] if self.output else []
        ready, writable, _ = select.select(listen, send, [], 0)
        if not ready and not writable and not self.idle():
            ready, writable, _ = select.select(listen, send, [])
        if self.wake in ready:
            self._drain(self.wake)
        for fd in ready:
            if fd in fds:
                self._relay(*fds[fd])
        self._reap()
        if writable and not self._flush():
            return False
        if self.reader in ready and not self._listen():
            return False
        for fd in ready:
            if fd in ears:
                ears[fd]()
        return True

    def _drain(self, fd: int) -> None:
        try:
            while os.read(fd, CHUNK):
                pass
        except BlockingIOError:
            return

    def _flush(self) -> bool:
        """Give the server what it takes; False when it is gone."""
        try:
            del self.output[: os.write(self.pipe.fd, self.output[:CHUNK])]
        except BlockingIOError:
            return True
        except OSError:
            return False
        return True

    def _relay(self, number: int, child: Child) -> None:
        """Move what a child has written, whole lines only, each after the child's number."""
        try:
            data = os.read(child.fd, CHUNK)
        except BlockingIOError:
            return
        if not data:
            child.closed = True
            return
        lines, newline, rest = data.rpartition(b"\n")
        if newline:
            # Whose lines they are is not for the child to say.
            whole = [child.prefix + line for line in (b"".join(child.rest) + lines).split(b"\n")]
            child.rest.clear()
            for line in self.relayed(number, whole):
                self.output += line + b"\n"
        child.rest.append(rest)

    def _reap(self) -> None:
        """Notice the children that have ended, and end what is left of their groups."""
        for number, child in list(self.children.items()):
            pid, status = os.waitpid(child.pid, os.WNOHANG)
            if pid:
                self._bury(number, child, status)

    def _bury(self, number: int, child: Child, status: int) -> None:
        end_group(child.pid)
        while not child.closed:
            if not select.select([child.fd], [], [], 0)[0]:
                break  # somebody outside of the group holds the pipe
            self._relay(number, child)
        os.close(child.fd)
        del self.children[number]
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        signalled = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        self.say({"id": number, "ev": "ended", "code": code, "signal": signalled})
        self.buried(number)

    def _listen(self) -> bool:
        """Take messages; False at stop."""
        data = os.read(self.reader, CHUNK)
        if not data:
            return False
        *lines, self._input = (self._input + data).split(b"\n")
        # nothing is obeyed after a stop
        return all(self.obey(json.loads(line), line) for line in lines if line.strip())

    def fork(
        self,
        number: int,
        begin: Callable[[Pipe], None],
        *,
        keep: tuple[int, ...] = (),
        how: Callable[[], int] = os.fork,
        prefix: bytes | None = None,
    ) -> None:
        """Start a run in a child of its own.

        Args:
            number: the run's id.
            begin: what the child does, given the pipe for its records; must end the process.
            keep: descriptors that only the child needs; closed here.
            how: forks.
            prefix: put before each line of the child; None for its number.

        Raises:
            confine.Refused: `how` cannot.
        """
        pipe = self.split(number, keep=keep, how=how, prefix=prefix)
        if pipe is not None:
            try:
                begin(pipe)
            finally:
                os._exit(70)

    def split(
        self,
        number: int,
        *,
        keep: tuple[int, ...] = (),
        how: Callable[[], int] = os.fork,
        prefix: bytes | None = None,
    ) -> Pipe | None:
        """Fork as `fork` does, but come back in both processes.

        Returns:
            In the child the pipe for its records, in this process None.
        """
        sys.stdout.flush()
        sys.stderr.flush()
        reader, writer = os.pipe()
        parent = os.getpid()
        # A dump that comes before the child listens for it must not end the child.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
        pid = None
        try:
            pid = how()
            if pid == 0:
                try:
                    return self._become_run(reader, writer, parent)
                except BaseException:
                    os._exit(70)
        except confine.Refused:
            os.close(reader)
            raise
        finally:
            if pid != 0:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
                for fd in (writer, *keep):
                    os.close(fd)
        with contextlib.suppress(OSError):  # it did so itself, or is gone
            os.setpgid(pid, pid)
        os.set_blocking(reader, False)
        self.children[number] = Child(pid, reader, b"%d " % number if prefix is None else prefix)
        return None

    def _become_run(self, reader: int, writer: int, parent: int) -> Pipe:
        """In the child: forget all that the parent holds."""
        os.setpgid(0, 0)
        confine.die_with_parent(parent)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        mine = private(writer)
        others = [child.fd for child in self.children.values()]
        for fd in (
            reader,
            writer,
            self.reader,
            self.pipe.fd,
            self.wake,
            self.wake_end,
            *others,
            *self.held(),
        ):
            os.close(fd)
        self.children.clear()
        return Pipe(mine)

    def _end_all(self) -> None:
        for child in self.children.values():
            end_group(child.pid)
        for child in self.children.values():
            os.waitpid(child.pid, 0)
            end_group(child.pid)


def end_group(pid: int) -> None:
    """SIGKILL to a process group, if there still is one."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # gone; or (macOS) only zombies are left
        os.killpg(pid, signal.SIGKILL)
