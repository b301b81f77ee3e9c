"""Is the process with this id still running?

Asked of the editor that started us and of the owners of lock files. A process that is another user's is alive.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any

from regreen.platform.proctable import PROC

QUERY_LIMITED_INFORMATION = 0x1000
STILL_ACTIVE = 259
ACCESS_DENIED = 5


def is_alive(pid: int) -> bool:
    """Whether a process with this id runs; one that only waits to be reaped does not."""
    if pid <= 0:
        return False
    return _alive_windows(pid, _kernel32()) if os.name == "nt" else _alive_posix(pid)


def _alive_posix(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    except OverflowError:  # no process can have such an id
        return False
    try:
        stat = (PROC / str(pid) / "stat").read_bytes()
    except OSError:  # no /proc here, or it ended just now
        return not (PROC / "self").exists()
    return stat[stat.rindex(b")") + 2 :][:1] not in (b"Z", b"X")


def _kernel32() -> Any:
    library = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined]
    library.OpenProcess.restype = ctypes.c_void_p
    return library


def _alive_windows(pid: int, library: Any) -> bool:
    handle = library.OpenProcess(QUERY_LIMITED_INFORMATION, 0, pid)
    if not handle:
        return bool(library.GetLastError() == ACCESS_DENIED)
    try:
        code = ctypes.c_uint32()
        asked = library.GetExitCodeProcess(ctypes.c_void_p(handle), ctypes.byref(code))
        return bool(asked) and code.value == STILL_ACTIVE
    finally:
        library.CloseHandle(ctypes.c_void_p(handle))
