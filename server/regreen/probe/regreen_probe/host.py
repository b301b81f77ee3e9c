"""How does one warm process serve many runs?

The zygote holds pytest and nothing of the project, has one thread, and forks a child for every run. It moves
whole lines from the children's pipes to the server, and ends what it is told to end.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import sys

from regreen_probe import cache, confine, facts, preload, run
from regreen_probe.pipe import Pipe, private

CHUNK = 1 << 16
MUCH = 1 << 23
"""Bytes waiting for the server at which children have to wait, too."""


def can_fork() -> bool:
    """Whether one process can serve many runs here."""
    return hasattr(os, "fork") and not os.environ.get("REGREEN_NO_FORK")


def serve(reader: int, pipe: Pipe) -> None:
    """Be the zygote until the server says stop or goes away; ends the process."""
    with contextlib.suppress(ImportError):  # told by hello: a run may bring one
        importlib.import_module("pytest")
    pytest = facts.imported_pytest()
    if not can_fork():
        pipe.send(facts.hello(pytest, fork=False))
        while os.read(reader, CHUNK):  # every run has a process of its own; this one only waits for the end
            pass
        os._exit(0)
    Host(reader, pipe).serve(pytest)


class Child:
    """One run: its process group `pid`, the reading end of its pipe, and what is not a whole line yet."""

    def __init__(self, pid: int, fd: int) -> None:
        self.pid = pid
        self.fd = fd
        self.rest: list[bytes] = []
        self.closed = False


class Host:
    """The loop of the zygote."""

    def __init__(self, reader: int, pipe: Pipe) -> None:
        self.reader = reader
        self.pipe = pipe
        self.children: dict[int, Child] = {}
        self.output = bytearray()
        self.files: list[str] = []
        self.trial: preload.Trial | None = None
        self.modules: list[str] = []
        self._input = b""

    def serve(self, pytest: str | None) -> None:
        """Serve until stop; ends the process."""
        self.wake, wake_end = os.pipe()
        os.set_blocking(self.wake, False)
        os.set_blocking(wake_end, False)
        signal.set_wakeup_fd(wake_end, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.wake_end = wake_end
        self._say(facts.hello(pytest, fork=True))
        os.set_blocking(self.pipe.fd, False)
        gc.collect()
        gc.freeze()
        try:
            while self._step():
                pass
        finally:
            self._end_all()
            os._exit(0)

    def _say(self, record: dict[str, object]) -> None:
        self.output += json.dumps(record).encode() + b"\n"

    def _step(self) -> bool:
        """One turn of the loop; False when it is over."""
        fds = {c.fd: c for c in self.children.values() if not c.closed}
        listen = [self.reader, self.wake]
        if len(self.output) < MUCH:
            listen += fds
        if self.trial is not None:
            listen.append(self.trial.fd)
        wait = 0 if self.files or self.modules else None
        ready, writable, _ = select.select(listen, [self.pipe.fd] if self.output else [], [], wait)
        if self.wake in ready:
            self._drain(self.wake)
        for fd in ready:
            if fd in fds:
                self._relay(fds[fd])
        self._reap()
        if writable and not self._flush():
            return False
        if self.reader in ready and not self._listen():
            return False
        if self.trial is not None and self.trial.fd in ready and self.trial.hear():
            self._judge()
        if not ready:
            self._work_ahead()
        return True

    def _judge(self) -> None:
        """A trial is over: import what was good."""
        trial, self.trial = self.trial, None
        if trial is not None:
            trial.end()
            self.modules, self.trial = trial.outcome()

    def _end_trial(self) -> None:
        if self.trial is not None:
            self.trial.end()
            self.trial = None

    def _work_ahead(self) -> None:
        """Nobody wants anything: do one small thing that later runs need not do."""
        if self.modules:
            preload.into_zygote(self.modules.pop(0))
            if not self.modules:
                gc.freeze()
        elif self.files:
            cache.precompile(self.files.pop(0))

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

    def _relay(self, child: Child) -> None:
        """Move what a child has written, whole lines only: several children may be writing."""
        try:
            data = os.read(child.fd, CHUNK)
        except BlockingIOError:
            return
        if not data:
            child.closed = True
            return
        lines, newline, rest = data.rpartition(b"\n")
        if newline:
            self.output += b"".join(child.rest) + lines + newline
            child.rest.clear()
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
            self._relay(child)
        os.close(child.fd)
        del self.children[number]
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        signalled = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        self._say({"id": number, "ev": "ended", "code": code, "signal": signalled})

    def _listen(self) -> bool:
        """Take messages; False at stop."""
        data = os.read(self.reader, CHUNK)
        if not data:
            return False
        *lines, self._input = (self._input + data).split(b"\n")
        return all(self._obey(line) for line in lines if line.strip())  # nothing is obeyed after a stop

    def _obey(self, line: bytes) -> bool:
        message = json.loads(line)
        op = message["op"]
        if op == "stop":
            return False
        if op == "run":
            self._fork(line, message["id"])
        elif op == "precompile":
            self.files += message["files"]
        elif op == "preload":
            self._end_trial()
            self.trial = preload.Trial(message["modules"], message["never"])
        elif message.get("id") in self.children:
            pid = self.children[message["id"]].pid
            if op == "kill":
                end_group(pid)
            elif op == "dump":
                os.kill(pid, signal.SIGUSR1)
        return True

    def _fork(self, line: bytes, number: int) -> None:
        """Start a run in a child of its own."""
        sys.stdout.flush()
        sys.stderr.flush()
        reader, writer = os.pipe()
        zygote = os.getpid()
        # A dump that comes before the child listens for it must not end the child.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
        pid = os.fork()
        if pid == 0:
            try:
                self._become_run(line, reader, writer, zygote)
            finally:
                os._exit(70)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
        os.close(writer)
        with contextlib.suppress(OSError):  # it did so itself, or is gone
            os.setpgid(pid, pid)
        os.set_blocking(reader, False)
        self.children[number] = Child(pid, reader)

    def _become_run(self, line: bytes, reader: int, writer: int, zygote: int) -> None:
        """In the child: forget the zygote and run."""
        os.setpgid(0, 0)
        confine.die_with_parent(zygote)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        mine = private(writer)
        held = [c.fd for c in self.children.values()] + ([self.trial.fd] if self.trial else [])
        for fd in (reader, writer, self.reader, self.pipe.fd, self.wake, self.wake_end, *held):
            os.close(fd)
        self.children.clear()
        run.perform(line, Pipe(mine), None)

    def _end_all(self) -> None:
        self._end_trial()
        for child in self.children.values():
            end_group(child.pid)
        for child in self.children.values():
            os.waitpid(child.pid, 0)
            end_group(child.pid)


def end_group(pid: int) -> None:
    """SIGKILL to a process group, if there still is one."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # gone; or (macOS) only zombies are left
        os.killpg(pid, signal.SIGKILL)
