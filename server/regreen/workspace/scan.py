"""What is in a project's folders right now, and which of it belongs into the copy?

One pass over the folders, in which nothing is read but names, file status and links. Paths are strings here,
because a project may have tens of thousands of files and this runs at every sync.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from regreen.workspace import ignore

Stamp = tuple[int, int, int, int, int]
"""What tells that a file changed: size, mtime_ns, inode, ctime_ns, mode."""

PERMISSIONS = 0o777
"""The permission bits that a copy takes over; set-user-id and the like are not for copies."""

MOUNT_POINT = 0xA0000003
"""The reparse tag of a Windows junction, which is a link in all but name."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file or folder that is not copied though nothing says that a run can do without it.

    Args:
        path: in the user's tree.
        reason: for people ("larger than 50 MB", "cannot be read").
        size: in bytes, 0 when it has none.
    """

    path: Path
    reason: str
    size: int = 0


@dataclass(slots=True)
class Listing:
    """The outcome of one pass.

    Args:
        files: path → stamp of what is to be copied; for a link that leaves the tree, of the file it names.
        links: path → the text of the link in the copy.
        folders: path → permission bits.
        left_out: what a person may miss.
        beneath: what is not to be copied, but can be read where it is; nobody misses caches.
        bytes: the sum of the files' sizes.
    """

    files: dict[str, Stamp] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    folders: dict[str, int] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    beneath: list[str] = field(default_factory=list)
    bytes: int = 0


def stamp(status: os.stat_result) -> Stamp:
    """The stamp of a file's status."""
    return (status.st_size, status.st_mtime_ns, status.st_ino, status.st_ctime_ns, status.st_mode)


def tops(roots: Sequence[str]) -> list[str]:
    """Those of `roots` that no other one contains, in order, each once."""
    return [
        root
        for index, root in enumerate(roots)
        if root not in roots[:index] and not any(is_below(root, other) for other in roots if other != root)
    ]


