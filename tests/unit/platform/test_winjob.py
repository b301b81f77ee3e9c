# ruff: noqa: N802 — the names are those of Windows
from __future__ import annotations

import ctypes
import struct
from typing import Any

import pytest

from regreen.platform import processes, winjob


class Kernel32:
    """Records the calls; `refuse` names one that fails, as Windows does, by returning 0."""

    def __init__(self, refuse: str = "") -> None:
        self.refuse = refuse
        self.calls: list[str] = []
        self.closed: list[int] = []
        self.limits = b""

    def _answer(self, name: str, value: int) -> int:
        self.calls.append(name)
        return 0 if name == self.refuse else value

    def CreateJobObjectW(self, attributes: None, name: None) -> int:
        return self._answer("create", 0x1_0000_0001)

    def SetInformationJobObject(self, job: Any, kind: int, limits: Any, size: int) -> int:
        assert kind == 9
        self.limits = ctypes.string_at(limits, size)
        return self._answer("limit", 1)

    def OpenProcess(self, access: int, inherit: int, pid: int) -> int:
        assert (access, pid) == (0x101, 42)
        return self._answer("open", 0x2_0000_0002)

    def AssignProcessToJobObject(self, job: Any, process: Any) -> int:
        assert (job.value, process.value) == (0x1_0000_0001, 0x2_0000_0002)
        return self._answer("assign", 1)

    def TerminateJobObject(self, job: Any, code: int) -> int:
        return self._answer("terminate", 1)

    def CloseHandle(self, handle: Any) -> int:
        self.closed.append(handle.value)
        return 1


def test_the_job_holds_the_process_and_kills_on_close() -> None:
    library = Kernel32()
    job = winjob.Job(42, library)
    assert library.calls == ["create", "limit", "open", "assign"]
    assert library.closed == [0x2_0000_0002]  # only the process handle
    if struct.calcsize("P") == 8:
        assert len(library.limits) == 144  # sizeof(JOBOBJECT_EXTENDED_LIMIT_INFORMATION), winnt.h
    assert struct.unpack_from("<I", library.limits, 16) == (0x2000,)
    job.terminate()
    job.close()
    job.close()
    job.terminate()
    assert library.calls[4:] == ["terminate"]
    assert library.closed == [0x2_0000_0002, 0x1_0000_0001]


@pytest.mark.parametrize(("refuse", "closed"), [("create", 0), ("limit", 1), ("open", 1), ("assign", 2)])
def test_a_refused_step_is_an_os_error_and_leaks_no_handle(refuse: str, closed: int) -> None:
    library = Kernel32(refuse)
    with pytest.raises(OSError, match="refused"):
        winjob.Job(42, library)
    assert len(library.closed) == closed


async def test_on_windows_a_process_is_ended_through_its_job(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    class Job:
        def __init__(self, pid: int, library: object) -> None:
            made.append(pid)
            self.pid = pid

        def terminate(self) -> None:
            made.append(-self.pid)

        def close(self) -> None:
            made.append(0)

    monkeypatch.setattr(processes, "WINDOWS", True)
    monkeypatch.setattr(winjob, "Job", Job)
    monkeypatch.setattr(winjob, "kernel32", lambda: None)
    process = await processes.start(["/bin/sleep", "3600"], nice=5)
    await process.kill_tree()
    assert made == [process.pid, -process.pid, 0]
    assert process.returncode == -9
