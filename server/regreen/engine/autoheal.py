"""May a verified fix be applied by itself now, and what became of the ones that were applied?

Success is the document's expected digest, never the client's word: some clients answer "applied" to an edit
that they dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from regreen.engine.documents import Documents
from regreen.engine.state import Offer, ProjectState
from regreen.values import Confidence, HealResult, Outcome, Snapshot, TestOutcome

MAX_LINES = 3
QUIET_SECONDS = 1.5
APPLY_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Applied:
    """One fix that reached the documents, with what has to come back when it is undone."""

    offer: Offer
    outcomes: Mapping[str, TestOutcome]
    results: Mapping[str, HealResult]
    offers: Mapping[str, Offer]
    snapshot: Snapshot | None


def eligible(state: ProjectState, offers: Iterable[Offer], documents: Documents) -> Offer | None:
    """The first fix that may be applied without asking, None when there is none."""
    for offer in offers:
        fix = offer.fix
        result = state.results.get(fix.failure.nodeid)
        if (
            result is not None
            and result.outcome is Outcome.VERIFIED
            and result.fixes[0].fix_id == fix.fix_id  # only the best one
            and fix.unattended
            and not fix.differs_from
            and fix.evidence.vote.confidence is not Confidence.SPLIT
            and fix.evidence.complete
            and fix.evidence.lines_changed <= MAX_LINES
            and offer.fingerprint not in state.muted_fixes
            and fix.failure.nodeid not in state.muted_tests
            and fits(offer, documents)
        ):
            return offer
    return None


def fits(offer: Offer, documents: Documents) -> bool:
    """Whether every target is open, saved, and holds exactly the text that the fix was verified against."""
    open_documents = [documents.get(path) for path in offer.before]
    return all(
        document is not None
        and not document.dirty
        and document.digest == offer.fix.base_digests.get(document.path)
        for document in open_documents
    )


def holds(offer_digests: Mapping[Path, str], documents: Documents) -> bool:
    """Whether the open documents have exactly these digests."""
    return all(
        (document := documents.get(path)) is not None and document.digest == digest
        for path, digest in offer_digests.items()
    )


def last_typing(offer: Offer, documents: Documents) -> float:
    """When any of the targets was last typed into."""
    return max((d.typed_at for path in offer.before if (d := documents.get(path))), default=0.0)
