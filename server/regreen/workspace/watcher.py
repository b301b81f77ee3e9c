"""Which source files of a folder changed on disk, told soon and only when their content is new?

The system's own events where it has them, else a look around every few seconds. Editors save in many ways
(write in place, write aside and rename, rename away and write anew): what counts is what a file holds once
it is quiet.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from watchdog import events
from watchdog.observers import Observer

from regreen.workspace import watch_plan
from regreen.workspace.scan import is_below
from regreen.workspace.watch_plan import Plan, is_hidden, is_watched, native_name

log = logging.getLogger(__name__)

QUIET_SECONDS = 0.02
"""Changes are looked at once nothing came for so long: an editor's save is several events."""
MOST_QUIET_SECONDS = 0.2
"""Where it never gets quiet, changes are looked at all the same after so long."""
GONE_SECONDS = 0.15
"""A file that is missing or empty is looked at again after so long: it may be in the middle of being saved."""
POLL_SECONDS = 2.0
POLL_SHARE = 200
"""Looking around takes at most one part in so many of the time."""
MOST_BYTES = 10_000_000
"""Larger files are never read here."""

EXHAUSTED = {
    errno.ENOSPC: "the system's watches are used up (fs.inotify.max_user_watches)",
    errno.EMFILE: "the system's watchers are used up (fs.inotify.max_user_instances)",
}

Events = list[type[events.FileSystemEvent]]


def watched_events(platform: str) -> Events:
    """What to ask of the system. Linux tells when a file is closed after writing, others only of each write."""
    written = events.FileClosedEvent if platform.startswith("linux") else events.FileModifiedEvent
    return [
        written,
        *(events.FileCreatedEvent, events.FileDeletedEvent, events.FileMovedEvent),
        *(events.DirCreatedEvent, events.DirDeletedEvent, events.DirMovedEvent),
    ]


