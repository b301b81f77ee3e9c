"""Several patches pass: which one is most likely meant?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regreen.pipeline.search import Found

KIND_WEIGHT = {"cause": 1.0, "literal": 0.6, "guard": 0.5, "deletion": 0.15}
"""A patch that hides the symptom, fits a literal or takes code away ranks below one that mends a cause."""


def alike(one: Found, other: Found) -> bool:
    """Whether two candidates behave alike, as far as is known."""
    if one.answers and other.answers:
        return one.answers == other.answers
    return one.behaviour == other.behaviour


def ranked(found: Sequence[Found]) -> list[Found]:
    """Order plausible candidates, best first: red tests turned green, then likelihood × agreement².

    Of those that leave nothing red, and of the others, those that ask for a second look are last.

    The likelihood of a candidate is its score × the weight of its kind; agreement is the share of all likelihood that
    gives the same answer, on average over the calls the tests make and others like them: one odd call sets no candidate
    apart, many far-fetched ones do not outvote a likely one, and one idea in several spellings counts once. Squaring it did best among the rules compared on 145
    cases with weak tests.
    """
    votes: defaultdict[tuple[str, str], float] = defaultdict(float)
    voters = _voters(found)
    for one in voters:
        for each in one.answers:
            votes[each.call, each.after] += _likelihood(one)
    everyone = sum(map(_likelihood, voters)) or 1.0

    def agreement(one: Found) -> float:
        if one.answers:
            same = fmean(votes[each.call, each.after] for each in one.answers)
        else:
            same = sum(_likelihood(other) for other in voters if alike(one, other))
        return same / everyone

    return sorted(
        found,
        key=lambda one: (
            one.leaves > 0,
            bool(one.flags),
            -len(one.mended),
            -_likelihood(one) * agreement(one) ** 2,
            one.order,
        ),
    )


def _voters(found: Sequence[Found]) -> list[Found]:
    """The likeliest of those that one template gave for one place and that behave alike."""
    best: dict[object, Found] = {}
    for one in found:
        suspect = one.candidate.suspect
        idea = (one.candidate.template, suspect.path, suspect.line, one.answers or one.behaviour)
        if idea not in best or _likelihood(one) > _likelihood(best[idea]):
            best[idea] = one
    return list(best.values())


def _likelihood(one: Found) -> float:
    return min(1.0, one.candidate.score) * KIND_WEIGHT[one.candidate.kind]
