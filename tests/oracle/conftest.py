"""The project that the tests of this folder run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.oracle.world import World

from regreen.oracle import probes
from regreen.platform import processes


@pytest.fixture
async def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    monkeypatch.setattr(probes, "NICE", 0)  # beside other tests a low priority only takes longer
    root = tmp_path / "shop"
    root.mkdir()
    (root / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    world = World(root, tmp_path / "cache")
    yield world
    await world.oracle.close()
    await world.mirror.close()
    assert processes.alive() == frozenset()
