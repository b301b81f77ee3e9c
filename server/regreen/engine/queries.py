"""What is known about a place, right now, from memory alone?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from regreen import edits
from regreen.engine import explaining
from regreen.engine.documents import Documents
from regreen.engine.outline import is_test_file
from regreen.engine.registry import Registry
from regreen.engine.state import Offer, ProjectState
from regreen.engine.views import Lens, Mark, View
from regreen.engine.world import Status
from regreen.errors import StaleFix
from regreen.platform.background import run_blocking
from regreen.values import Expectation

MAX_ACTIONS = 12
AGAIN = "save the file or ask for fixes, and Regreen looks anew."
"""What to do about a fix that fits no longer."""


@dataclass(frozen=True, slots=True)
class RedHere:
    """A red test within reach of a place, with the fixes that fit the text as it is now."""

    state: ProjectState
    nodeid: str
    offers: tuple[Offer, ...]
    preferred: bool  # the first offer passed everything, has no flags, and may be applied with one key
    expectation: Expectation | None = (
        None  # what a stale test would have to expect; its text is as it was then
    )


class Queries:
    """Answers; nothing here waits but `resolve`, which reads the files that are not open."""

    def __init__(
        self,
        registry: Registry,
        documents: Documents,
        views: Mapping[Path, View],
        statuses: Mapping[Path, Status],
    ) -> None:
        self._registry = registry
        self._documents = documents
        self._views = views
        self._statuses = statuses

    def marks(self, path: Path) -> Sequence[Mark]:
        """What to show in a file, of every project that has something to say."""
        return [mark for view in self._views.values() for mark in view.marks.get(path, ())]

    def lenses(self, path: Path) -> Sequence[Lens]:
        """The lenses of a file."""
        return [lens for view in self._views.values() for lens in view.lenses.get(path, ())]

    def statuses(self) -> Sequence[Status]:
        """What every project is doing."""
        return list(self._statuses.values())

    def reds_at(self, path: Path, first: int, last: int) -> Sequence[RedHere]:
        """The red tests within reach of these 0-based lines, at most a menu's worth."""
        found: dict[tuple[Path, str], RedHere] = {}
        for root, view in self._views.items():
            state = self._registry.states.get(root)
            if state is None:
                continue
            for spot in view.spots.get(path, ()):
                if spot.first <= last and first <= spot.last and (root, spot.nodeid) not in found:
                    found[root, spot.nodeid] = self._red(state, spot.nodeid)
                    if len(found) >= MAX_ACTIONS:
                        return list(found.values())
        return list(found.values())

    def _red(self, state: ProjectState, nodeid: str) -> RedHere:
        offers = tuple(offer for offer in state.offers_for(nodeid) if self._may_fit(offer))
        preferred = bool(offers) and offers[0].fix.unattended
        preferred = preferred and offers[0].fingerprint not in state.muted_fixes
        return RedHere(state, nodeid, offers, preferred, self._expectation(state, nodeid))

    def _expectation(self, state: ProjectState, nodeid: str) -> Expectation | None:
        """What a stale test would have to expect, if its file is open and still as it was then."""
        result = state.results.get(nodeid)
        change = result.expectation if result is not None else None
        document = self._documents.get(change.edit.path) if change is not None else None
        fits = document is not None and change is not None and document.digest == change.edit.base_digest
        return change if fits else None

    def fixes_at(self, path: Path, first: int, last: int) -> Sequence[Offer]:
        """The verified fixes within reach of these 0-based lines; the same change is named once."""
        unique: dict[str, Offer] = {}
        for red in self.reds_at(path, first, last):
            for offer in red.offers:
                unique.setdefault(offer.fix.diff, offer)
        return list(unique.values())

    def fixes_of(self, path: Path) -> Sequence[Offer]:
        """The best fix of each red test that needs no reading and changes this file and no other, apart from each other."""
        chosen: list[Offer] = []
        for state in self._registry.states.values():
            for nodeid in state.results:
                best = next(iter(self._red(state, nodeid).offers), None)
                if best is None or not best.fix.unattended or set(best.before) != {path}:
                    continue
                if best.fingerprint not in state.muted_fixes and not any(
                    _overlap(best, o, path) for o in chosen
                ):
                    chosen.append(best)
        return chosen

    def _may_fit(self, offer: Offer) -> bool:
        """Whether the open documents hold the text the fix was verified against."""
        return all(
            (document := self._documents.get(path)) is None or document.digest == digest
            for path, digest in offer.fix.base_digests.items()
        )

    def offer(self, fix_id: str) -> Offer | None:
        """An offer by its id."""
        return next((s.offers[fix_id] for s in self._registry.states.values() if fix_id in s.offers), None)

    async def resolve(self, fix_id: str) -> Offer:
        """The offer, after checking that every file still holds the text it was verified against.

        Raises:
            StaleFix: the fix is gone, or a file changed.
        """
        offer = self.offer(fix_id)
        if offer is None:
            raise StaleFix(f"This fix is no longer on offer; {AGAIN}")
        closed = [path for path in offer.fix.base_digests if self._documents.get(path) is None]
        for path in closed:
            if await run_blocking(_digest_on_disk, path) != offer.fix.base_digests[path]:
                raise StaleFix(
                    f"{path.name} changed since the fix was verified, so nothing was applied; {AGAIN}"
                )
        if not self._may_fit(offer):  # asked after the waiting: no text can slip in between
            raise StaleFix(f"The text changed since the fix was verified, so nothing was applied; {AGAIN}")
        return offer

    def projects(self, path: Path | None) -> Sequence[ProjectState]:
        """The projects that a command is about: of a file or folder, or all of them."""
        if path is None:
            return list(self._registry.states.values())
        below = [s for s in self._registry.states.values() if s.root.is_relative_to(path)]
        holding = self._registry.state_of(path)
        return below or ([holding] if holding is not None else [])

    def tests_of_file(self, path: Path, state: ProjectState, *, run: bool) -> Sequence[str]:
        """Which tests a command on a file means: to heal, the red ones within it; else its own, or those that execute it."""
        view = self._views.get(state.root)
        red = dict.fromkeys(spot.nodeid for spot in view.spots.get(path, ())) if view and not run else {}
        if red or is_test_file(path):
            return list(red) or [edits.relative(path, state.root)]
        return [nodeid for nodeid, files in state.lines.items() if path in files]

    def explain(self, nodeid: str, *, docs: str = "") -> str:
        """All that is known about a red test, as Markdown; empty when nothing is. See `explaining`."""
        pages = (explaining.explain(state, nodeid, docs=docs) for state in self._registry.states.values())
        return next(filter(None, pages), "")

    def reds(self) -> Sequence[RedHere]:
        """Every red test of every project, with the fixes that fit the text as it is now."""
        return [
            self._red(state, nodeid)
            for state in self._registry.states.values()
            for nodeid in (*state.known_reds, *(failure.nodeid for failure in state.red_failures()))
        ]


def _overlap(one: Offer, other: Offer, path: Path) -> bool:
    (a, b), (c, d) = one.lines[path], other.lines[path]
    return a <= d and c <= b


def _digest_on_disk(path: Path) -> str | None:
    try:
        return edits.digest(path.read_bytes())
    except OSError:
        return None