def is_below(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or inside it, by its text alone."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def listing(roots: Sequence[str], *, max_file_bytes: int, skip: Collection[str] = ()) -> Listing:
    """Look at everything below `roots`.

    Args:
        roots: absolute folders; one inside another is visited once.
        max_file_bytes: larger files are left out.
        skip: folders not to enter, for example Regreen's own cache.
    """
    found = Listing()
    scan = _Scan(found, max_file_bytes, frozenset(skip), frozenset(roots), tops(roots))
    for top in scan.tops:
        scan.visit(top)
    scan.settle_links()
    return found


class _Scan:
    """The state of one pass."""

    def __init__(
        self,
        found: Listing,
        max_file_bytes: int,
        skip: frozenset[str],
        roots: frozenset[str],
        tops: list[str],
    ) -> None:
        self.found = found
        self.max_file_bytes = max_file_bytes
        self.skip = skip
        self.roots = roots
        self.tops = tops
        self.real_tops = [os.path.realpath(top) for top in tops]
        self.pending: list[tuple[str, str]] = []  # links whose target is inside the tree: path, real target

    def visit(self, top: str) -> None:
        """Walk one root without recursion: a project may be deeper than Python's stack."""
        try:
            self.found.folders[top] = os.stat(top).st_mode & PERMISSIONS
        except OSError as error:
            self.leave_out(top, f"cannot be read: {error.strerror}")
            return
        waiting = [top]
        while waiting:
            folder = waiting.pop()
            waiting += self.visit_folder(folder, top)

    def visit_folder(self, folder: str, top: str) -> list[str]:
        """Record what one folder holds; its folders that belong into the copy."""
        try:
            with os.scandir(folder) as opened:
                entries = list(opened)
        except OSError as error:
            self.leave_out(folder, f"cannot be read: {error.strerror}")
            return []
        names = {entry.name for entry in entries}
        in_environment = False
        if folder in self.roots:
            in_environment = not ignore.ENVIRONMENT_MARKS.isdisjoint(names)
        elif ignore.content_reason(folder, names):
            del self.found.folders[folder]
            self.found.beneath.append(folder)
            return []
        elif folder.endswith((f"{os.sep}lib", f"{os.sep}Lib", f"{os.sep}include")):
            parent = os.path.dirname(folder)
            in_environment = parent in self.roots and ignore.is_environment(parent)
        inside = folder[len(top) :].strip(os.sep).replace(os.sep, "/")
        deeper: list[str] = []
        for entry in entries:
            try:
                self.visit_entry(entry, deeper, inside if in_environment else None)
            except FileNotFoundError:
                continue  # gone since the folder was listed: as if it had never been there
            except OSError as error:
                self.leave_out(entry.path, f"cannot be read: {error.strerror}")
        return deeper

    def visit_entry(self, entry: os.DirEntry[str], deeper: list[str], environment: str | None) -> None:
        """Record one entry; `environment`: its folder's path below a root that is an environment itself."""
        status = entry.stat(follow_symlinks=False)
        mode = status.st_mode
        hidden = ignore.folder_reason(entry.name) or (
            environment is not None and ignore.in_root_environment(environment, entry.name)
        )
        if hidden and entry.name not in ignore.CACHES:
            self.found.beneath.append(entry.path)
        if stat.S_ISLNK(mode) or getattr(status, "st_reparse_tag", 0) == MOUNT_POINT:
            if not hidden:
                self.visit_link(entry.path)
        elif stat.S_ISDIR(mode):
            if not hidden and entry.path not in self.skip:
                self.found.folders[entry.path] = mode & PERMISSIONS
                deeper.append(entry.path)
        elif entry.name in ignore.VERSION_CONTROL:
            return
        elif stat.S_ISREG(mode):
            self.add_file(entry.path, status)
        else:
            self.leave_out(entry.path, "not a file")

    def visit_link(self, path: str) -> None:
        """Decide what becomes of a symbolic link; its target is never entered."""
        text = os.readlink(path)
        parent = os.path.realpath(os.path.dirname(path))
        joined = os.path.join(parent, text)
        # Only the link's own step is resolved: if it leads to another link of the tree, that one stays one too.
        folder = os.path.realpath(os.path.dirname(joined))
        target = os.path.normpath(os.path.join(folder, os.path.basename(joined)))
        if any(is_below(target, top) for top in self.real_tops):
            self.found.links[path] = os.path.relpath(target, parent)
            self.pending.append((path, target))
            return
        try:
            status = os.stat(path)
        except OSError:  # it leads nowhere, as it will in the copy
            self.found.links[path] = target
            return
        if stat.S_ISDIR(status.st_mode):
            if not ignore.is_environment(path):
                self.found.links[path] = os.path.realpath(path)
            else:
                self.found.beneath.append(path)
        elif stat.S_ISREG(status.st_mode):
            self.add_file(path, status)
        else:
            self.leave_out(path, "not a file")

    def settle_links(self) -> None:
        """Point links, whose target is in the tree but not in the copy, at the original."""
        real = {
            real_top + path[len(top) :]
            for top, real_top in zip(self.tops, self.real_tops, strict=True)
            for kind in (self.found.files, self.found.links, self.found.folders)
            for path in (kind if self.pending else ())
            if is_below(path, top)
        }
        for path, target in self.pending:
            if target in real or not os.path.lexists(target):
                continue
            too_large = os.path.isfile(target) and os.path.getsize(target) > self.max_file_bytes
            if too_large or ignore.is_environment(target):
                del self.found.links[path]
            else:
                self.found.links[path] = target

    def add_file(self, path: str, status: os.stat_result) -> None:
        if status.st_size > self.max_file_bytes:
            self.leave_out(path, f"larger than {readable(self.max_file_bytes)}", status.st_size)
            self.found.beneath.append(path)
            return
        self.found.files[path] = stamp(status)
        self.found.bytes += status.st_size

    def leave_out(self, path: str, reason: str, size: int = 0) -> None:
        self.found.left_out.append(LeftOut(Path(path), reason, size))


def readable(size: float) -> str:
    """A size in bytes for people, in the decimal units that disks are sold in."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size:.0f} bytes"
