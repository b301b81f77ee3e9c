"""How does Windows end a process with everything that it started?

A job object that kills its members when its last handle closes: when the server dies, the system closes the
handle and the project's processes die with it. The calls take the library as an argument, so that the order
and the structures can be tested on any system.
"""

from __future__ import annotations

import ctypes
from typing import Any

KILL_ON_JOB_CLOSE = 0x2000
EXTENDED_LIMITS = 9  # JobObjectExtendedLimitInformation
TERMINATE_AND_SET_QUOTA = 0x0001 | 0x0100  # what AssignProcessToJobObject asks of the process handle


class _BasicLimits(ctypes.Structure):
    _fields_ = (
        ("PerProcessUserTimeLimit", ctypes.c_int64),
        ("PerJobUserTimeLimit", ctypes.c_int64),
        ("LimitFlags", ctypes.c_uint32),
        ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t),
        ("ActiveProcessLimit", ctypes.c_uint32),
        ("Affinity", ctypes.c_size_t),
        ("PriorityClass", ctypes.c_uint32),
        ("SchedulingClass", ctypes.c_uint32),
    )


class _ExtendedLimits(ctypes.Structure):
    _fields_ = (
        ("BasicLimitInformation", _BasicLimits),
        ("IoInfo", ctypes.c_uint64 * 6),
        ("ProcessMemoryLimit", ctypes.c_size_t),
        ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t),
        ("PeakJobMemoryUsed", ctypes.c_size_t),
    )


def kernel32() -> Any:
    """The system's library, with the types of the handles set (they are wider than an int)."""
    library = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined]
    for name in ("CreateJobObjectW", "OpenProcess"):
        getattr(library, name).restype = ctypes.c_void_p
    return library


class Job:
    """A job object holding one process and all that it will start.

    Args:
        pid: the process, just started.
        library: kernel32 or what stands in for it.

    Raises:
        OSError: the system refused one of the steps.
    """

    def __init__(self, pid: int, library: Any) -> None:
        self._library = library
        self._handle = ctypes.c_void_p(self._must(library.CreateJobObjectW(None, None), "create a job"))
        limits = _ExtendedLimits()
        limits.BasicLimitInformation.LimitFlags = KILL_ON_JOB_CLOSE
        process = None
        try:
            self._must(
                library.SetInformationJobObject(
                    self._handle, EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits)
                ),
                "limit a job",
            )
            process = ctypes.c_void_p(
                self._must(library.OpenProcess(TERMINATE_AND_SET_QUOTA, 0, pid), f"open process {pid}")
            )
            self._must(library.AssignProcessToJobObject(self._handle, process), "assign to a job")
        except OSError:
            self.close()
            raise
        finally:
            if process is not None:
                library.CloseHandle(process)

    @staticmethod
    def _must(result: int | None, doing: str) -> int:
        if not result:
            raise OSError(f"Windows refused to {doing}")
        return result

    def terminate(self) -> None:
        """End every process of the job now; harmless when they have ended or the job is closed."""
        if self._handle:
            self._library.TerminateJobObject(self._handle, 1)

    def close(self) -> None:
        """Give the handle back, which ends what is left of the job. Safe to call twice."""
        if self._handle:
            self._library.CloseHandle(self._handle)
            self._handle = ctypes.c_void_p()
