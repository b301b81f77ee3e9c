"""How does a project get private copies that always hold exactly what we say they hold?

`sync` looks at the user's files and gives an immutable snapshot; `lease` lends a writable folder that holds a
snapshot with a patch on top. The user's tree is only ever read.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import itertools
import os
import threading
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType

from regreen.errors import EnvironmentProblem, StaleFix, UsageError, UserError
from regreen.platform.background import run_blocking
from regreen.platform.processors import at_once
from regreen.values import FileEntry, Project, Snapshot, WorkingCopy
from regreen.workspace import ignore, places, scan
from regreen.workspace.blobs import Blobs, Index, read_file
from regreen.workspace.layouts import MODE_OF_NEW_FOLDER, Layouts, follow_links
from regreen.workspace.pool import Claim, SlotPool
from regreen.workspace.scan import LeftOut, Listing, readable
from regreen.workspace.slots import Slot

MODE_OF_NEW_FILE = 0o644
TIDY_SECONDS = 24 * 3600
DISK_FULL = frozenset({errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)})


class ProjectMirror:
    """The private copies of one project; implements `ports.Mirror`.

    Nothing is read or made before the first `sync`.

    Args:
        project: whose files.
        extra_roots: further folders inside the workspace whose packages the project imports (editable
            installs, entries of sys.path); those outside of the workspace are not mirrored.
        max_file_bytes: larger files are left out (see `left_out`).
        max_bytes: `sync` refuses to copy more than this.
        leases: how many working copies may be lent at once; further ones wait. When None, one for each run that may go
            on at once, and one for a run that is parked.
        cache: the folder of all mirrors; the user's when None.
    """

    def __init__(
        self,
        project: Project,
        *,
        extra_roots: Sequence[Path] = (),
        max_file_bytes: float = 50e6,
        max_bytes: float = 2e9,
        leases: int | None = None,
        cache: Path | None = None,
    ) -> None:
        if project.root.parent == project.root:
            raise UsageError(f"{project.root} is a whole disk, not a project.", "Name a folder inside it.")
        self.project = project
        self.left_out: tuple[LeftOut, ...] = ()
        self.size = 0  # bytes of the last snapshot
        self.max_bytes = max_bytes
        self._cache = cache
        self._max_file_bytes = int(max_file_bytes)
        self._extra: tuple[str, ...] = ()
        self.add_roots(extra_roots)
        self._turn = asyncio.Semaphore(leases or at_once() + 1)
        self._scanning = threading.Lock()
        self._slots = SlotPool(self.folder)
        self._blobs = Blobs(self.folder / "blobs")
        self._bytecode = self.folder / "bytecode"
        self._index = Index(self.folder / "index.json")
        self._layouts = Layouts(self._blob)
        self._entries: dict[str, tuple[Path, FileEntry]] = {}
        self._last: Snapshot | None = None
        self._opened = False

    # ------------------------------------------------------------------ contract

    async def sync(self, unsaved: Mapping[Path, bytes]) -> Snapshot:
        """Take a new snapshot: disk overlaid with unsaved editor text (path → encoded bytes).

        Raises:
            UserError: the project is larger than `max_bytes`; it names the size and the setting.
            EnvironmentProblem: the project cannot be read, or the disk with the copies is full.
        """
        return await run_blocking(self._sync, dict(unsaved))

    async def read(self, snapshot: Snapshot, path: Path) -> bytes:
        """The bytes of one file of a snapshot. Raises KeyError when it is not part of it."""
        entry = snapshot.files[path]
        return await run_blocking(self._read, entry.digest, path)

    @asynccontextmanager
    async def lease(
        self, snapshot: Snapshot, overlay: Mapping[Path, bytes], *, fresh: bool = False
    ) -> AsyncIterator[WorkingCopy]:
        """A writable copy holding `snapshot` with `overlay` on top.

        Args:
            snapshot: one of this mirror's, however old.
            overlay: files with other bytes than the snapshot's; new ones must be inside its roots.
            fresh: lay a new folder, and delete it afterwards.

        Raises:
            EnvironmentProblem: the disk with the copies is full or cannot be written.
            ValueError: an overlaid path is outside of the roots.
        """
        async with self._turn:
            claim = Claim(fresh)
            unpatched = False
            try:
                slot = await run_blocking(self._slots.take, claim)
                yield await run_blocking(self._bring_up, slot, snapshot, dict(overlay))
                unpatched = not overlay
            finally:
                await run_blocking(self._slots.give_back, claim, unpatched=unpatched)

    async def close(self) -> None:
        """Release the locks; the files stay for the next start. Safe to call twice."""
        await run_blocking(self._close)

    def add_roots(self, roots: Iterable[Path]) -> bool:
        """Mirror further folders from the next `sync` on; whether there was a new one.

        Only folders inside the workspace and not inside the project count.
        """
        workspace = os.path.realpath(self.project.workspace)
        before = self._extra
        for root in roots:
            path = os.path.abspath(root)  # noqa: PTH100 — links are kept
            known = (os.fspath(self.project.root), *self._extra)
            if path in known or scan.is_below(path, os.fspath(self.project.root)):
                continue
            if os.path.isdir(path) and scan.is_below(os.path.realpath(path), workspace):  # noqa: PTH112
                self._extra = (*self._extra, path)
        return self._extra != before

    @property
    def folder(self) -> Path:
        """Where this project's copies are, or will be."""
        return places.mirror_folder(self.project.root, self._cache)

    # ------------------------------------------------------------------ snapshots

    def _sync(self, unsaved: Mapping[Path, bytes]) -> Snapshot:
        with self._scanning, self._explained():
            self._open()
            roots = [os.fspath(self.project.root), *self._extra]
            cache = os.fspath(self.folder.parent)
            found = scan.listing(roots, max_file_bytes=self._max_file_bytes, skip={cache})
            if roots[0] not in found.folders:
                raise EnvironmentProblem(f"{roots[0]} cannot be read: {found.left_out[0].reason}.")
            self.size = found.bytes
            if found.bytes > self.max_bytes:
                raise UserError(
                    f"{roots[0]} holds {readable(found.bytes)} in {len(found.files):,} files, and Regreen works "
                    f"in a copy of at most {readable(self.max_bytes)}.",
                    "Raise `regreen.mirror.maxGigabytes`, or move large data out of the project.",
                )
            files = self._digested(found)
            folders = {Path(path): mode for path, mode in found.folders.items()}
            links = {Path(path): text for path, text in found.links.items()}
            for path, data in unsaved.items():
                self._lay_unsaved(path, data, files, links, folders, found)
            self.left_out = tuple(found.left_out)
            snapshot = self._snapshot(files, links, folders, tuple(map(Path, sorted(found.beneath))))
            self._index.forget(found.files.keys())
            self._index.save()
            self._tidy(snapshot)
            return snapshot

    def _digested(self, found: Listing) -> dict[Path, FileEntry]:
        """The entries of all files, reusing those of files that did not change."""
        entries: dict[str, tuple[Path, FileEntry]] = {}
        for path, now in found.files.items():
            try:
                digest = self._index.digest(path, now, self._blobs)
            except FileNotFoundError:
                continue  # deleted since it was listed
            except OSError as error:
                if error.errno in DISK_FULL:
                    raise
                found.left_out.append(LeftOut(Path(path), f"cannot be read: {error.strerror}", now[0]))
                continue
            size, mtime_ns, *_, mode = self._index.known[path].stamp
            old = self._entries.get(path)
            entry = FileEntry(digest, size, mode & scan.PERMISSIONS, mtime_ns)
            entries[path] = old if old is not None and old[1] == entry else (Path(path), entry)
        self._entries = entries
        return dict(entries.values())

    def _lay_unsaved(
        self,
        path: Path,
        data: bytes,
        files: dict[Path, FileEntry],
        links: Mapping[Path, str],
        folders: dict[Path, int],
        found: Listing,
    ) -> None:
        """Put unsaved text over a file; what is outside of the copy anyway is not part of the snapshot."""
        target = follow_links(path, links)
        old = files.get(target)
        if old is None:
            missing = list(itertools.takewhile(lambda parent: parent not in folders, target.parents))
            inside = len(missing) < len(target.parents) and os.fspath(target) not in found.links
            if not inside or any(parent.exists() for parent in missing) or ignored(target, missing):
                return
            folders.update((parent, MODE_OF_NEW_FOLDER) for parent in missing)
        digest = self._blobs.put(data)
        if old is None or old.digest != digest:
            mode = MODE_OF_NEW_FILE if old is None else old.mode
            files[target] = FileEntry(digest, len(data), mode, time.time_ns())  # noqa: TID251 — a file's time is of this clock

    def _snapshot(
        self,
        files: dict[Path, FileEntry],
        links: dict[Path, str],
        folders: dict[Path, int],
        beneath: tuple[Path, ...],
    ) -> Snapshot:
        roots = (self.project.root, *(Path(path) for path in self._extra if Path(path) in folders))
        last = self._last
        now = (roots, files, links, folders, beneath)
        if last is not None and (last.roots, last.files, last.links, last.folders, last.beneath) == now:
            return last
        self._last = Snapshot(
            self.project,
            1 if last is None else last.generation + 1,
            MappingProxyType(files),
            roots,
            MappingProxyType(links),
            MappingProxyType(folders),
            beneath,
        )
        return self._last

    def _read(self, digest: str, path: Path) -> bytes:
        with self._explained():
            return self._blob(digest, path).read_bytes()

    def _blob(self, digest: str, source: Path) -> Path:
        """The file of a content; made again from the user's file if someone emptied the cache."""
        blob = self._blobs.path(digest)
        if not blob.exists() and read_file(os.fspath(source), self._blobs).digest != digest:
            raise StaleFix(f"{source} changed, and the text it had is gone from {self.folder}.")
        return blob

    # ------------------------------------------------------------------ copies

    def _bring_up(self, slot: Slot, snapshot: Snapshot, overlay: Mapping[Path, bytes]) -> WorkingCopy:
        with self._explained():
            with self._scanning:
                base, layout = self._layouts.of(snapshot)
            laid: dict[str, bytes] = {}
            for path, data in overlay.items():
                target = follow_links(path, snapshot.links)
                if not any(target.is_relative_to(root) for root in snapshot.roots):
                    raise ValueError(f"{path} is outside of what is mirrored")
                laid[os.path.relpath(target, base)] = data
            slot.bring_up(layout, laid)
            pairs = [(root, slot.folder / root.relative_to(base)) for root in snapshot.roots]
            pairs.sort(key=lambda pair: -len(pair[0].parts))
            root = slot.folder / snapshot.roots[0].relative_to(base)
            return WorkingCopy(root, slot.temp, tuple(pairs), self._bytecode)

    # ------------------------------------------------------------------ opening and closing

    def _open(self) -> None:
        if self._opened and self.folder.exists():
            return
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._blobs.folder.mkdir(mode=0o700, exist_ok=True)
        self._bytecode.mkdir(mode=0o700, exist_ok=True)
        places.tag_cache(self.folder.parent)
        places.stamp_use(self.folder, self.project.root)
        self._slots.open()
        self._index.load()
        self._opened = True
        places.clear_mirrors(self.folder.parent, unused_for=places.UNUSED_SECONDS)

    def _tidy(self, snapshot: Snapshot) -> None:
        """Once a day, drop contents that nothing names any more."""
        mark = self.folder / "tidied"
        if not mark.exists() or abs(time.time() - mark.stat().st_mtime) > TIDY_SECONDS:  # noqa: TID251 — a file's time is of this clock
            mark.touch()
            places.stamp_use(self.folder, self.project.root)
            wanted = {known.digest for known in self._index.known.values()}
            self._blobs.prune(wanted | {entry.digest for entry in snapshot.files.values()})

    def _close(self) -> None:
        with self._scanning, self._explained():
            self._slots.close()
            self._opened = False

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn what the system says of our own folder into a sentence its reader can act on."""
        try:
            yield
        except OSError as error:
            raise EnvironmentProblem(
                f"The private copy of {self.project.root} in {self.folder} cannot be used: {error}.",
                "Free some disk space there, or set REGREEN_CACHE_DIR to another folder.",
            ) from error


def ignored(path: Path, parents: Sequence[Path]) -> bool:
    """Whether a new file with these new parents would be left out by one of their names."""
    return any(ignore.folder_reason(part.name) for part in (path, *parents))
