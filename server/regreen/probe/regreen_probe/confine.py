"""What is a run kept from doing, and is that really so?

Landlock (Linux 5.13 and later; system call numbers and rights from the kernel's include/uapi/linux/landlock.h)
lets a run write only below the folders it was given. Reading stays free. The level is what was seen to happen.
"""

from __future__ import annotations

import errno
import os
import signal
import struct
import sys

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same on every architecture
PATH_BENEATH = 1
SCOPE_SIGNAL = 1 << 1
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38
WRITE_FILE, REFER, TRUNCATE = 1 << 1, 1 << 13, 1 << 14
CREATING = sum(1 << bit for bit in range(4, 13))  # remove and make entries of every kind
FILE_SIZE = 1 << 30
"""Bytes; the largest file a run may write."""
DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx")
DEVICE_FOLDERS = ("pts", "shm")  # terminals of tests; named semaphores of multiprocessing


def landlock_abi() -> int:
    """The version of Landlock the kernel offers; 0 for none (or REGREEN_NO_LANDLOCK is set)."""
    if not sys.platform.startswith("linux") or os.environ.get("REGREEN_NO_LANDLOCK"):
        return 0
    libc = _libc()
    return 0 if libc is None else max(_syscall(libc, CREATE_RULESET, None, 0, 1), 0)


def die_with_parent(parent: int) -> None:
    """Let the kernel end this process when the process `parent` ends (Linux only)."""
    libc = _libc() if sys.platform.startswith("linux") else None
    if libc is None:
        return
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)


def enter(wanted: str, writable: list[str], outside: list[str]) -> str:
    """Confine this process and all it will start.

    Args:
        wanted: "landlock" or "none".
        writable: the only folders that can be written afterwards.
        outside: folders to try to write in, to see whether it worked.

    Returns:
        The level as seen: "landlock" when a place that could be written no longer can, else "none".
    """
    limits()
    if wanted != "landlock":
        return "none"
    abi = landlock_abi()
    if not abi:
        return "none"
    real = [os.path.realpath(folder) for folder in writable]
    places = [p for p in outside if os.access(p, os.W_OK) and not _inside(p, real)]
    if not _restrict(abi, writable):
        return "none"
    return "landlock" if places and not any(_can_write(place) for place in places) else "none"


def limits() -> None:
    """No core dumps, no endless files."""
    try:
        import resource
    except ImportError:
        return  # Windows has none of these
    for kind, value in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, FILE_SIZE)):
        hard = resource.getrlimit(kind)[1]
        top = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (top, top))


def _restrict(abi: int, writable: list[str]) -> bool:
    import ctypes

    libc = _libc()
    if libc is None or libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    rights = WRITE_FILE | CREATING | (REFER if abi >= 2 else 0) | (TRUNCATE if abi >= 3 else 0)
    handled = struct.pack("Q", rights)
    if abi >= 6:  # signals reach only what the run itself started
        handled = struct.pack("QQQ", rights, 0, SCOPE_SIGNAL)
    ruleset = _syscall(libc, CREATE_RULESET, ctypes.c_char_p(handled), len(handled), 0)
    if ruleset < 0:
        return False
    try:
        on_files = rights & (WRITE_FILE | TRUNCATE)
        allowed = [(folder, rights) for folder in writable]
        allowed += [("/dev/" + name, on_files) for name in DEVICES]
        allowed += [("/dev/" + name, rights) for name in DEVICE_FOLDERS]
        for path, granted in allowed:
            _allow(libc, ruleset, path, granted)
        return _syscall(libc, RESTRICT_SELF, ruleset, 0) == 0
    finally:
        os.close(ruleset)


def _allow(libc, ruleset: int, path: str, rights: int) -> None:
    import ctypes

    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        rule = ctypes.c_char_p(struct.pack("=Qi", rights, fd))
        _syscall(libc, ADD_RULE, ruleset, PATH_BENEATH, rule, 0)
    finally:
        os.close(fd)


def _can_write(folder: str) -> bool:
    name = os.path.join(folder, ".regreen-%d" % os.getpid())
    try:
        fd = os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    except OSError as error:
        return error.errno not in (errno.EACCES, errno.EPERM)
    os.close(fd)
    os.unlink(name)
    return True


def _inside(folder: str, real: list[str]) -> bool:
    folder = os.path.realpath(folder)
    return any(folder == r or folder.startswith(r.rstrip(os.sep) + os.sep) for r in real)


def _libc():
    try:
        import ctypes
    except ImportError:  # a Python that was built without libffi
        return None
    return ctypes.CDLL(None, use_errno=True)


def _syscall(libc, number: int, *arguments: object) -> int:
    import ctypes

    syscall = libc.syscall
    syscall.restype = ctypes.c_long
    converted = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return int(syscall(ctypes.c_long(number), *converted))
