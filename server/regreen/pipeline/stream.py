"""In which order do candidates of several sources come to be judged?"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from itertools import chain, islice

from regreen.platform.background import run_blocking
from regreen.platform.waiting import uninterrupted
from regreen.ports import Clock
from regreen.values import Candidate, FileEdit

AT_FIRST = 64
SECONDS_AT_FIRST = 1.5
"""How many candidates of the catalogue are tried, or for how long, before others are sought: most of what can be healed
is by then."""


@dataclass(frozen=True, slots=True)
class Synthesised:
    """Candidates, best first: those that fit what is known to be wanted, and the others."""

    fitting: tuple[Candidate, ...] = ()
    others: tuple[Candidate, ...] = ()


class Stream:
    """The catalogue's candidates; when the first ones were no use, others are sought meanwhile and mixed in.

    Args:
        catalogue: yields in order; each takes a while to be made.
        clock: tells the time.
        sought: finds others; None when there are none.
    """

    def __init__(
        self,
        catalogue: Iterator[Candidate],
        clock: Clock,
        sought: Callable[[], Awaitable[Synthesised]] | None = None,
    ) -> None:
        self._source = catalogue
        self._clock = clock
        self._patient_until = clock.monotonic() + SECONDS_AT_FIRST
        self._sought = sought  # until it has begun
        self._seeking: asyncio.Task[Synthesised] | None = None  # until it is mixed in
        self._left: asyncio.Task[Synthesised] | None = None  # what nobody wants any more
        self._given = 0
        self._seen: set[tuple[FileEdit, ...]] = set()

    async def take(self, count: int) -> list[Candidate]:
        """The next ones; fewer only when there are no more. Must not be called again before it returns."""
        taken: list[Candidate] = []
        while len(taken) < count:
            if self._given >= AT_FIRST or self._clock.monotonic() > self._patient_until:
                self._seek()
            if self._seeking is not None and self._seeking.done():
                self._mix(self._seeking.result())
            found = await run_blocking(self._next, count - len(taken))
            self._given += len(found)
            taken += [one for one in found if self._is_new(one)]
            if not found:
                self._seek()
                if self._seeking is None:
                    break
                await asyncio.wait([self._seeking])
        return taken

    def settle(self) -> None:
        """Mix no others in from here on: the catalogue has found something, and they would only fit by chance."""
        self._sought = None
        if self._seeking is not None:
            self._seeking.cancel()
            self._left, self._seeking = self._seeking, None

    async def close(self) -> None:
        """Leave nothing that was begun."""
        self.settle()
        if self._left is not None:
            await uninterrupted(asyncio.gather(self._left, return_exceptions=True))

    def _seek(self) -> None:
        """Begin to look for others, once."""
        if self._sought is not None:
            self._seeking = asyncio.ensure_future(self._sought())
            self._sought = None

    def _mix(self, found: Synthesised) -> None:
        """What fits comes next, and then one of the others after each of the catalogue's."""
        self._seeking = None
        self._source = chain(found.fitting, _in_turn(self._source, iter(found.others)))

    def _next(self, count: int) -> list[Candidate]:
        return list(islice(self._source, count))

    def _is_new(self, candidate: Candidate) -> bool:
        before = len(self._seen)
        self._seen.add(candidate.edits)
        return len(self._seen) > before


def _in_turn(one: Iterator[Candidate], other: Iterator[Candidate]) -> Iterator[Candidate]:
    for candidate in one:
        yield candidate
        yield from islice(other, 1)
    yield from other
