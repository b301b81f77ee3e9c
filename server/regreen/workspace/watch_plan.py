"""Which folders of a workspace are worth watching, and does the system tell of changes there at all?"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from regreen.workspace import ignore
from regreen.workspace.projects import MARKERS
from regreen.workspace.pytest_config import CANDIDATES

SILENT = {
    "9p": "WSL or a virtual machine",
    "drvfs": "a Windows drive in WSL",
    "nfs": "a network",
    "nfs4": "a network",
    "cifs": "a network",
    "smb3": "a network",
    "smbfs": "a network",
    "afs": "a network",
    "ceph": "a network",
    "vboxsf": "the host of a virtual machine",
    "vmhgfs": "the host of a virtual machine",
    "virtiofs": "the host of a virtual machine",
}
"""File systems whose changes may be made elsewhere, of which this system is not told: type → where."""

MOUNTS = Path("/proc/self/mountinfo")
MOST_FOLDERS = 20_000
MOST_SCHEDULES = 100
"""More separate pieces than this are polled: each costs a thread."""

NAMES = frozenset({*CANDIDATES, *MARKERS})


@dataclass(frozen=True, slots=True)
class Plan:
    """The folders to watch.

    Args:
        alone: folders to watch without what is inside them; the workspace itself is always one.
        whole: folders to watch with everything inside.
        folders: how many folders that makes.
        complete: the workspace has no more than `MOST_FOLDERS`.
    """

    alone: tuple[str, ...]
    whole: tuple[str, ...]
    folders: int
    complete: bool = True


def is_watched(path: str) -> bool:
    """Whether a change of this file may matter: Python text, or a file that configures the project."""
    name = os.path.basename(path)  # noqa: PTH119 — called for every event
    return (path.endswith(".py") and not name.startswith(".#")) or name in NAMES


def is_hidden(path: str, top: str) -> bool:
    """Whether something on the way from `top` to `path` is left out by its name."""
    return any(ignore.folder_reason(part) for part in Path(path[len(top) :]).parts)


def plan(top: str) -> Plan:
    """How to watch a folder in few pieces without watching what is left out of copies.

    A folder is watched as a whole if nothing inside it is left out but bytecode, else alone, and its folders
    each in their own way.
    """
    inside: dict[str, list[str]] = {}
    mixed: set[str] = {top}  # folders that cannot be watched as a whole
    complete = True
    for folder, folders, left_out in _walk(top):
        if len(inside) == MOST_FOLDERS:
            complete = False
            break
        if folders is None:
            mixed.update(_upward(os.path.dirname(folder), mixed))  # noqa: PTH120 — one string per folder
        else:
            inside[folder] = folders
            mixed.update(_upward(folder, mixed) if left_out else ())
    alone: list[str] = []
    whole: list[str] = []
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        if folder in mixed:
            alone.append(folder)
            waiting += [path for path in reversed(inside.get(folder, ())) if path in inside]
        else:
            whole.append(folder)
    return Plan(tuple(alone), tuple(whole), len(inside), complete)


def reason_to_poll(folder: Path, plan: Plan, mounts: str | None = None) -> str:
    """Why the system's own events are of no use here; empty when they are. `mounts`: see `silent_place`."""
    place = silent_place(folder, mounts)
    if place:
        return f"the folder is on {place}, which tells nothing of changes"
    if len(plan.alone) + len(plan.whole) > MOST_SCHEDULES or not plan.complete:
        return "there are too many folders to watch"
    return ""


def files(top: str) -> Iterator[os.DirEntry[str]]:
    """Every watched file of a folder, in no order."""
    for folder, folders, _ in _walk(top):
        entries = () if folders is None else _entries(folder)
        yield from (entry for entry in entries if is_watched(entry.name) and not entry.is_dir())


def silent_place(folder: Path, mounts: str | None = None) -> str:
    """Where changes of this folder may come from without the system telling; empty when it tells.

    Args:
        folder: absolute.
        mounts: the text of proc(5) mountinfo; this system's when None, and nothing where there is none.
    """
    if mounts is None:
        mounts = MOUNTS.read_text(encoding="utf-8", errors="replace") if MOUNTS.exists() else ""
    kind = file_system(os.path.realpath(folder), mounts)
    if kind.startswith("fuse"):
        return "a FUSE file system"
    return SILENT.get(kind, "")


def file_system(path: str, mounts: str) -> str:
    """The type of the file system that holds `path`; empty when unknown."""
    best: tuple[int, str] = (0, "")
    for line in mounts.splitlines():
        before, dash, after = line.partition(" - ")
        fields = before.split(" ")
        if not dash or len(fields) < 5:
            continue
        point = (
            fields[4]
            .encode()
            .decode("unicode_escape")
            .encode("latin-1", "replace")
            .decode("utf-8", "replace")
        )
        if path == point or path.startswith(point.rstrip("/") + "/"):
            best = max(best, (len(point), after.split(" ")[0]), key=lambda pair: pair[0])
    return best[1]


def native_name() -> str:
    """What the system's own way of telling is called."""
    names: Mapping[str, str] = {"darwin": "FSEvents", "win32": "ReadDirectoryChangesW", "linux": "inotify"}
    return names.get(sys.platform, "kqueue")


def _walk(top: str) -> Iterator[tuple[str, list[str] | None, bool]]:
    """Folders with the folders in them that count, and whether others, bytecode apart, were left out.

    None instead of a list: the folder is an environment or a cache, and is not entered.
    """
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        entries = _entries(folder)
        if folder != top and ignore.content_reason(folder, {entry.name for entry in entries}):
            yield folder, None, True
            continue
        names = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
        folders = [entry.path for entry in names if not ignore.folder_reason(entry.name)]
        left_out = any(ignore.folder_reason(entry.name) for entry in names if entry.name != "__pycache__")
        waiting += folders
        yield folder, folders, left_out


def _upward(folder: str, known: set[str]) -> Iterator[str]:
    """The folder and those above it, up to the first known one."""
    while folder not in known:
        yield folder
        folder = os.path.dirname(folder)  # noqa: PTH120 — one string per folder


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as opened:
            return list(opened)
    except OSError:  # gone, or not ours to read
        return []
