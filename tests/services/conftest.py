"""The servers of these tests, and the projects that use them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.pipeline.lab import Lab
from tests.services import servers
from tests.services.servers import PYTHON, Server


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    with servers.postgres() as server:
        yield server


@pytest.fixture(scope="session")
def redis() -> Iterator[Server]:
    with servers.redis() as server:
        yield server


@pytest.fixture
async def lab(tmp_path: Path) -> AsyncIterator[Lab]:
    made = Lab(tmp_path, PYTHON)
    yield made
    await made.close()
