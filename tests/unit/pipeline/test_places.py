"""The canary stands at the patched statement, wherever the patch moved it."""

from __future__ import annotations

from pathlib import Path

import pytest

from regreen import edits
from regreen.pipeline.places import changed_lines, patched_points
from regreen.source import ProjectSources
from regreen.values import Candidate, Suspect

FILE = Path("/p/a.py")


def patch(before: str, after: str) -> tuple[Candidate, bytes]:
    one = edits.file_edit(FILE, before.encode(), after)
    return Candidate((one,), "t", "t", 1.0, Suspect(FILE, 0, 1.0)), after.encode()


@pytest.mark.parametrize(
    ("before", "after", "changed", "points"),
    [
        ("a\nb\nc\n", "a\nB\nc\n", (1,), [1]),
        ("a\nc\n", "a\nb\nc\n", (1,), [1]),
        ("a\nb\nc\n", "a\nc\n", (1,), [1]),
        ("a\nb\nc\nd\n", "a\nx\ny\nb\nc\nD\n", (1, 3), [1, 5]),
        ("é😀\nb\n", "é😀\nB\n", (1,), [1]),
    ],
)
def test_lines_before_and_after(before: str, after: str, changed: tuple[int, ...], points: list[int]) -> None:
    candidate, data = patch(before, after)
    sources = ProjectSources({FILE: before.encode()}, Path("/p"))
    assert changed_lines(candidate, sources) == {FILE: changed}
    assert [point.line for point in patched_points(candidate, {FILE: data})] == points
