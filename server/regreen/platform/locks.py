"""How do two Regreens on one machine keep out of each other's files?

A lock on a file that the system takes back when its holder dies, so no lock outlives a crash.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol


class _System(Protocol):
    """How one operating system locks an open file; `take` says whether it could."""

    def take(self, fd: int, *, wait: bool) -> bool: ...

    def release(self, fd: int) -> None: ...


class _Flock:
    """POSIX: flock(2), which belongs to the open file and is not inherited by a program that is started."""

    def __init__(self, module: Any = None) -> None:
        self._fcntl = module or importlib.import_module("fcntl")

    def take(self, fd: int, *, wait: bool) -> bool:
        try:
            self._fcntl.flock(fd, self._fcntl.LOCK_EX | (0 if wait else self._fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        return True

    def release(self, fd: int) -> None:
        self._fcntl.flock(fd, self._fcntl.LOCK_UN)


class _Msvcrt:
    """Windows: a lock on the file's first byte; its blocking form gives up after ten tries of a second."""

    def __init__(self, module: Any = None) -> None:
        self._msvcrt = module or importlib.import_module("msvcrt")

    def take(self, fd: int, *, wait: bool) -> bool:
        while True:
            os.lseek(fd, 0, os.SEEK_SET)
            try:
                self._msvcrt.locking(fd, self._msvcrt.LK_LOCK if wait else self._msvcrt.LK_NBLCK, 1)
            except OSError:
                if not wait:
                    return False
            else:
                return True

    def release(self, fd: int) -> None:
        os.lseek(fd, 0, os.SEEK_SET)
        self._msvcrt.locking(fd, self._msvcrt.LK_UNLCK, 1)


class FileLock:
    """An exclusive lock held through an open file.

    Args:
        path: the lock file; made when missing, never deleted (deleting one lets two hold "the" lock).
        system: how to lock; the running system's way when None.
    """

    def __init__(self, path: Path, system: _System | None = None) -> None:
        self.path = path
        self._system = system or (_Msvcrt() if os.name == "nt" else _Flock())
        self._fd = -1

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""
        return self._fd >= 0

    def acquire(self, *, wait: bool = True) -> bool:
        """Take the lock; with `wait` this blocks, so call it through `run_blocking`.

        Returns:
            False when someone else holds it and `wait` is false.

        Raises:
            OSError: the file cannot be opened.
            RuntimeError: this object holds it already.
        """
        if self.held:
            raise RuntimeError(f"{self.path} is locked by this very object already")
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            if self._system.take(fd, wait=wait):
                self._fd, fd = fd, -1
        finally:
            if fd >= 0:
                os.close(fd)
        return self.held

    def release(self) -> None:
        """Give the lock back; harmless when it is not held."""
        if self.held:
            fd, self._fd = self._fd, -1
            try:
                self._system.release(fd)
            finally:
                os.close(fd)


@contextmanager
def locked(path: Path) -> Iterator[FileLock]:
    """Hold the lock of `path` for a block of blocking code."""
    lock = FileLock(path)
    lock.acquire()
    try:
        yield lock
    finally:
        lock.release()
