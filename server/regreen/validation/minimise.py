"""Is every part of the patch needed?"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from regreen.values import Candidate, FileEdit, TextEdit


async def minimise(candidate: Candidate, plausible: Callable[[Candidate], Awaitable[bool]]) -> Candidate:
    """Drop edits one by one as long as the patch stays plausible.

    Greedy one-minimality (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", TSE 2002):
    in the result no single edit can be left out. A patch of one edit costs nothing.

    Args:
        candidate: a plausible patch.
        plausible: whether a smaller patch still climbs the cheap rungs.
    """
    shrunk = True
    while shrunk and _size(candidate) > 1:
        shrunk = False
        for file, edit in [(one, edit) for one in candidate.edits for edit in one.edits]:
            smaller = _without(candidate, file, edit)
            if await plausible(smaller):
                candidate, shrunk = smaller, True
                break
    return candidate


def _size(candidate: Candidate) -> int:
    return sum(len(file.edits) for file in candidate.edits)


def _without(candidate: Candidate, file: FileEdit, edit: TextEdit) -> Candidate:
    rest = tuple(one for one in file.edits if one is not edit)
    files = tuple(replace(one, edits=rest) if one is file else one for one in candidate.edits)
    return replace(candidate, edits=tuple(one for one in files if one.edits))