class FolderWatcher:
    """Watches one workspace folder from its construction, which blocks, until `close`.

    Args:
        folder: the workspace folder.
        seen: called from a thread of ours with the path of each file whose content changed, that is new or gone.
        notice: called at most once, with a sentence for people, when the system cannot tell of changes.
        observer: makes the watchdog observer; a test's own to force a failure.
        mounts: the text of proc(5) mountinfo; this system's when None.
        poll_seconds: how often to look around where the system does not tell.

    Attributes:
        strategy: how changes are noticed, for doctor ("inotify, 14 folders").
    """

    def __init__(
        self,
        folder: Path,
        seen: Callable[[Path], None],
        *,
        notice: Callable[[str], None] = log.warning,
        observer: Callable[[], Any] = Observer,
        mounts: str | None = None,
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        self._named = os.path.abspath(folder)  # noqa: PTH100 — links are kept
        # Systems watch, and some name, what a link leads to; we tell by the name we were given.
        self._top = os.path.realpath(folder)
        self._seen = seen
        self._lock = threading.RLock()
        self._closed = threading.Event()
        self._queue: SimpleQueue[str | None] = SimpleQueue()
        self._digests: dict[str, str] = {}
        self._poll_seconds = poll_seconds
        self._observer: Any = None
        self._watches: dict[str, Any] = {}
        self._wanted = watched_events(sys.platform)
        self._stamps = self._look_around()
        self.strategy = self._start(observer, mounts, notice)
        threading.Thread(target=self._settle, name="regreen-watch", daemon=True).start()

    def expect(self, path: Path, digest: str) -> None:
        """Regard this content there as known: we are about to write it ourselves."""
        with self._lock:
            self._digests[os.path.realpath(path)] = digest

    def close(self) -> None:
        """Stop; nothing is told after this. Safe to call twice."""
        with self._lock:
            self._closed.set()
        self._queue.put(None)
        self._stop_observer()

    # ------------------------------------------------------------------ native events

    def _start(self, observer: Callable[[], Any], mounts: str | None, notice: Callable[[str], None]) -> str:
        """Begin to watch; how, for people."""
        plan = watch_plan.plan(self._top)
        reason = watch_plan.reason_to_poll(Path(self._top), plan, mounts)
        if not reason:
            try:
                self._watch(observer, plan)
            except OSError as error:
                self._stop_observer()
                reason = EXHAUSTED.get(error.errno or 0, f"the system refuses to watch ({error.strerror})")
            else:
                return f"{native_name()}, {plan.folders:,} folders"
        notice(
            f"{self._named}: changes made outside of the editor are noticed by looking every few seconds: {reason}."
        )
        threading.Thread(target=self._poll, name="regreen-poll", daemon=True).start()
        return f"looking every {self._poll_seconds:g} s or more: {reason}"

    def _watch(self, observer: Callable[[], Any], plan: Plan) -> None:
        self._observer = observer()
        self._observer.start()
        for folder in plan.whole:
            self._schedule(folder, recursive=True)
        # A watch that fails deep inside a whole folder fails silently; these come last and do not.
        for folder in reversed(plan.alone):
            self._schedule(folder, recursive=False)

    def _schedule(self, folder: str, *, recursive: bool) -> None:
        handler = _Handler(self._event)
        self._unschedule(folder)
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):  # gone since it was listed
            self._watches[folder] = self._observer.schedule(
                handler, folder, recursive=recursive, event_filter=self._wanted
            )

    def _unschedule(self, folder: str) -> None:
        """Let go of the watch of a folder that went, or that another folder of the same name replaces."""
        watch = self._watches.pop(folder, None)
        if watch is not None:
            with contextlib.suppress(KeyError):
                self._observer.unschedule(watch)

    def _stop_observer(self) -> None:
        observer, self._observer = self._observer, None
        if observer is not None:
            observer.stop()
            if observer.is_alive():
                observer.join(timeout=5)

    def _event(self, event: events.FileSystemEvent) -> None:
        """Called by the observer's thread."""
        for path in (os.fsdecode(event.src_path), os.fsdecode(event.dest_path)):
            if not path or not is_below(path, self._top) or is_hidden(path, self._top):
                continue
            if not event.is_directory:
                if is_watched(path):
                    self._queue.put(path)
            elif not isinstance(event, events.DirModifiedEvent):
                self._folder_event(path)

    def _folder_event(self, folder: str) -> None:
        """A folder came, went or was renamed: every file that was or is in it may be news."""
        inside = folder.rstrip(os.sep) + os.sep
        with self._lock:
            gone = [path for path in self._stamps if path.startswith(inside)]
        if not os.path.lexists(folder):
            for path in [path for path in self._watches if (path + os.sep).startswith(inside)]:
                self._unschedule(path)
        for path in (*gone, *self._watch_new(folder)):
            self._queue.put(path)

    def _watch_new(self, folder: str) -> list[str]:
        """Watch a new folder unless a watch of a whole folder covers it; the files that are in it already."""
        if not os.path.isdir(folder) or os.path.islink(folder):  # noqa: PTH112, PTH114 — strings from the system
            return []
        covered = any(
            watch.is_recursive and folder.startswith(path + os.sep) for path, watch in self._watches.items()
        )
        if self._observer is not None and not covered:
            plan = watch_plan.plan(folder)
            try:
                for path in plan.whole:
                    self._schedule(path, recursive=True)
                for path in plan.alone:
                    self._schedule(path, recursive=False)
            except (OSError, AttributeError) as error:  # used up, or closed meanwhile; saving still works
                log.info("%s is not watched: %s", folder, error)
        return [entry.path for entry in watch_plan.files(folder)]

    # ------------------------------------------------------------------ looking around

    def _look_around(self) -> dict[str, tuple[int, int, int]]:
        found = {}
        for entry in watch_plan.files(self._top):
            with contextlib.suppress(OSError):
                found[entry.path] = _stamp(entry.stat())
        return found

    def _poll(self) -> None:
        pause = self._poll_seconds
        while not self._closed.wait(pause):
            began = time.monotonic()
            now = self._look_around()
            with self._lock:
                before = dict(self._stamps)
            for path in before.keys() | now.keys():
                if before.get(path) != now.get(path):
                    self._queue.put(path)
            pause = max(self._poll_seconds, (time.monotonic() - began) * POLL_SHARE)

    # ------------------------------------------------------------------ judging

    def _settle(self) -> None:
        """Collect events until it is quiet, then judge each path once."""
        while (first := self._queue.get()) is not None:
            paths = {first: None}
            latest = time.monotonic() + MOST_QUIET_SECONDS
            with contextlib.suppress(Empty):
                while time.monotonic() < latest:
                    path = self._queue.get(timeout=QUIET_SECONDS)
                    if path is None:
                        return
                    paths[path] = None
            doubtful = [path for path in paths if not self._judge(path, doubt=True)]
            if doubtful and not self._closed.wait(GONE_SECONDS):
                for path in doubtful:
                    self._judge(path, doubt=False)

    def _judge(self, path: str, *, doubt: bool) -> bool:
        """Tell of a path if what it holds is new.

        Args:
            path: a watched file that may have changed.
            doubt: it may be in the middle of being saved.

        Returns:
            False when it is missing or empty and there is doubt, so that it has to be judged again.
        """
        try:
            stamp = _stamp(os.stat(path))  # noqa: PTH116 — strings from the system
            data = Path(path).read_bytes() if stamp[0] <= MOST_BYTES else repr(stamp).encode()
        except OSError:
            stamp, data = None, None
        if doubt and not data:
            return False
        digest = "" if data is None else hashlib.sha256(data).hexdigest()
        with self._lock:
            known = self._digests.get(path)
            before = self._stamps.get(path)
            self._digests[path] = digest
            if stamp is None:
                self._stamps.pop(path, None)
            else:
                self._stamps[path] = stamp
            # What it held at first is unknown; then the stamp has to do.
            news = known != digest if known is not None else before != stamp
            if news and not self._closed.is_set():
                self._seen(Path(self._named + path[len(self._top) :]))
        return True


class _Handler(events.FileSystemEventHandler):
    """Passes every event on."""

    def __init__(self, event: Callable[[events.FileSystemEvent], None]) -> None:
        self._event = event

    def on_any_event(self, event: events.FileSystemEvent) -> None:
        self._event(event)


def _stamp(status: os.stat_result) -> tuple[int, int, int]:
    return (status.st_size, status.st_mtime_ns, status.st_ino)
