"""How are files written whole or not at all, and copied for the least time and disk?

Copies are clones (shared blocks, copied by the system when either side is written) where the file system
offers them. Hard links are never made: a test that opens a linked file for writing would write the user's.
"""

from __future__ import annotations

import contextlib
import ctypes
import ctypes.util
import errno
import importlib
import os
import shutil
import stat
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

WINDOWS = os.name == "nt"
MACOS = sys.platform == "darwin"
LINUX = sys.platform == "linux"

FICLONE = 0x40049409  # _IOW(0x94, 9, int), linux/fs.h

CANNOT_CLONE = frozenset(
    {errno.EOPNOTSUPP, errno.ENOTSUP, errno.EXDEV, errno.EINVAL, errno.ENOTTY, errno.ENOSYS, errno.EPERM}
)
"""What systems answer where files cannot share blocks; anything else is a real error."""


def write_atomic(path: Path, data: bytes) -> None:
    """Replace what `path` holds by `data`, so that every reader sees the old or the new text, whole.

    The permission bits of an existing file stay; a new file gets what the umask leaves. When `path` is a
    symbolic link, the file it points to is replaced and the link stays.

    Raises:
        PermissionError: the file is there and nobody may write it (replacing it would get around that).
        OSError: the folder cannot be written, or the disk is full; the old file is then untouched.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mode = 0o666 & ~_umask()
    if not mode & 0o222:
        raise PermissionError(errno.EACCES, "the file is read-only", os.fspath(path))
    fd, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    try:
        with open(fd, "wb") as stream:  # noqa: PTH123 — it is open already
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(mode)
        _replace(Path(name), target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _replace(source: Path, target: Path, *, attempts: int = 10) -> None:
    """Rename over `target`; Windows refuses while a virus scanner or an indexer looks at it, so try again."""
    for left in reversed(range(attempts)):
        try:
            source.replace(target)
        except PermissionError:  # noqa: PERF203 — at most ten rounds, and only on Windows
            if not WINDOWS or not left:
                raise
            time.sleep(0.05)
        else:
            return


def _umask() -> int:
    """The process's umask; there is no way to read it but to set it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def clone_file(source: Path, target: Path) -> bool:
    """Copy the bytes, permission bits and times of a regular file to a new path, sharing blocks if possible.

    Args:
        source: the file; a symbolic link is followed.
        target: must not exist.

    Returns:
        Whether blocks are shared.

    Raises:
        FileExistsError: `target` exists.
        OSError: reading or writing failed; `target` is then removed.
    """
    if MACOS and _clone_macos(source, target, _libsystem()):
        return True
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    fd = os.open(target, flags, 0o600)
    try:
        with open(fd, "wb") as out, source.open("rb") as data:  # noqa: PTH123 — it is open already
            shared = LINUX and _clone_linux(data.fileno(), out.fileno())
            if not shared:
                shutil.copyfileobj(data, out, 1024 * 1024)
        shutil.copystat(source, target)
    except BaseException:
        with contextlib.suppress(OSError):
            target.unlink()
        raise
    return shared


def _clone_linux(source: int, target: int) -> bool:
    """Share all blocks by ioctl_ficlone(2); False where the file system or the pair of them cannot."""
    fcntl: Any = importlib.import_module("fcntl")
    try:
        fcntl.ioctl(target, FICLONE, source)
    except OSError as error:
        if error.errno in CANNOT_CLONE:
            return False
        raise
    return True


def _libsystem() -> Any:
    return ctypes.CDLL(ctypes.util.find_library("System"), use_errno=True)


def _clone_macos(source: Path, target: Path, library: Any) -> bool:
    """Clone by clonefile(2), which takes bits and times along; False where the volume cannot."""
    if library.clonefile(os.fsencode(os.path.realpath(source)), os.fsencode(target), 0) == 0:
        return True
    code = ctypes.get_errno()
    if code in CANNOT_CLONE:
        return False
    raise OSError(code, os.strerror(code), os.fspath(source), None, os.fspath(target))
