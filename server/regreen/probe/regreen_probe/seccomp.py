"""Which system calls does a run never need, and how are they refused?

A seccomp filter in the kernel's classic BPF (Documentation/userspace-api/seccomp_filter). Calls that reach other
processes, the kernel's own state or new privileges are refused, and sockets other than local and internet ones.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import socket
import struct

from regreen_probe import kernel

DENIED = (
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp", "keyctl",
    "add_key", "request_key", "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter",
    "io_uring_register", "mount", "umount2", "pivot_root", "chroot", "unshare", "setns", "open_tree",
    "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "open_by_handle_at", "quotactl",
    "quotactl_fd", "acct", "swapon", "swapoff", "reboot", "kexec_load", "kexec_file_load", "init_module",
    "finit_module", "delete_module",
)  # fmt: skip
NEW_NAMESPACES = (
    kernel.NEWNS
    | kernel.NEWUTS
    | kernel.NEWIPC
    | kernel.NEWUSER
    | kernel.NEWPID
    | kernel.NEWNET
    | kernel.NEWCGROUP
)
TIOCSTI = 0x5412  # types into a terminal, on behalf of its user
X32 = 0x40000000
KIND = 0xF  # of a socket's type; the rest are flags
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_NUMBER, _ARCH = 0, 4  # offsets in struct seccomp_data
_FIRST, _SECOND, _THIRD, _FOURTH = 16, 24, 32, 40  # of the arguments' low halves
_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_FILTER = 2


def enter(*, internet: str) -> None:
    """Install the filter in this process, for all it starts, too.

    Args:
        internet: which IPv4 and IPv6 sockets can be made: "all", those for "tcp" that ask Landlock before they
            connect, or "none".

    Raises:
        OSError: the kernel does not allow it, or this architecture is not known.
    """
    if not kernel.AUDIT_ARCH:
        raise OSError(errno.ENOSYS, "no system call numbers for this architecture")
    code = program(internet=internet)
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    text = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(text))
    held = ctypes.create_string_buffer(header, len(header))
    kernel.prctl(kernel.PR_SET_SECCOMP, _FILTER, ctypes.addressof(held))


@functools.lru_cache(maxsize=3)
def program(*, internet: str) -> bytes:
    """The filter: 8 bytes an instruction."""
    code = [
        _op(_LOAD, _ARCH),
        _op(_EQUAL, kernel.AUDIT_ARCH, 1, 0),
        _op(_RETURN, _KILL),
        _op(_LOAD, _NUMBER),
    ]
    if kernel.AUDIT_ARCH == 0xC000003E:
        code += [_op(_AT_LEAST, X32, 0, 1), _refuse(errno.ENOSYS)]
    for name in DENIED:
        code += [_op(_EQUAL, kernel.NUMBERS[name], 0, 1), _refuse(errno.EPERM)]
    # The flags of clone3 are out of a filter's sight; without it, the C library uses clone.
    code += [_op(_EQUAL, kernel.NUMBERS["clone3"], 0, 1), _refuse(errno.ENOSYS)]
    code += _when("clone", [_op(_LOAD, _FIRST), _op(_ANY_BIT, NEW_NAMESPACES, 0, 1), _refuse(errno.EPERM)])
    code += _when("ioctl", [_op(_LOAD, _SECOND), _op(_EQUAL, TIOCSTI, 0, 1), _refuse(errno.EPERM)])
    if internet == "tcp":  # a first packet with data connects, and Landlock is not asked
        for name, flags in (("sendto", _FOURTH), ("sendmsg", _THIRD), ("sendmmsg", _FOURTH)):
            fast = [_op(_LOAD, flags), _op(_ANY_BIT, socket.MSG_FASTOPEN, 0, 1), _refuse(errno.EOPNOTSUPP)]
            code += _when(name, fast)
    families = [socket.AF_UNIX, *((socket.AF_INET, socket.AF_INET6) if internet == "all" else ())]
    allowed = [part for family in families for part in (_op(_EQUAL, family, 0, 1), _op(_RETURN, _ALLOW))]
    if internet == "tcp":  # multipath TCP is another protocol
        allowed += [
            _op(_EQUAL, socket.AF_INET, 1, 0),
            _op(_EQUAL, socket.AF_INET6, 0, 7),
            _op(_LOAD, _SECOND),
            _op(_AND, KIND),
            _op(_EQUAL, socket.SOCK_STREAM, 0, 4),
            _op(_LOAD, _THIRD),
            _op(_EQUAL, 0, 1, 0),
            _op(_EQUAL, socket.IPPROTO_TCP, 0, 1),
            _op(_RETURN, _ALLOW),
        ]
    code += _when("socket", [_op(_LOAD, _FIRST), *allowed, _refuse(errno.EACCES)])
    code.append(_op(_RETURN, _ALLOW))
    return b"".join(code)


def _op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _refuse(error: int) -> bytes:
    return _op(_RETURN, 0x00050000 | error)


def _when(name: str, then: list[bytes]) -> list[bytes]:
    """`then` for one system call, after which it is allowed."""
    then = [*then, _op(_RETURN, _ALLOW)]
    return [_op(_EQUAL, kernel.NUMBERS[name], 0, len(then)), *then]
