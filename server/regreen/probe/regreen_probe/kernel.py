"""Which calls of the Linux kernel does confinement need, and how are they made without a compiler?

By ctypes, on the C library's `syscall`. Numbers and structures are those of the kernel's include/uapi and
arch/*/syscalls; what a machine's architecture has no numbers for is as if the kernel did not know it.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP = 1, 4, 22
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 24, 38, 47, 4
NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = 1 << 17, 1 << 26, 1 << 27, 1 << 28, 1 << 29, 1 << 30
NEWCGROUP = 1 << 25
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 8, 1 << 12, 1 << 14, 1 << 18
AT_FDCWD, AT_RECURSIVE = -100, 0x8000
OPEN_TREE_CLONE, OPEN_TREE_CLOEXEC = 1, os.O_CLOEXEC
MOVE_FROM_FD = 4  # MOVE_MOUNT_F_EMPTY_PATH
ATTR_RDONLY, ATTR_NOSUID = 1, 2
CAPABILITY_VERSION_3, LAST_CAPABILITY = 0x20080522, 63
CLOSE_RANGE_TOP = (1 << 32) - 1

# the same on every architecture
OPEN_TREE, MOVE_MOUNT, CLOSE_RANGE, MOUNT_SETATTR = 428, 429, 436, 442
LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446

_X86 = {
    "ioctl": 16, "clone": 56, "socket": 41, "sendto": 44, "sendmsg": 46, "sendmmsg": 307, "ptrace": 101, "pivot_root": 155, "acct": 163,
    "chroot": 161, "mount": 165, "umount2": 166, "swapon": 167, "swapoff": 168, "reboot": 169,
    "init_module": 175, "delete_module": 176, "quotactl": 179, "kexec_load": 246, "add_key": 248,
    "request_key": 249, "keyctl": 250, "unshare": 272, "perf_event_open": 298, "open_by_handle_at": 304,
    "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "finit_module": 313,
    "kexec_file_load": 320, "bpf": 321, "userfaultfd": 323,
}  # fmt: skip
_ARM = {
    "ioctl": 29, "clone": 220, "socket": 198, "sendto": 206, "sendmsg": 211, "sendmmsg": 269, "ptrace": 117, "pivot_root": 41, "acct": 89,
    "chroot": 51, "mount": 40, "umount2": 39, "swapon": 224, "swapoff": 225, "reboot": 142,
    "init_module": 105, "delete_module": 106, "quotactl": 60, "kexec_load": 104, "add_key": 217,
    "request_key": 218, "keyctl": 219, "unshare": 97, "perf_event_open": 241, "open_by_handle_at": 265,
    "setns": 268, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272, "finit_module": 273,
    "kexec_file_load": 294, "bpf": 280, "userfaultfd": 282,
}  # fmt: skip
_NEW = {
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "open_tree": OPEN_TREE, "move_mount": MOVE_MOUNT, "fsopen": 430, "fsconfig": 431, "fsmount": 432,
    "fspick": 433, "clone3": 435, "pidfd_getfd": 438, "process_madvise": 440, "mount_setattr": MOUNT_SETATTR,
    "quotactl_fd": 443,
}  # fmt: skip

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}.get(platform.machine(), 0)
"""What seccomp calls this architecture; 0 for one without numbers here."""
NUMBERS: dict[str, int] = {
    **({"x86_64": _X86, "aarch64": _ARM}[platform.machine()] if AUDIT_ARCH else {}),
    **_NEW,
}
"""System call → its number here."""

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def syscall(number: int, *arguments: object) -> int:
    """Make a system call.

    Args:
        number: of the call.
        arguments: whole numbers, bytes (a pointer to a copy of them), ctypes objects, or None.

    Returns:
        What it returned.

    Raises:
        OSError: it was refused.
    """
    converted = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _checked(_libc.syscall(ctypes.c_long(number), *converted), "system call %d" % number)


def prctl(option: int, *arguments: int) -> None:
    """Change something of this process. Raises OSError when it is refused."""
    padded = [ctypes.c_ulong(a) for a in (*arguments, 0, 0, 0, 0)[:4]]
    _checked(_libc.prctl(option, *padded), "prctl %d" % option)


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    """Mount something (mount(2)). Raises OSError when it is refused; it names the target."""
    what = None if kind is None else kind.encode()
    result = _libc.mount(
        os.fsencode(source), os.fsencode(target), what, ctypes.c_ulong(flags), os.fsencode(options)
    )
    _checked(result, "mount of %s" % (kind or source), target)


def clone_tree(path: str) -> int:
    """A descriptor of a copy of the mounts at `path` and below. Raises OSError."""
    flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE
    return syscall(OPEN_TREE, AT_FDCWD, os.fsencode(path), flags)


def attach(tree: int, target: str) -> None:
    """Put what `clone_tree` gave at a place. Raises OSError."""
    syscall(MOVE_MOUNT, tree, b"", AT_FDCWD, os.fsencode(target), MOVE_FROM_FD)


def read_only(path: str) -> None:
    """Make all mounts at `path` and below read-only, and without set-user-id. Raises OSError."""
    attributes = struct.pack("QQQQ", ATTR_RDONLY | ATTR_NOSUID, 0, 0, 0)
    syscall(MOUNT_SETATTR, AT_FDCWD, os.fsencode(path), AT_RECURSIVE, attributes, len(attributes))


def close_others(keep: list[int]) -> None:
    """Close every descriptor from 3 on but those in `keep`."""
    low = 3
    for fd in sorted({k for k in keep if k >= low}):
        if fd > low:
            _close(low, fd - 1)
        low = fd + 1
    _close(low, CLOSE_RANGE_TOP)


def _close(low: int, high: int) -> None:
    try:
        syscall(CLOSE_RANGE, low, high, 0)
    except OSError:  # before Linux 5.9
        os.closerange(low, min(high, os.sysconf("SC_OPEN_MAX")) + 1)


def drop_capabilities() -> None:
    """Give up every capability, for this process and all it starts. Raises OSError."""
    none = ctypes.c_ulong(0)
    for capability in range(LAST_CAPABILITY + 1):
        if _libc.prctl(PR_CAPBSET_DROP, ctypes.c_ulong(capability), none, none, none) < 0:
            break  # there is no such capability, or we have none that could
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    header = struct.pack("Ii", CAPABILITY_VERSION_3, 0)
    _checked(_libc.capset(header, bytes(24)), "capset")


def clone(flags: int) -> int:
    """fork(2), into new namespaces.

    Args:
        flags: NEW….

    Returns:
        0 in the child, its process id in the parent.

    Raises:
        OSError: the kernel does not allow it.
    """
    python = ctypes.pythonapi
    number = NUMBERS.get("clone")
    if number is None:
        raise OSError("no number for clone on %s" % platform.machine())
    signal_on_end = 17
    python.PyOS_BeforeFork()
    # The interpreter's own bookkeeping needs the call to be made with its lock held.
    pid = _holding.syscall(
        ctypes.c_long(number), ctypes.c_ulong(flags | signal_on_end), None, None, None, None
    )
    error = ctypes.get_errno()
    if pid == 0:
        python.PyOS_AfterFork_Child()
        return 0
    python.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(error, os.strerror(error), "clone")
    return int(pid)


_holding = ctypes.PyDLL(None, use_errno=True)
_holding.syscall.restype = ctypes.c_long


def _checked(result: int, what: str, where: str | None = None) -> int:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, "%s: %s" % (what, os.strerror(error)), where)
    return int(result)
