"""In a minimised patch no single edit can be left out."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from regreen.validation.minimise import minimise
from regreen.values import Candidate, FileEdit, Suspect, TextEdit

A, B = Path("/p/a.py"), Path("/p/b.py")


def candidate(starts_a: set[int], starts_b: set[int]) -> Candidate:
    files = tuple(
        FileEdit(path, "d", tuple(TextEdit(n, n, "x") for n in sorted(starts)))
        for path, starts in ((A, starts_a), (B, starts_b))
        if starts
    )
    return Candidate(files, "t", "t", 1.0, Suspect(A, 0, 1.0))


def places(one: Candidate) -> set[tuple[Path, int]]:
    return {(file.path, edit.start) for file in one.edits for edit in file.edits}


@given(st.sets(st.integers(0, 6), min_size=1), st.sets(st.integers(0, 6)), st.data())
async def test_exactly_the_needed_edits_remain(a: set[int], b: set[int], data: st.DataObject) -> None:
    whole = candidate(a, b)
    needed = data.draw(st.sets(st.sampled_from(sorted(places(whole))), min_size=1))

    async def plausible(one: Candidate) -> bool:
        return needed <= places(one)

    assert places(await minimise(whole, plausible)) == needed
