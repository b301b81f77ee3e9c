from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from regreen.platform import locks
from regreen.platform.locks import FileLock, locked

HOLD = """
import sys
from pathlib import Path
from regreen.platform.locks import FileLock
lock = FileLock(Path(sys.argv[1]))
assert lock.acquire(wait=False)
print("held", flush=True)
sys.stdin.read()
"""


def test_another_process_is_kept_out_until_the_holder_dies(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        mine = FileLock(path)
        assert mine.acquire(wait=False) is False
        assert not mine.held
        holder.kill()
        holder.wait()
        assert mine.acquire() is True
        mine.release()


def test_two_objects_of_one_process_exclude_each_other(tmp_path: Path) -> None:
    second = FileLock(tmp_path / "lock")
    with locked(tmp_path / "lock") as first:
        assert first.held
        assert second.acquire(wait=False) is False
    assert second.acquire(wait=False) is True
    second.release()
    second.release()


def test_a_block_gives_the_lock_back_after_an_error(tmp_path: Path) -> None:
    def fail() -> None:
        with locked(tmp_path / "lock"):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with locked(tmp_path / "lock") as lock:
        assert lock.held
    assert not lock.held


def test_taking_it_twice_is_a_bug_not_a_deadlock(tmp_path: Path) -> None:
    with locked(tmp_path / "lock") as lock, pytest.raises(RuntimeError):
        lock.acquire()


def test_the_lock_file_is_private_and_stays(tmp_path: Path) -> None:
    with locked(tmp_path / "lock"):
        pass
    assert (tmp_path / "lock").stat().st_mode & 0o777 == 0o600


class Msvcrt:
    """Locks one byte for one descriptor, as Windows does; LK_LOCK gives up after ten tries."""

    LK_LOCK, LK_NBLCK, LK_UNLCK = 1, 2, 0

    def __init__(self) -> None:
        self.owner = -1
        self.give_up = 0

    def locking(self, fd: int, mode: int, size: int) -> None:
        assert size == 1
        assert os.lseek(fd, 0, os.SEEK_CUR) == 0
        if mode == self.LK_UNLCK:
            assert self.owner == fd
            self.owner = -1
        elif self.owner >= 0:
            if mode == self.LK_LOCK:
                self.give_up += 1
                if self.give_up == 3:
                    self.owner = -1  # the other one lets go at last
            raise OSError(errno.EDEADLK, "deadlock avoided")
        else:
            self.owner = fd


def test_windows_locks_one_byte_and_waits_beyond_ten_seconds(tmp_path: Path) -> None:
    module = Msvcrt()
    first = FileLock(tmp_path / "lock", locks._Msvcrt(module))
    second = FileLock(tmp_path / "lock", locks._Msvcrt(module))
    assert first.acquire()
    assert second.acquire(wait=False) is False
    assert second.acquire(wait=True) is True
    assert module.give_up == 3
    second.release()
    assert module.owner == -1
