"""The project that the tests of this folder run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.oracle.world import World, opened


@pytest.fixture
async def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    async with opened(tmp_path, monkeypatch) as world:
        yield world
