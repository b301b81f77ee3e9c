"""Each row of the table of changed APIs does what its own sample says, once and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from regreen import edits
from regreen.source import ProjectSources
from regreen.templates import candidates
from regreen.templates.api_changes import Row, rows
from regreen.values import Failure, Frame

SHOP, TEST = Path("/p/shop.py"), Path("/p/tests/test_shop.py")


def repairs(message: str, before: str) -> list[str]:
    exception, _, text = message.partition(": ")
    line = len(before.splitlines()) - 1
    frames = (Frame(TEST, 0, "test", own=True), Frame(SHOP, line, "f", own=True))
    failure = Failure("t", "call", exception, text, frames, TEST, 0)
    sources = ProjectSources({SHOP: before.encode(), TEST: b"import shop\n"}, Path("/p"))
    found = candidates(failure, (), sources, lambda name: float(name == "api_changes.changed"))
    return [edits.apply_to_bytes(before.encode(), one.edits[0]).decode() for one in found]


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.find.pattern[:40])
def test_a_row_turns_its_sample_from_before_to_after(row: Row) -> None:
    message, before, after = row.sample
    assert after in repairs(message, before)


def test_text_and_comments_are_left_alone() -> None:
    before = 'import time\nnote = "time.clock()"  # time.clock()\nx = time.clock()\n'
    assert repairs("AttributeError: module 'time' has no attribute 'clock'", before) == [
        'import time\nnote = "time.clock()"  # time.clock()\nx = time.perf_counter()\n'
    ]


def test_another_failure_looks_nothing_up() -> None:
    assert repairs("AssertionError: 1 != 2", "import time\nx = time.clock()\n") == []
