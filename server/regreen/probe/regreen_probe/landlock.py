"""How does a process give up most of the file system, for itself and all it starts?

Landlock (Linux 5.13 and later; rights from the kernel's include/uapi/linux/landlock.h).
"""

from __future__ import annotations

import os
import stat
import struct

from regreen_probe import kernel

PATH_BENEATH, NET_PORT = 1, 2
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 1 << 1, 1 << 2, 1 << 3
CREATING = sum(1 << bit for bit in range(4, 13))  # remove and make entries of every kind
REFER, TRUNCATE = 1 << 13, 1 << 14
READING = EXECUTE | READ_FILE | READ_DIR
ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
CONNECT_TCP = 2
TCP = 1 | CONNECT_TCP  # bind and connect
KNOWS_PORTS = 4
SCOPE_ABSTRACT_UNIX, SCOPE_SIGNAL = 1, 2
DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx")
DEVICE_FOLDERS = ("pts", "shm")  # terminals of tests; named semaphores of multiprocessing


def abi() -> int:
    """The version of Landlock the kernel offers; 0 for none."""
    try:
        return max(kernel.syscall(kernel.LANDLOCK_CREATE, None, 0, 1), 0)
    except OSError:
        return 0


def knows_ports() -> bool:
    """Whether the kernel can refuse TCP (Linux 6.7)."""
    return abi() >= KNOWS_PORTS


def restrict(writable: list[str], *, readable: list[str] | None, ports: list[int] | None) -> None:
    """Allow this process and all it starts no more than this. There is no way back.

    Args:
        writable: folders and files that can be written, besides the usual devices.
        readable: what else can be read; None for everything.
        ports: to which TCP connections stay possible, on any machine; None for all of TCP. Kernels that do not know
            them refuse nothing.

    Raises:
        OSError: the kernel does not do it.
    """
    version = abi()
    write = WRITE_FILE | CREATING | (REFER if version >= 2 else 0) | (TRUNCATE if version >= 3 else 0)
    read = READING if readable is not None else 0
    handled = write | read
    fields = [handled]
    if version >= KNOWS_PORTS:
        fields.append(0 if ports is None else TCP)
    if version >= 6:  # signals and abstract sockets reach only what the run itself started
        fields.append(SCOPE_SIGNAL | SCOPE_ABSTRACT_UNIX)
    attributes = struct.pack("%dQ" % len(fields), *fields)
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    ruleset = kernel.syscall(kernel.LANDLOCK_CREATE, attributes, len(attributes), 0)
    try:
        for path in writable:
            _allow(ruleset, path, handled)
        for name in DEVICES:
            _allow(ruleset, "/dev/" + name, handled & ON_FILES)
        for name in DEVICE_FOLDERS:
            _allow(ruleset, "/dev/" + name, handled)
        for path in readable or ():
            _allow(ruleset, path, read)
        for port in ports or ():
            kernel.syscall(kernel.LANDLOCK_ADD, ruleset, NET_PORT, struct.pack("=QQ", CONNECT_TCP, port), 0)
        kernel.syscall(kernel.LANDLOCK_RESTRICT, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    """Grant rights at a path and below; nothing is granted where there is nothing."""
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= ON_FILES
        kernel.syscall(kernel.LANDLOCK_ADD, ruleset, PATH_BENEATH, struct.pack("=Qi", rights, fd), 0)
    finally:
        os.close(fd)
