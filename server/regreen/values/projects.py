"""What is healed, in which interpreter, and which text of it?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Project:
    """The unit that has one interpreter, one working directory and one rootdir.

    Args:
        root: the folder that holds the configuration, also the working directory of runs.
        workspace: the workspace folder (or git top level) it was found in; equal to `root` or above it.
        config_file: the file pytest takes its options from; None when there is none.
        kind: what its tests are written for.
    """

    root: Path
    workspace: Path
    config_file: Path | None = None
    kind: str = "pytest"  # pytest | unittest | django


@dataclass(frozen=True, slots=True)
class SearchStep:
    """One place looked at while choosing an interpreter, for `regreen doctor`."""

    place: str
    result: str
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The user's Python for one project.

    Args:
        executable: as it must be started (symlinks kept: they make a venv a venv).
        version: for example (3, 11, 7).
        pytest_version: None when pytest cannot be imported there.
        found_by: the step that chose it, for people ("`.venv` beside the project").
        steps: every place looked at, in order.
    """

    executable: Path
    version: tuple[int, int, int]
    pytest_version: str | None
    found_by: str
    steps: tuple[SearchStep, ...] = ()


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file of a snapshot: sha256 of its bytes (hex), size in bytes, permission bits.

    `mtime_ns`, in nanoseconds, is what its copy gets; it takes no part in comparisons.
    """

    digest: str
    size: int
    mode: int
    mtime_ns: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An immutable picture of a project's files, disk overlaid with unsaved editor text.

    Args:
        project: whose files.
        generation: grows with every sync that found a change; two snapshots of one mirror with the same
            generation are the same.
        files: by absolute path in the user's tree; sibling packages outside `project.root` included.
        roots: the user folders that are mirrored, `project.root` first.
        links: symbolic links, by path; the value is the text of the link in the copy.
        folders: every folder, the roots included, with its permission bits.
        beneath: what is in the roots and not part of the copy, but can be read where it is.
    """

    project: Project
    generation: int
    files: Mapping[Path, FileEntry]
    roots: tuple[Path, ...]
    links: Mapping[Path, str] = field(default_factory=dict)
    folders: Mapping[Path, int] = field(default_factory=dict)
    beneath: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkingCopy:
    """A private, writable copy of one snapshot, leased for one run at a time.

    Args:
        copy_root: the copy of `project.root` (same folder name).
        copy_temp: an empty folder for temporary files, outside `copy_root`.
        roots: (user folder, its copy) pairs, longest user folder first.
        bytecode: a folder for compiled files that are worth more than one run; None without one.
    """

    copy_root: Path
    copy_temp: Path
    roots: tuple[tuple[Path, Path], ...]
    bytecode: Path | None = None


@dataclass(frozen=True, slots=True)
class Isolation:
    """What keeps runs from doing harm on this machine, as it was seen when it was tried.

    Args:
        level: "full" | "partial" | "none".
        leaks: what runs can do in spite of it, by name (docs/internals/wire.md).
        why: why no stronger level holds, for people; "" when there is none.
        wrapper: of the level "partial", the command that takes a process inside bubblewrap; () when it is not used.
        services: what the user lets runs reach besides, as it is written in the setting.
    """

    level: str
    leaks: tuple[str, ...] = ()
    why: str = ""
    wrapper: tuple[str, ...] = ()
    services: tuple[str, ...] = ()

    def __str__(self) -> str:
        """For people: "partial: test runs can reach local services"."""
        if self.level == "full":
            *others, last = ("their private copy", *self.services)
            reached = f"{', '.join(others)} and {last}" if others else last
            return f"full: test runs reach nothing but {reached}"
        if self.level == "none":
            return "none: test runs can do whatever you can"
        can = [_LEAKS.get(name, name) for name in self.leaks]
        level = f"{self.level}, inside bubblewrap" if self.wrapper else self.level
        return f"{level}: test runs can {', '.join(can)}" if can else level


_LEAKS = {
    "attributes": "change permissions and times of your files",
    "reading": "read your files",
    "services": "reach local services",
    "ports": "connect to any machine at the ports of the named services, and be connected to",
    "network": "use the network",
    "processes": "see and signal other processes",
    "kernel": "use parts of the kernel that they do not need",
    "memory": "leave files in shared memory",
    "resources": "take much memory and disk with many processes and files",
}


@dataclass(frozen=True, slots=True, order=True)
class TextEdit:
    """Replace text[start:end] by `new`. Offsets are code points of the decoded file text."""

    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True)
class FileEdit:
    """Edits of one file: sorted, not overlapping, against the text whose bytes have `base_digest`."""

    path: Path
    base_digest: str
    edits: tuple[TextEdit, ...]
