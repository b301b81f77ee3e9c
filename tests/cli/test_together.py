"""Are fixes that are green one by one, but not together, kept apart?"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.commands import PLAIN
from tests.unit.terminal import made

from regreen.composition import open_tools
from regreen.pipeline import Baseline, Tools, baseline
from regreen.settings import Settings
from regreen.terminal.ndjson import NdjsonReporter
from regreen.terminal.together import verified_together
from regreen.values import Project, VerifiedFix

SOURCE = """LEFT = 1
RIGHT = 10
OTHER = 100


def left():
    return LEFT


def right():
    return RIGHT


def other():
    return OTHER


def together():
    return LEFT + RIGHT
"""
TESTS = """import scales


def test_left():
    assert scales.left() == 2


def test_right():
    assert scales.right() == 20


def test_other():
    assert scales.other() == 200


def test_together():
    assert scales.together() < 22
"""


@asynccontextmanager
async def opened(root: Path) -> AsyncIterator[tuple[Tools, Settings, Baseline]]:
    settings = Settings(interpreter=str(PLAIN))
    tools = await open_tools(Project(root, root), settings)
    try:
        with (root.parent / "events").open("w") as events:
            yield tools, settings, await baseline(tools, settings, NdjsonReporter(events, root))
    finally:
        await tools.oracle.close()
        await tools.mirror.close()


def fix(root: Path, old: str, new: str, test: str) -> VerifiedFix:
    one = made.fix(root / "scales.py", old, new, before=SOURCE, root=root)
    return replace(one, evidence=replace(one.evidence, red_to_green=(f"test_scales.py::{test}",)))


async def test_only_fixes_that_hold_together_are_delivered_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGREEN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("REGREEN_STATE_DIR", str(tmp_path / "state"))
    root = tmp_path / "shop"
    root.mkdir()
    (root / "scales.py").write_text(SOURCE)
    (root / "test_scales.py").write_text(TESTS)
    left = fix(root, "LEFT = 1\n", "LEFT = 2\n", "test_left")
    right = fix(root, "RIGHT = 10\n", "RIGHT = 20\n", "test_right")
    other = fix(root, "OTHER = 100\n", "OTHER = 200\n", "test_other")
    wrong = fix(root, "OTHER = 100\n", "OTHER = 300\n", "test_other")
    async with opened(root) as (tools, settings, base):
        with (tmp_path / "events").open("w") as events:
            reporter = NdjsonReporter(events, root)
            for offered, kept, left_out in [
                ([left, other], (left, other), ()),
                ([left, right, other], (left, other), (right,)),
                ([left, other, wrong], (left, other), (wrong,)),  # the same text twice
                ([left, wrong], (left,), (wrong,)),  # its own test is not green
                ([right], (right,), ()),
            ]:
                answer = await verified_together(offered, base, tools, settings, reporter)
                assert answer == (kept, left_out)
