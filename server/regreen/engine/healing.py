"""How do verified fixes reach the documents by themselves, and how is an undo noticed?"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from regreen.engine.autoheal import (
    APPLY_SECONDS,
    QUIET_SECONDS,
    Applied,
    eligible,
    fits,
    holds,
    last_typing,
)
from regreen.engine.documents import Document, Documents
from regreen.engine.registry import Registry
from regreen.engine.state import Offer, ProjectState
from regreen.engine.views import fix_title
from regreen.engine.world import Change, Face, Level
from regreen.ports import Clock
from regreen.values import TestStatus

log = logging.getLogger(__name__)

MAX_APPLIED = 100


class OwnTextSeen(Protocol):
    """Hears that the documents hold a text that a fix made, or again the one before it."""

    def __call__(self, state: ProjectState, applied: Applied, *, undone: bool) -> None:
        """Hear it."""
        ...


class Healing:
    """Watches the open documents for texts that fixes made, and applies fixes when all is quiet."""

    def __init__(
        self,
        documents: Documents,
        registry: Registry,
        face: Face,
        clock: Clock,
        own_text_seen: OwnTextSeen,
        refresh: Callable[[ProjectState], None],
    ) -> None:
        self._documents = documents
        self._registry = registry
        self._face = face
        self._clock = clock
        self._own_text_seen = own_text_seen
        self._refresh = refresh
        self._applied: list[tuple[ProjectState, Applied]] = []
        self._arrived = asyncio.Event()

    def text_seen(self, document: Document) -> None:
        """A document has a (new) text: is it one that a fix made, or the one before?"""
        for state in self._registry.states.values():
            for offer in list(state.offers.values()):
                expected = offer.after_digests.get(document.path)
                if expected == document.digest and holds(offer.after_digests, self._documents):
                    self._take_applied(state, offer)
                    return
        for entry in reversed(self._applied):
            state, applied = entry
            before = applied.offer.fix.base_digests
            if document.path in before and holds(before, self._documents):
                self._applied.remove(entry)
                self._take_undone(state, applied)
                return

    def _take_applied(self, state: ProjectState, offer: Offer) -> None:
        healed = [n for n in offer.fix.evidence.red_to_green if n in state.outcomes]
        applied = Applied(
            offer,
            {n: state.outcomes[n] for n in healed},
            dict(state.results),
            dict(state.offers),
            state.snapshot,
        )
        self._applied.append((state, applied))
        del self._applied[:-MAX_APPLIED]
        for path, digest in offer.after_digests.items():
            state.seen[path] = digest  # this text was run while it was verified
        for nodeid in healed:
            state.outcomes[nodeid] = replace(state.outcomes[nodeid], status=TestStatus.PASSED, failure=None)
            state.drop_result(nodeid)
        state.drop_result(offer.fix.failure.nodeid)
        self._face.log(Level.INFO, f"{offer.fix.failure.nodeid}: the fix is in the text.")
        self._arrived.set()
        self._own_text_seen(state, applied, undone=False)
        self._refresh(state)

    def _take_undone(self, state: ProjectState, applied: Applied) -> None:
        state.muted_fixes.add(applied.offer.fingerprint)
        base = applied.offer.fix.base_digests
        if state.snapshot is applied.snapshot:  # nothing ran in between: what was known then is true again
            state.seen.update(base)
            state.outcomes.update(applied.outcomes)
            state.results.update(applied.results)
            state.offers.update(applied.offers)
        else:  # the next save has to tell
            for path in base:
                state.seen.pop(path, None)
        self._face.log(
            Level.INFO, f"{applied.offer.fix.failure.nodeid}: the fix was taken back; it is not forced again."
        )
        self._own_text_seen(state, applied, undone=True)
        self._refresh(state)

    async def apply_when_quiet(
        self, state: ProjectState, offers: Sequence[Offer], still_wanted: Callable[[], bool]
    ) -> None:
        """Apply the best fix once nobody typed for a while, if the toggle is on and it still fits."""
        if not state.settings.auto_heal_on_save:
            return
        offer = eligible(state, offers, self._documents)
        if offer is None:
            return
        while (rest := last_typing(offer, self._documents) + QUIET_SECONDS - self._clock.monotonic()) > 0:
            await self._clock.sleep(rest)
        wanted = still_wanted() and state.settings.auto_heal_on_save
        if (
            not wanted
            or not fits(offer, self._documents)
            or eligible(state, [offer], self._documents) is None
        ):
            return
        self._arrived.clear()
        self._face.log(Level.INFO, f"Applying by itself: {fix_title(offer)}")
        apply = asyncio.ensure_future(
            self._face.apply(Change(fix_title(offer), offer.fix.fix_id, offer.before, offer.after))
        )
        if not await self._arrives() and not apply.done():
            apply.cancel()
        if not holds(offer.after_digests, self._documents):
            self._face.log(Level.WARNING, "The editor did not take the fix over; it stays a quick fix.")

    async def _arrives(self) -> bool:
        """Wait until the documents hold the expected text, for a bounded time."""
        deadline = asyncio.ensure_future(self._clock.sleep(APPLY_SECONDS))
        arrival = asyncio.ensure_future(self._arrived.wait())
        try:
            await asyncio.wait({deadline, arrival}, return_when=asyncio.FIRST_COMPLETED)
            return arrival.done()
        finally:
            deadline.cancel()
            arrival.cancel()
