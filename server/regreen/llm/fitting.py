"""What of the evidence goes into a prompt that may have so many tokens?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from regreen.llm.fence import fenced
from regreen.values import SentRange

LEAST = 40
"""With fewer tokens left nothing is begun: what fits would say nothing."""

Count = Callable[[str], int]
"""How many tokens a text has. More text never has fewer."""


@dataclass(frozen=True, slots=True)
class Section:
    """One piece of evidence.

    Args:
        title: what it is, for the model.
        lines: its text.
        label: of its fence, in lower-case words.
        rank: what is dropped first has the highest; 0 is never dropped.
        path, start: where the lines stand in a file of the project, the first one 0-based; "" where they are no part
            of one.
    """

    title: str
    lines: tuple[str, ...]
    label: str
    rank: int
    path: str = ""
    start: int = 0

    def text(self, keep: int) -> str:
        """Write it with only the first lines; that lines are missing is said."""
        shown = "\n".join(self.lines[:keep])
        missing = len(self.lines) - keep
        note = f"\n(Of this, {missing} more lines are left out for length.)" if missing else ""
        return f"{self.title}\n{fenced(shown, self.label)}{note}"

    def sent(self, keep: int) -> tuple[SentRange, ...]:
        """Say which part of a file its first lines are."""
        return (SentRange(self.path, self.start, self.start + keep),) if self.path and keep else ()


@dataclass(frozen=True, slots=True)
class Fitted:
    """Evidence that fits: its text, and the parts of the user's files in it."""

    text: str
    ranges: tuple[SentRange, ...]


def fit(sections: Sequence[Section], tokens: int, count: Count) -> Fitted:
    """Choose what is shown: by rank whole sections, and of the first that does not fit as much as does.

    Sections of rank 0 are always there, shortened to what fits, but by one line at least. What is left out is named.

    Args:
        sections: in the order in which they are shown.
        tokens: how many the text may have.
        count: tells how many a text has.
    """
    kept: dict[int, int] = {}

    def shown() -> str:
        parts = [one.text(kept[place]) for place, one in enumerate(sections) if place in kept]
        left_out = [one.title.rstrip(":") for place, one in enumerate(sections) if place not in kept]
        if left_out:
            parts.append(f"Left out for length: {len(left_out)} pieces of evidence of lesser weight.")
        return "\n\n".join(parts)

    for place, section in sorted(enumerate(sections), key=lambda pair: (pair[1].rank, pair[0])):
        kept[place] = len(section.lines)
        if count(shown()) <= tokens:
            continue
        del kept[place]
        room = tokens - count(shown())
        keep = _most(len(section.lines), partial(_fits, kept, place, shown, tokens, count))
        if section.rank == 0:
            kept[place] = max(1, keep)
        elif keep and room >= LEAST:
            kept[place] = keep
    ranges = [one.sent(kept[place]) for place, one in enumerate(sections) if place in kept]
    return Fitted(shown(), tuple(range_ for each in ranges for range_ in each))


def _fits(
    kept: dict[int, int], place: int, shown: Callable[[], str], tokens: int, count: Count, keep: int
) -> bool:
    kept[place] = keep
    try:
        return count(shown()) <= tokens
    finally:
        del kept[place]


def _most(limit: int, fits: Callable[[int], bool]) -> int:
    """Find the most lines that fit, by halving: more lines never have fewer tokens."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low
