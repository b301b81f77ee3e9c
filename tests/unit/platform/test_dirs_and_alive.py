from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import platformdirs
import pytest

from regreen.platform import alive, dirs


def test_folders_are_made_private_and_can_be_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGREEN_CACHE_DIR", str(tmp_path / "deep" / "cache"))
    monkeypatch.setenv("REGREEN_STATE_DIR", str(tmp_path / "state"))
    cache, state = dirs.cache_dir("a", "b"), dirs.state_dir()
    assert cache == tmp_path / "deep" / "cache" / "a" / "b"
    assert state == tmp_path / "state"
    for folder in (cache, cache.parent, cache.parent.parent, state):
        assert folder.stat().st_mode & 0o777 == 0o700


def test_without_overrides_they_are_where_the_system_wants_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REGREEN_CACHE_DIR", raising=False)
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda name, **_: str(tmp_path / name))
    assert dirs.cache_dir() == tmp_path / "regreen"


def test_a_relative_override_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REGREEN_CACHE_DIR", "here")
    assert dirs.cache_dir() == tmp_path / "here"


def test_a_running_process_is_alive_and_a_dead_one_is_not() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert alive.is_alive(child.pid)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert not alive.is_alive(child.pid)  # a zombie
        child.wait()
        assert not alive.is_alive(child.pid)


def test_nonsense_ids_are_dead_and_we_are_alive() -> None:
    assert alive.is_alive(os.getpid())
    assert not alive.is_alive(0)
    assert not alive.is_alive(-1)
    assert not alive.is_alive(2**80)


def test_another_users_process_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    def kill(pid: int, signal: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", kill)
    assert alive.is_alive(4242)


def test_without_proc_the_signal_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alive, "PROC", tmp_path)
    assert alive.is_alive(os.getpid())


class Kernel32:
    def __init__(self, handle: int = 0, code: int = 0, error: int = 0) -> None:
        self.handle, self.code, self.error = handle, code, error
        self.closed = 0

    def OpenProcess(self, access: int, inherit: int, pid: int) -> int:  # noqa: N802 — Windows' name
        assert access == 0x1000
        return self.handle

    def GetExitCodeProcess(self, handle: Any, code: Any) -> int:  # noqa: N802 — Windows' name
        ctypes.cast(code, ctypes.POINTER(ctypes.c_uint32))[0] = self.code
        return 1

    def GetLastError(self) -> int:  # noqa: N802 — Windows' name
        return self.error

    def CloseHandle(self, handle: Any) -> int:  # noqa: N802 — Windows' name
        self.closed += 1
        return 1


@pytest.mark.parametrize(
    ("library", "expected"),
    [
        (Kernel32(handle=7, code=259), True),
        (Kernel32(handle=7, code=0), False),
        (Kernel32(error=5), True),  # access denied: there is somebody
        (Kernel32(error=87), False),  # no such process
    ],
)
def test_windows_asks_for_the_exit_code(library: Kernel32, expected: bool) -> None:
    assert alive._alive_windows(7, library) is expected
    assert library.closed == (1 if library.handle else 0)
