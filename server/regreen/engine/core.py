"""What happens when files are opened, typed into, saved, or changed on disk, and when the user asks?

The only mutable state of Regreen. Everything runs on one event loop; whatever may block runs elsewhere. Opening a
folder runs nothing, an untrusted folder runs nothing, and one project does one thing at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from regreen import edits
from regreen.engine.autoheal import Applied
from regreen.engine.documents import Document, Documents
from regreen.engine.healing import Healing
from regreen.engine.lane import Again, Job
from regreen.engine.queries import Queries
from regreen.engine.registry import Registry
from regreen.engine.showing import Showing
from regreen.engine.state import ProjectState
from regreen.engine.work import UNTRUSTED, Work
from regreen.engine.world import Face, Folder, Level, Sources, Watch, World
from regreen.platform.background import run_blocking
from regreen.ports import History
from regreen.values import VerifiedFix

_CONFIG_NAMES = frozenset({"pyproject.toml", "pytest.ini", ".pytest.ini", "setup.cfg", "tox.ini"})
_NOT_SOURCES = frozenset({"__pycache__", "node_modules", "site-packages"})


class Engine:
    """Takes events and commands, runs projects, and answers questions from memory (`queries`).

    Args:
        world: the real parts.
        face: who shows what is known.
    """

    def __init__(self, world: World, face: Face) -> None:
        self._world = world
        self._face = face
        self._watches: dict[Path, Watch] = {}
        self._changes: set[asyncio.Task[None]] = set()
        self.documents = Documents()
        self.registry = Registry(world, lambda sentence: face.log(Level.WARNING, sentence))
        self._showing = Showing(self.registry, face)
        self._work = Work(world, face, self.documents, self.registry, self._showing)
        self.queries = Queries(self.registry, self.documents, self._showing.views, self._showing.statuses)
        self._healing = Healing(
            self.documents, self.registry, face, world.clock, self._own_text_seen, self._showing.refresh
        )
        self._work.found = self._healing.apply_when_quiet

    # ------------------------------------------------------------------ folders

    def open_folder(
        self,
        path: Path,
        *,
        sources: Sources | None = None,
        trusted: bool | None = None,
        watch: bool = False,
    ) -> None:
        """Open a workspace folder: its projects and known reds are looked up, nothing is run.

        Args:
            path: the folder.
            sources: asks the client for its settings at a folder, oldest first.
            trusted: what the client says about trust; None leaves it to the user's own list.
            watch: notice changed files here, because the client does not.
        """
        folder = Folder(path, sources, trusted=trusted)
        self.registry.folders[path] = folder
        self._work.spawn(self._discover(folder, watch=watch))

    async def _discover(self, folder: Folder, *, watch: bool) -> None:
        try:
            for state in await self.registry.discover(folder):
                self._showing.refresh(state)
            await self._work.runs()
        finally:
            folder.ready.set()
        if (
            watch
            and self._world.watch is not None
            and folder.path in self.registry.folders
            and not self._work.closed
        ):
            loop = asyncio.get_running_loop()

            def seen(path: Path) -> None:
                if not loop.is_closed():
                    loop.call_soon_threadsafe(self.changed_on_disk, path)

            self._watches[folder.path] = await run_blocking(self._world.watch, folder.path, seen)

    async def ready(self) -> None:
        """Wait until the projects of every open folder are known."""
        await asyncio.gather(*(folder.ready.wait() for folder in self.registry.folders.values()))

    def close_folder(self, path: Path) -> None:
        """Close a workspace folder: what runs there ends, what is shown of it goes."""
        self.registry.folders.pop(path, None)
        if (watch := self._watches.pop(path, None)) is not None:
            watch.close()
        for state in [state for state in self.registry.states.values() if state.folder == path]:
            del self.registry.states[state.root]
            self._showing.forget(state.root)
            self._work.spawn(self._work.end(state))

    def configure(self, path: Path) -> None:
        """The client's settings of an open folder changed; what happens next is judged by the new ones."""
        folder = self.registry.folders[path]
        folder.ready.clear()
        self._work.spawn(self._reconfigure(folder))

    async def _reconfigure(self, folder: Folder) -> None:
        try:
            await self._apply_settings(folder)
        finally:
            folder.ready.set()

    async def _apply_settings(self, folder: Folder) -> None:
        await self.registry.reconfigure(folder)
        for state in [state for state in self.registry.states.values() if state.folder == folder.path]:
            self._showing.refresh(state)

    # ------------------------------------------------------------------ documents

    def opened(self, path: Path, uri: str, version: int | None, text: str) -> None:
        """A document was opened."""
        document = Document(uri, path, version, text, self._world.clock.monotonic())
        self.documents.open(document)
        self._work.spawn(self._learn(document))
        self._healing.text_seen(document)

    async def _learn(self, document: Document) -> None:
        document.learn(await run_blocking(read_bytes, document.path))
        self._healing.text_seen(document)
        if (state := await self.registry.find(document.path)) is not None:
            self._showing.refresh(state)

    def edited(self, path: Path, version: int | None, text: str) -> None:
        """The text of an open document changed."""
        if (document := self.documents.get(path)) is not None:
            document.edit(text, version, self._world.clock.monotonic())
            self._healing.text_seen(document)

    def saved(self, path: Path, *, by_hand: bool = True) -> None:
        """A document was saved; `by_hand`: by the user, not after a delay or a lost focus."""
        self._look_at(self._changed(path, by_hand=by_hand, saved=True))

    def closed(self, path: Path) -> None:
        """A document was closed; what was not saved in it is gone."""
        document = self.documents.get(path)
        self.documents.close(path)
        if document is not None and document.dirty:
            self._look_at(self._changed(path, by_hand=False, saved=False))

    def changed_on_disk(self, path: Path) -> None:
        """A file may have changed outside of the editor."""
        if self._work.closed or _NOT_SOURCES.intersection(path.parts):
            return
        self._look_at(self._changed(path, by_hand=False, saved=False))

    def _look_at(self, change: Coroutine[Any, Any, None]) -> None:
        if (task := self._work.spawn(change)) is not None:
            self._changes.add(task)
            task.add_done_callback(self._changes.discard)

    async def _changed(self, path: Path, *, by_hand: bool, saved: bool) -> None:
        data = await run_blocking(read_bytes, path)
        document = self.documents.get(path)
        if document is not None:
            document.learn(data)
        state = await self.registry.find(path)
        if state is None or (not saved and not _matters(path, state)):
            return
        if path.name == "pyproject.toml" and (folder := self.registry.folder_of(path)) is not None:
            await self._apply_settings(folder)
        digest = document.digest if document is not None else edits.digest(data) if data is not None else ""
        if saved:  # a watcher may have told of it before the editor did
            state.saved_by_hand[path] = digest if by_hand else None
        if self._digest_seen(state, path) == digest or not self._work.may_run(state, path):
            return
        state.seen[path] = digest
        if state.settings.run_tests == "onSave":
            self._work.submit(state, Job(changed=frozenset({path}), by_hand=by_hand and saved))

    def _digest_seen(self, state: ProjectState, path: Path) -> str | None:
        if path in state.seen:
            return state.seen[path]
        entry = state.snapshot.files.get(path) if state.snapshot else None
        return entry.digest if entry else None

    # ------------------------------------------------------------------ our own text

    def _own_text_seen(self, state: ProjectState, applied: Applied, *, undone: bool) -> None:
        """A fix reached the documents, or was taken back: no run starts for its text itself."""
        offer = applied.offer
        if state.tools is not None:
            self._work.spawn(self._mark(state, state.tools.history, offer.fix, undone=undone))
        if undone or state.settings.run_tests != "onSave" or not self.registry.is_trusted(state.folder):
            return
        healed = set(offer.fix.evidence.red_to_green)
        lost = {
            nodeid
            for nodeid in state.results
            if any(not offer.before.keys().isdisjoint(o.before) for o in state.offers_for(nodeid))
        }
        again = sorted((lost | state.searching) - healed)
        if again:  # their fixes were verified against the text before this one
            self._work.submit(state, Job(tests=tuple(again), heal=True, offers_only=True))

    async def _mark(self, state: ProjectState, history: History, fix: VerifiedFix, *, undone: bool) -> None:
        await run_blocking(partial(history.mark, state.project, fix, undone=undone))

    # ------------------------------------------------------------------ commands

    def heal(self, nodeids: Sequence[str], states: Sequence[ProjectState]) -> str:
        """Look for fixes of these red tests, or of everything red when none is named."""
        return self._ask(states, nodeids, heal=True)

    def resume(self, again: Again, states: Sequence[ProjectState]) -> str:
        """Take up the last heal of a red test by a model where it was left, with what the user knows."""
        for state in states:
            last = state.results.get(again.nodeid)
            if last is not None and last.spent is not None:
                if not self._work.may_run(state, state.notice_at):
                    return UNTRUSTED
                known = replace(again, heal=last.heal)
                self._work.submit(state, Job(tests=(again.nodeid,), heal=True, again=(known,)))
                return "started"
        return f"No model was asked about {again.nodeid} yet: find a fix for it first (`regreen.llm.mode` allows one)."

    def run_tests(self, nodeids: Sequence[str], states: Sequence[ProjectState]) -> str:
        """Run these tests, or the whole suite when none is named."""
        return self._ask(states, nodeids, heal=False)

    def _ask(self, states: Sequence[ProjectState], nodeids: Sequence[str], *, heal: bool) -> str:
        if not states:
            return "There is no Python project with tests here."
        for state in states:
            if not state.settings.enable:
                return f"Regreen is switched off in {state.folder}."
            if not self._work.may_run(state, state.notice_at):
                return UNTRUSTED
        for state in states:
            names = tuple(nodeids)
            if heal and not names:
                names = tuple(f.nodeid for f in state.red_failures()) or tuple(state.known_reds)
            self._work.submit(state, Job(tests=names, whole_suite=not names, heal=heal))
        return "started"

    async def settled(self, place: Path | None) -> None:
        """Wait until all that was asked for in the project of a place, or everywhere, or follows from a save, is over."""
        await self.ready()
        if self._changes:
            await asyncio.wait(self._changes)
        await asyncio.gather(*(self._work.settled(state) for state in self.queries.projects(place)))

    def cancel(self, states: Sequence[ProjectState]) -> bool:
        """Stop what runs in these projects; tells whether there was anything."""
        stopped = [self._work.cancel(state) for state in states]
        return any(stopped)

    async def trust(self, folder: Path) -> None:
        """The user trusts a folder: remember it, and show what is known."""
        await run_blocking(self._world.trust.trust, folder)
        if (known := self.registry.folders.get(folder)) is not None:
            self.registry.folders[folder] = replace(known, trusted=True)
        for state in [state for state in self.registry.states.values() if state.folder == folder]:
            if state.problem == UNTRUSTED:
                state.problem = ""
            if state.notice_at is not None and state.settings.run_tests == "onSave":
                self._work.submit(state, Job(changed=frozenset({state.notice_at})))
            self._showing.refresh(state)

    def mute(self, nodeid: str, states: Sequence[ProjectState]) -> None:
        """Never again suggest fixes for this test in this session."""
        for state in states:
            state.muted_tests.add(nodeid)
            state.drop_result(nodeid)
            self._showing.refresh(state)

    def toggle_auto_heal(self, folder: Path) -> bool:
        """Turn healing on save on or off for this session; tells what it is now."""
        now = self.registry.toggle_auto_heal(folder)
        for state in [state for state in self.registry.states.values() if state.folder == folder]:
            self._showing.refresh(state)
        return now

    # ------------------------------------------------------------------ life

    async def close(self) -> None:
        """End everything; returns when no process that we started is left."""
        for watch in self._watches.values():
            watch.close()
        self._watches.clear()
        self._showing.close()
        await self._work.close()


def _matters(path: Path, state: ProjectState) -> bool:
    """Whether a file that nobody saved in the editor can change what tests do."""
    if state.snapshot is not None and path in state.snapshot.files:
        return True
    return path.suffix == ".py" or path.name in _CONFIG_NAMES


def read_bytes(path: Path) -> bytes | None:
    """The bytes of a file, None when there is none or it cannot be read."""
    try:
        return path.read_bytes()
    except OSError:
        return None
