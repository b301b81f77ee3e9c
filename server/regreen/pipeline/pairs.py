"""Which two edits together may be the fix, when no single one is?"""

from __future__ import annotations

import difflib
import heapq
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from regreen import edits
from regreen.pipeline.ranking import KIND_WEIGHT
from regreen.values import Candidate, Failure, FileEdit

SEEDS = 40
"""How many edits, those that did most for the test, are combined with others."""

OTHERS = 120
"""How many edits each of them is combined with, the likeliest."""

_SAME = 0.3  # the failure did not change at all: the edit may still be one half of the fix
_WORSE = 0.1  # the test now dies of the edit
_COMPARED = " == "


@dataclass(frozen=True, slots=True)
class Refused:
    """A candidate that left the target red, and in one line why it still was."""

    candidate: Candidate
    reason: str


def pairs(refused: Sequence[Refused], failure: Failure, texts: Mapping[Path, str]) -> Iterator[Candidate]:
    """Yield combinations of two refused candidates, the most promising first.

    One half is an edit that brought the test on its way: it fails otherwise than before, with a value nearer to what
    it expects; the other is any likely edit elsewhere in the text.

    Args:
        refused: single edits that were tried, in the order of the search.
        failure: of the unpatched target.
        texts: the decoded files that they edit.
    """
    before = failure.message.strip().splitlines()
    base = before[0] if before else failure.exception
    seeds = sorted(refused, key=lambda one: -_weight(one.candidate) * promise(one.reason, failure, base))
    others = sorted(refused, key=lambda one: -_weight(one.candidate))[:OTHERS]
    heap = [
        (
            -_weight(seed.candidate) * promise(seed.reason, failure, base) * _weight(other.candidate),
            n,
            seed,
            other,
        )
        for n, (seed, other) in enumerate(itertools.product(seeds[:SEEDS], others))
    ]
    heapq.heapify(heap)
    seen: set[tuple[tuple[Path, int], ...]] = set()
    while heap:
        _, _, seed, other = heapq.heappop(heap)
        both = together(seed.candidate, other.candidate, texts)
        if both is None:
            continue
        key = tuple((file.path, hash(edits.apply(texts[file.path], file.edits))) for file in both.edits)
        if key not in seen:
            seen.add(key)
            yield both


def together(one: Candidate, other: Candidate, texts: Mapping[Path, str]) -> Candidate | None:
    """Both patches in one; None where they touch the same text.

    Args:
        one: a patch.
        other: another one of the same snapshot.
        texts: the decoded files.
    """
    files: dict[Path, FileEdit] = {}
    for file in (*one.edits, *other.edits):
        mine = files.get(file.path)
        every = (*mine.edits, *file.edits) if mine else file.edits
        ordered = tuple(sorted(dict.fromkeys(every)))
        touching = any(low.end >= high.start for low, high in itertools.pairwise(ordered))
        if (mine and len(ordered) < len(every)) or touching or edits.problem(texts[file.path], ordered):
            return None
        files[file.path] = FileEdit(file.path, file.base_digest, ordered)
    ordered_kinds = sorted((one.kind, other.kind), key=KIND_WEIGHT.__getitem__)
    return Candidate(
        tuple(files.values()),
        f"{one.template}+{other.template}",
        f"{one.title}; {other.title}",
        _weight(one) * _weight(other),
        one.suspect,
        ordered_kinds[0],
        "model" if "model" in (one.origin, other.origin) else "template",
    )


def promise(reason: str, failure: Failure, base: str) -> float:
    """How far a refused edit brought the test: 1 for another failure that is neither nearer nor farther.

    Args:
        reason: "AssertionError: assert 3 == 4", as the ladder words it.
        failure: of the unpatched target.
        base: the first line of its message.
    """
    exception, _, message = reason.partition(": ")
    was = failure.exception.rpartition(".")[2]
    if exception != was:
        return 2.0 if exception == "AssertionError" else _WORSE if was == "AssertionError" else 1.0
    if message == base[: len(message)]:
        return _SAME
    return 1.0 + _likeness(message) - _likeness(base)


def _likeness(message: str) -> float:
    """How alike the two sides of a failed `assert a == b` read, in [0, 1]; 0 where the message shows none."""
    actual, compared, expected = message.removeprefix("assert ").partition(_COMPARED)
    return difflib.SequenceMatcher(None, actual, expected).ratio() if compared else 0.0


def _weight(candidate: Candidate) -> float:
    return min(1.0, candidate.score) * KIND_WEIGHT[candidate.kind]
