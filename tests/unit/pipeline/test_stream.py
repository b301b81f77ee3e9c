"""The catalogue comes first; what is sought meanwhile is mixed in, and nothing comes twice."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from regreen.pipeline.stream import AT_FIRST, Stream, Synthesised
from regreen.platform.clock import SystemClock
from regreen.values import Candidate, FileEdit, Suspect, TextEdit

FILE = Path("/shop/cart.py")
SUSPECT = Suspect(FILE, 3, 1.0)


def candidate(name: str) -> Candidate:
    edits = (FileEdit(FILE, "", (TextEdit(0, 0, name),)),)
    return Candidate(edits, "synthesis.value", name, 0.5, SUSPECT)


def many(prefix: str, count: int) -> list[Candidate]:
    return [candidate(f"{prefix}{number}") for number in range(count)]


async def every(stream: Stream) -> list[str]:
    names: list[str] = []
    while taken := await stream.take(8):
        names += [one.title for one in taken]
    await stream.close()
    return names


class Seeker:
    """Finds what it was given, and counts how often it was asked."""

    def __init__(self, found: Synthesised) -> None:
        self.found = found
        self.asked = 0

    async def __call__(self) -> Synthesised:
        self.asked += 1
        return self.found


async def test_nothing_is_sought_while_the_first_candidates_are_tried() -> None:
    seeker = Seeker(Synthesised())
    stream = Stream(iter(many("c", AT_FIRST + 8)), SystemClock(), seeker)
    for _ in range(AT_FIRST // 8):
        assert len(await stream.take(8)) == 8
    assert seeker.asked == 0
    assert len(await every(stream)) == 8
    assert seeker.asked == 1


async def test_what_fits_comes_next_and_the_others_in_turn() -> None:
    found = Synthesised(tuple(many("fits", 2)), tuple(many("other", 3)))
    names = await every(Stream(iter(many("c", 300)), SystemClock(), Seeker(found)))
    first = names.index("fits0")
    assert first >= AT_FIRST
    assert names[first + 1] == "fits1"
    assert [name for name in names[first + 2 :] if name.startswith("other")] == ["other0", "other1", "other2"]
    assert names.index("other2") == names.index("other0") + 4
    assert len(names) == 305


async def test_a_short_catalogue_is_no_reason_to_stop() -> None:
    found = Synthesised((candidate("fits"),), (candidate("other"),))
    assert await every(Stream(iter(many("c", 1)), SystemClock(), Seeker(found))) == [
        "c0", "fits", "other",
    ]  # fmt: skip


async def test_the_same_edits_come_once() -> None:
    found = Synthesised((candidate("c0"), candidate("new")), (candidate("c1"),))
    assert await every(Stream(iter(many("c", 2)), SystemClock(), Seeker(found))) == ["c0", "c1", "new"]


async def test_where_nothing_is_sought_the_catalogue_is_all() -> None:
    assert await every(Stream(iter(many("c", 20)), SystemClock())) == [f"c{number}" for number in range(20)]


async def test_what_goes_wrong_while_seeking_is_not_swallowed() -> None:
    async def seek() -> Synthesised:
        raise LookupError

    def none() -> Iterator[Candidate]:
        yield from ()

    with pytest.raises(LookupError):
        await every(Stream(none(), SystemClock(), seek))


async def test_once_something_is_found_no_others_are_sought_or_mixed_in() -> None:
    found = Synthesised(tuple(many("fits", 2)), tuple(many("other", 3)))
    seeker = Seeker(found)
    stream = Stream(iter(many("c", 100)), SystemClock(), seeker)
    stream.settle()
    assert await every(stream) == [f"c{number}" for number in range(100)]
    assert seeker.asked == 0


async def test_what_is_being_sought_when_something_is_found_is_ended() -> None:
    ended = asyncio.Event()

    async def endless() -> Synthesised:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return Synthesised()

    stream = Stream(iter(many("c", 2)), SystemClock(), endless)
    taking = asyncio.create_task(stream.take(8))
    while not taking.done():
        await asyncio.sleep(0.01)
        if stream._given == 2:  # the catalogue is used up, and what is sought is waited for
            stream.settle()
    assert [one.title for one in taking.result()] == ["c0", "c1"]
    await stream.close()
    assert ended.is_set()
