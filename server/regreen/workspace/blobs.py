"""Where are the bytes of every file that a snapshot names, and what did each file hold when last seen?

`Blobs` keeps each content once, under its SHA-256; nothing in it ever changes, so a snapshot stays readable
whatever happens to the user's files. `Index` remembers which content a file had and by which stamp, so that
an unchanged file is not read again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import tempfile
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from regreen.platform.files import write_atomic
from regreen.workspace.scan import Stamp, stamp

log = logging.getLogger(__name__)

CHUNK = 1024 * 1024
RACY_NS = 2_000_000_000
"""A file whose times are this close to the moment it was read may have changed since without showing it."""
KEEP_SECONDS = 7 * 24 * 3600
"""How long content that no index names is kept: another process may still hold a snapshot of it."""


def digest_of(data: bytes) -> str:
    """SHA-256 of `data`, hex: the name of a content everywhere in Regreen."""
    return hashlib.sha256(data).hexdigest()


class Blobs:
    """A folder of contents by digest.

    Args:
        folder: where they are; made when missing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: set[str] = set()

    def path(self, digest: str) -> Path:
        """Where a content is, or would be."""
        return self.folder / digest[:2] / digest

    def read(self, digest: str) -> bytes:
        """The bytes. Raises FileNotFoundError."""
        return self.path(digest).read_bytes()

    def has(self, digest: str) -> bool:
        """Whether a content is there."""
        return self.path(digest).exists()

    def put(self, data: bytes) -> str:
        """Keep `data`; its digest."""
        digest = digest_of(data)
        if digest not in self._known or not self.has(digest):
            self._keep(digest, data)
        return digest

    def put_stream(self, stream: BinaryIO) -> str:
        """Keep what is left of a stream without holding it in memory; its digest."""
        first = stream.read(CHUNK)
        if len(first) < CHUNK:
            return self.put(first)
        summed = hashlib.sha256()
        with self._new(self.folder) as (out, written):
            while first:
                summed.update(first)
                out.write(first)
                first = stream.read(CHUNK)
            out.close()
            digest = summed.hexdigest()
            self._settle(written, digest)
        return digest

    def _keep(self, digest: str, data: bytes) -> None:
        if self.has(digest):
            self._known.add(digest)
            return
        with self._new(self.path(digest).parent) as (out, written):
            out.write(data)
            out.close()
            self._settle(written, digest)

    @contextlib.contextmanager
    def _new(self, folder: Path) -> Iterator[tuple[BinaryIO, Path]]:
        """A new file, to be closed and settled; else nothing is left of it."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd, name = tempfile.mkstemp(dir=folder)
        try:
            with open(fd, "wb") as out:  # noqa: PTH123 — it is open already
                yield out, Path(name)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise

    def _settle(self, written: Path, digest: str) -> None:
        target = self.path(digest)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        written.replace(target)
        self._known.add(digest)

    def prune(self, wanted: Collection[str], *, older_than: float = KEEP_SECONDS) -> int:
        """Remove contents that are not `wanted` and were written more than so many seconds ago; their number."""
        removed = 0
        limit = time.time() - older_than  # noqa: TID251 — a file's time is of this clock
        for folder in self.folder.iterdir() if self.folder.exists() else ():
            for blob in folder.iterdir() if folder.is_dir() else ():
                with contextlib.suppress(FileNotFoundError):
                    if blob.name not in wanted and blob.stat().st_mtime < limit:
                        blob.unlink()
                        self._known.discard(blob.name)
                        removed += 1
        return removed


@dataclass(frozen=True, slots=True)
class Known:
    """What a file held: its stamp then, the digest, and whether it may have changed unseen since."""

    stamp: Stamp
    digest: str
    racy: bool


class Index:
    """What each file held when it was last read.

    Args:
        file: where this is kept between starts. Several processes may write it: each writes the whole truth
            that it saw, and a stale entry only costs a re-read.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self.changed = False
        self.known: dict[str, Known] = {}

    def load(self) -> None:
        """Read what an earlier start kept; a damaged file counts as none."""
        try:
            rows = json.loads(self.file.read_bytes())["files"]
            self.known = {path: Known(tuple(row[:5]), row[5], row[6]) for path, row in rows.items()}
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            log.warning("%s is damaged and is made again: %s", self.file, error)

    def save(self) -> None:
        """Keep it for the next start, if there is something new."""
        if self.changed:
            rows = {path: [*known.stamp, known.digest, known.racy] for path, known in self.known.items()}
            write_atomic(self.file, json.dumps({"v": 1, "files": rows}, separators=(",", ":")).encode())
            self.changed = False

    def forget(self, present: Collection[str]) -> None:
        """Drop every file that is not `present` any more."""
        if len(self.known) > len(present):
            self.known = {path: known for path, known in self.known.items() if path in present}
            self.changed = True

    def digest(self, path: str, now: Stamp, blobs: Blobs) -> str:
        """The digest of a file whose stamp is `now`; it is read only if it may have changed.

        Raises:
            OSError: it cannot be read, or is gone.
        """
        known = self.known.get(path)
        if known is not None and known.stamp == now and not known.racy:
            return known.digest
        self.changed = True
        known = self.known[path] = read_file(path, blobs)
        return known.digest


def read_file(path: str, blobs: Blobs) -> Known:
    """Keep the bytes of a file, together with the stamp they belong to.

    A file that is being written is read again, at most three times; then what was read counts for now,
    and it stays marked as one that may have changed.
    """
    for _ in range(3):
        with open(path, "rb") as stream:  # noqa: PTH123 — scans work on strings
            before = stamp(os.fstat(stream.fileno()))
            began = time.time_ns()  # noqa: TID251 — a file's time is of this clock
            digest = blobs.put_stream(stream)
            after = stamp(os.fstat(stream.fileno()))
        if before == after:
            break
    racy = before != after or max(after[1], after[3]) > began - RACY_NS
    return Known(after, digest, racy)
