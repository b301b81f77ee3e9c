"""Where are the private copies of all projects, how large are they, and when may they go?

`<cache>/<hash of the project's path>/` holds one project's mirror: `blobs/`, `index.json`, `about.json`
(which project, also the stamp of its last use), and for each slot n: `<n>/` (the copies), `<n>.temp/`,
`<n>.json` (what was laid) and `<n>.lock`. A process that uses a mirror holds at least one of these locks.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from regreen.platform import dirs
from regreen.platform.locks import FileLock
from regreen.workspace import ignore
from regreen.workspace.blobs import digest_of

UNUSED_SECONDS = 30 * 24 * 3600
ABOUT = "about.json"
DEEPEST = 500
"""Folders whose path below the folder to remove is longer than this are raised before they are removed."""
RAISED = ".raised"


@dataclass(frozen=True, slots=True)
class MirrorInfo:
    """One project's private copy, for `regreen cache list` and doctor.

    Args:
        folder: where it is.
        project: whose copy it is.
        size: bytes on disk, shared blocks counted each time.
        last_used: seconds since the epoch.
        in_use: a running Regreen holds it.
    """

    folder: Path
    project: Path
    size: int
    last_used: float
    in_use: bool


def mirror_folder(project: Path, cache: Path | None = None) -> Path:
    """The folder of one project's mirror (not made here)."""
    name = digest_of(os.fsencode(os.path.realpath(project)))[:20]
    return (cache or dirs.cache_dir()) / name


def stamp_use(folder: Path, project: Path) -> None:
    """Record that the mirror is being used now."""
    about = folder / ABOUT
    if about.exists():
        os.utime(about)
    else:
        about.write_text(json.dumps({"v": 1, "project": os.fspath(project)}), encoding="utf-8")


def tag_cache(cache: Path) -> None:
    """Mark the folder as a cache, which tells backups, and our own scans and watches, to leave it alone."""
    tag = cache / ignore.CACHE_TAG
    if not tag.exists():
        tag.write_bytes(ignore.CACHE_TAG_SIGNATURE + b"\n# Made by Regreen; may be deleted at any time.\n")


def list_mirrors(cache: Path | None = None) -> tuple[MirrorInfo, ...]:
    """Every mirror, most recently used first. Blocks: it measures each one."""
    found = [
        MirrorInfo(folder, project, disk_size(folder), used, _in_use(folder))
        for folder, project, used in _mirrors(cache or dirs.cache_dir())
    ]
    return tuple(sorted(found, key=lambda info: -info.last_used))


def clear_mirrors(
    cache: Path | None = None, *, project: Path | None = None, unused_for: float = 0
) -> tuple[MirrorInfo, ...]:
    """Remove mirrors that no running Regreen holds. Blocks.

    Args:
        cache: the folder that holds them; the user's when None.
        project: only this one's.
        unused_for: only those not used for so many seconds.

    Returns:
        The removed ones; `in_use` ones are never among them.
    """
    removed = []
    for folder, owner, used in _mirrors(cache or dirs.cache_dir()):
        if project is not None and os.path.realpath(owner) != os.path.realpath(project):
            continue
        if time.time() - used < unused_for:  # noqa: TID251 — a file's time is of this clock
            continue
        with ExitStack() as locks:
            held = [locks.enter_context(_tried(path)) for path in folder.glob("*.lock")]
            if all(held):
                info = MirrorInfo(folder, owner, disk_size(folder), used, in_use=False)
                remove_tree(folder)
                removed.append(info)
    return tuple(removed)


def disk_size(folder: Path) -> int:
    """The sizes of all files below a folder, in bytes; what vanishes meanwhile counts as nothing."""
    total = 0
    waiting = [os.fspath(folder)]
    while waiting:
        for entry in _entries(waiting.pop()):
            with contextlib.suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    total += entry.stat(follow_symlinks=False).st_size
    return total


def remove_tree(folder: Path) -> None:
    """Remove a folder and all it holds, also what a test made unreadable or too deep; no link is followed.

    Raises:
        OSError: something cannot be removed, because it is another user's or (on Windows) open.
    """
    if not os.path.lexists(folder):
        return
    if folder.is_symlink() or not folder.is_dir():
        folder.unlink()
        return
    try:
        shutil.rmtree(folder)
    except (OSError, RecursionError):
        _tame(os.fspath(folder))
        shutil.rmtree(folder)


def _tame(top: str) -> None:
    """Make everything below a folder removable, and raise what is too deep for Python's stack or for a path."""
    waiting = [top]
    raised = 0
    while waiting:
        folder = waiting.pop()
        os.chmod(folder, stat.S_IRWXU)  # noqa: PTH101 — one string per folder
        for entry in _entries(folder):
            path = entry.path
            if entry.is_symlink():
                continue
            if not entry.is_dir(follow_symlinks=False):
                os.chmod(path, stat.S_IRWXU)  # noqa: PTH101 — Windows removes no read-only file
                continue
            if len(path) - len(top) > DEEPEST:
                raised += 1
                path = f"{top}{os.sep}{raised}{RAISED}"
                os.replace(entry.path, path)  # noqa: PTH105 — one string per folder
            waiting.append(path)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as opened:
            return list(opened)
    except OSError:  # gone, or not ours to read
        return []


def _mirrors(cache: Path) -> Iterator[tuple[Path, Path, float]]:
    for about in cache.glob(f"*/{ABOUT}"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):  # damaged, or being removed
            project = Path(json.loads(about.read_bytes())["project"])
            yield about.parent, project, about.stat().st_mtime


def _in_use(folder: Path) -> bool:
    with ExitStack() as locks:
        return not all(locks.enter_context(_tried(path)) for path in folder.glob("*.lock"))


@contextlib.contextmanager
def _tried(path: Path) -> Iterator[bool]:
    lock = FileLock(path)
    try:
        yield lock.acquire(wait=False)
    finally:
        lock.release()
