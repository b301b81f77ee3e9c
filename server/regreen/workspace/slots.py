"""How does a folder come to hold exactly one snapshot, whatever the last run did to it?

A slot remembers the stamp of everything it wrote. Before each use the folder is compared with that memory:
what a run changed, added, removed or made unreadable shows in a stamp, and only that is laid again. Paths
are strings relative to the slot, with the system's separator, because every file passes here at every lease.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import stat
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from regreen.platform.files import clone_file, write_atomic
from regreen.platform.locks import FileLock
from regreen.values import FileEntry
from regreen.workspace.blobs import digest_of
from regreen.workspace.places import remove_tree
from regreen.workspace.scan import Stamp, stamp

log = logging.getLogger(__name__)

PYCACHE = "__pycache__"
COMPILED = re.compile(r"(?P<module>.+)\.(?:cpython|pypy|graalpy)[^/\\]*\.pyc")
"""`cart.cpython-311.opt-1.pyc`, `test_cart.cpython-311-pytest-8.3.4.pyc`."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What a slot has to hold, by path relative to the slot.

    Args:
        files, links, folders: as in a snapshot; the parents of the roots are among the folders.
        sources: relative path → the user's file.
        blob: where a content can be cloned from: (digest, the user's file) → the blob.
    """

    files: Mapping[str, FileEntry]
    links: Mapping[str, str]
    folders: Mapping[str, int]
    sources: Mapping[str, Path]
    blob: Callable[[str, Path], Path]


@dataclass(frozen=True, slots=True)
class Laid:
    """What was written at one path: the stamp after writing, the content's digest, the permission bits."""

    stamp: Stamp
    digest: str
    mode: int


@dataclass(slots=True)
class _Pass:
    """One comparison of the folder with what it has to hold."""

    layout: Layout
    overlay: Mapping[str, bytes]
    wanted: dict[str, tuple[str, int]]  # overlaid path → digest and permission bits
    right: set[str] = field(default_factory=set)  # files and links that are as they should be
    folders: set[str] = field(default_factory=set)  # folders that are there
    caches: list[str] = field(default_factory=list)  # __pycache__ folders of wanted folders


class Slot:
    """One writable copy, used by one run at a time.

    Args:
        folder: where the copies go; its lock, memory and temporary folder are beside it.
        fresh: it is to be deleted after its first use.
    """

    def __init__(self, folder: Path, *, fresh: bool = False) -> None:
        self.folder = folder
        self.fresh = fresh
        self.temp = folder.with_name(f"{folder.name}.temp")
        self.lock = FileLock(folder.with_name(f"{folder.name}.lock"))
        self.last_unpatched = False
        self._memory = folder.with_name(f"{folder.name}.json")
        self._laid: dict[str, Laid] = {}
        self._compiled: dict[str, Stamp] = {}
        self._changed = False
        self._busy = threading.Lock()  # a cancelled lease may still be at work in its thread

    def load(self) -> None:
        """Remember what an earlier process laid; whatever it forgot to write down is simply laid again."""
        try:
            memory = json.loads(self._memory.read_bytes())
            self._laid = {path: Laid(tuple(row[:5]), row[5], row[6]) for path, row in memory["laid"].items()}
            self._compiled = {path: tuple(row) for path, row in memory["compiled"].items()}
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            log.warning("%s is damaged, so %s is laid anew: %s", self._memory, self.folder, error)
            self._laid, self._compiled = {}, {}

    def save(self) -> None:
        """Write down what was laid, for the next process."""
        with self._busy:
            if not self._changed:
                return
            laid = {path: [*was.stamp, was.digest, was.mode] for path, was in self._laid.items()}
            memory = {"v": 1, "laid": laid, "compiled": self._compiled}
            write_atomic(self._memory, json.dumps(memory, separators=(",", ":")).encode())
            self._changed = False

    def bring_up(self, layout: Layout, overlay: Mapping[str, bytes]) -> int:
        """Make the folder hold `layout` with `overlay` on top, and the temporary folder hold nothing.

        Returns:
            How many files and links were written.

        Raises:
            OSError: the disk is full or the folder cannot be written.
        """
        with self._busy:
            remove_tree(self.temp)
            self.temp.mkdir(mode=0o700, parents=True)
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            modes = {path: self._mode_of(layout, path) for path in overlay}
            wanted = {path: (digest_of(data), modes[path]) for path, data in overlay.items()}
            check = _Pass(layout, overlay, wanted)
            self._compare(check)
            written = self._lay(check)
            before = self._compiled
            self._settle_bytecode(check)
            self._changed = self._changed or written > 0 or before != self._compiled
            self.last_unpatched = False
            return written

    def delete(self) -> None:
        """Remove the copy and all that belongs to it but the lock."""
        with self._busy:
            remove_tree(self.folder)
            remove_tree(self.temp)
            self._memory.unlink(missing_ok=True)
            self._laid, self._compiled = {}, {}

    def clear_temp(self) -> None:
        """Remove what runs left in the temporary folder."""
        with self._busy:
            remove_tree(self.temp)

    @staticmethod
    def _mode_of(layout: Layout, path: str) -> int:
        entry = layout.files.get(path)
        return 0o644 if entry is None else entry.mode

    # ------------------------------------------------------------------ comparing

    def _compare(self, check: _Pass) -> None:
        """Find what is right, and remove what is not to be there."""
        waiting = [""]
        while waiting:
            inside = waiting.pop()
            folder = os.path.join(self.folder, inside)
            for entry in _entries(folder):
                path = os.path.join(inside, entry.name)
                with contextlib.suppress(FileNotFoundError):
                    status = entry.stat(follow_symlinks=False)
                    if stat.S_ISDIR(status.st_mode):
                        self._compare_folder(check, path, entry, status, waiting)
                    elif not self._is_right(check, path, entry.path, status):
                        _remove_file(entry.path)
        for path in self._laid.keys() - check.right:
            del self._laid[path]

    def _compare_folder(
        self, check: _Pass, path: str, entry: os.DirEntry[str], status: os.stat_result, waiting: list[str]
    ) -> None:
        wanted = check.layout.folders.get(path)
        if wanted is not None:
            if stat.S_IMODE(status.st_mode) != wanted | stat.S_IRWXU:
                os.chmod(entry.path, wanted | stat.S_IRWXU)
            check.folders.add(path)
            waiting.append(path)
        elif entry.name == PYCACHE and os.path.dirname(path) in check.layout.folders:
            check.caches.append(path)
        elif not any(is_parent(path, overlaid) for overlaid in check.overlay):
            remove_tree(Path(entry.path))
        else:  # a folder that only the overlay needs
            os.chmod(entry.path, stat.S_IRWXU)
            waiting.append(path)

    def _is_right(self, check: _Pass, path: str, full: str, status: os.stat_result) -> bool:
        """Whether a file or link is what has to be there; records it."""
        if stat.S_ISLNK(status.st_mode):
            right = path not in check.wanted and check.layout.links.get(path) == os.readlink(full)
        elif not stat.S_ISREG(status.st_mode):
            right = False
        else:
            was = self._laid.get(path)
            entry = check.layout.files.get(path)
            wanted = check.wanted.get(path) or (entry and (entry.digest, entry.mode))
            right = (
                was is not None
                and wanted is not None
                and (was.digest, was.mode) == wanted
                and was.stamp == stamp(status)
            )
        if right:
            check.right.add(path)
        return right

    # ------------------------------------------------------------------ laying

    def _lay(self, check: _Pass) -> int:
        layout = check.layout
        if len(check.folders) < len(layout.folders):
            for path in sorted(layout.folders.keys() - check.folders, key=lambda path: path.count(os.sep)):
                folder = os.path.join(self.folder, path)
                os.mkdir(folder)
                os.chmod(folder, layout.folders[path] | stat.S_IRWXU)
        missing = [path for path in layout.files if path not in check.right and path not in check.wanted]
        for path in missing:
            entry = layout.files[path]
            full = Path(self.folder, path)
            clone_file(layout.blob(entry.digest, layout.sources[path]), full)
            os.utime(full, ns=(entry.mtime_ns, entry.mtime_ns))
            self._remember(path, full, entry.digest, entry.mode)
        for path, (digest, mode) in check.wanted.items():
            if path not in check.right:
                full = Path(self.folder, path)
                full.parent.mkdir(parents=True, exist_ok=True)
                full.write_bytes(check.overlay[path])
                self._remember(path, full, digest, mode)
                missing.append(path)
        links = [path for path in layout.links if path not in check.right and path not in check.wanted]
        for path in links:
            self._link(path, layout)
        return len(missing) + len(links)

    def _remember(self, path: str, full: Path, digest: str, mode: int) -> None:
        full.chmod(mode)
        self._laid[path] = Laid(stamp(full.stat()), digest, mode)

    def _link(self, path: str, layout: Layout) -> None:
        full = Path(self.folder, path)
        target = Path(full.parent, layout.links[path])
        try:
            full.symlink_to(layout.links[path], target_is_directory=target.is_dir())
        except OSError as error:  # Windows without the right to make links
            log.warning("the link %s is missing from the copy: %s", layout.sources.get(path, full), error)

    # ------------------------------------------------------------------ bytecode

    def _settle_bytecode(self, check: _Pass) -> None:
        """Keep compiled files that belong to the text that is there now; remove every other one.

        New ones are adopted only after a run of unpatched text. A stamp that is not the one recorded means
        that a run rewrote the file, and is not believed.
        """
        kept: dict[str, Stamp] = {}
        for folder in check.caches:
            full = os.path.join(self.folder, folder)
            os.chmod(full, stat.S_IRWXU)
            for entry in _entries(full):
                path = os.path.join(folder, entry.name)
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode):
                    remove_tree(Path(entry.path))
                elif self._may_stay(check, path, entry.name, status):
                    kept[path] = stamp(status)
                else:
                    _remove_file(entry.path)
            with contextlib.suppress(OSError):  # it holds something
                os.rmdir(full)
        self._compiled = kept

    def _may_stay(self, check: _Pass, path: str, name: str, status: os.stat_result) -> bool:
        parts = COMPILED.fullmatch(name)
        if parts is None or not stat.S_ISREG(status.st_mode):
            return False
        source = os.path.join(os.path.dirname(os.path.dirname(path)), f"{parts['module']}.py")
        if source not in check.right or source in check.wanted:
            return False
        recorded = self._compiled.get(path)
        return self.last_unpatched if recorded is None else recorded == stamp(status)


def is_parent(folder: str, path: str) -> bool:
    """Whether a relative `path` is inside a relative `folder`."""
    return path.startswith(folder + os.sep)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """What a folder holds, even if a run took our right to see it."""
    try:
        with os.scandir(folder) as opened:
            return list(opened)
    except PermissionError:
        os.chmod(folder, stat.S_IRWXU)
        with os.scandir(folder) as opened:
            return list(opened)


def _remove_file(path: str) -> None:
    """Unlink a file or link, also a read-only one on Windows."""
    try:
        os.unlink(path)
    except PermissionError:
        os.chmod(path, stat.S_IRWXU)
        os.unlink(path)
