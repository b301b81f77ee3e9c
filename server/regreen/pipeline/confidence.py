"""How sure do the other plausible patches make us of one of them?"""

from __future__ import annotations

from collections.abc import Sequence

from regreen.pipeline.ranking import alike
from regreen.pipeline.reasons import counted
from regreen.pipeline.search import Found
from regreen.validation.ladder import Known
from regreen.values import Confidence, Rival, Vote

MENDED = 2
"""How many calls of red tests a patch must mend: one alone is soon satisfied by something else than what was meant.
Of 18 patches of small functions on which all agreed, 9 mended one call, and 2 of these were wrong; of the others none."""
SEEN = 8
"""How many made-up calls a patch must make a difference to: on all the others, of course patches agree."""
CHANGES = 5
"""How many changed calls of green tests are told."""


def vote(one: Found, found: Sequence[Found], known: Known) -> Vote:
    """Say what the other plausible candidates say about one.

    Args:
        one: the candidate, one of `found`.
        found: all of them, best first.
        known: the unpatched outcomes.
    """
    peers = [other for other in found if other.leaves <= one.leaves and len(other.flags) <= len(one.flags)]
    changes = [each for each in one.answers if known.green(each.test) and each.before != each.after]
    others = [other for other in peers if not alike(one, other)]
    confidence, reason = Confidence.THIN, _thin(one, peers, known)
    if others:
        confidence = Confidence.SPLIT
        reason = f"{len(others)} of {len(peers)} patches that pass behave differently"
    elif not reason:
        confidence = Confidence.AGREED
        reason = f"{len(peers)} patches pass and behave alike on {counted(len(one.answers), 'call')}"
    rival = _difference(one, others[0]) if others else None
    return Vote(confidence, reason, rival, tuple(changes[:CHANGES]))


def _thin(one: Found, peers: Sequence[Found], known: Known) -> str:
    """Why that nobody behaves differently says little; "" when it says something."""
    if one.leaves:
        return "other tests are red still"
    if one.flags or one.candidate.kind != "cause":
        return "it may only hide what is wrong"
    if len(peers) < 2:
        return "no other patch passes"
    if not all(peer.answers for peer in peers):
        return "they cannot be compared"
    changed = [answer for answer in one.answers if answer.before != answer.after]
    if sum(known.red(answer.test) for answer in changed) < MENDED:
        return "the red tests make only one call that it mends"
    if sum(not answer.test for answer in changed) < SEEN:
        return "it makes a difference to few other calls"
    return ""


def _difference(one: Found, other: Found) -> Rival | None:
    """The shortest call that two candidates answer differently; None where only one was asked."""
    theirs = {answer.call: answer.after for answer in other.answers}
    calls = [each for each in one.answers if theirs.get(each.call, each.after) != each.after]
    if not calls:
        return None
    least = min(calls, key=lambda each: (len(each.call), each.call))
    return Rival(other.candidate.title, least.call, least.after, theirs[least.call])
