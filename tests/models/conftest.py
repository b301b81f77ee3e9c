from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.cli.commands import Regreen
from tests.models.heals import Week, week
from tests.models.questions import KEYS, plain_environment

from regreen.llm.client import WorkerClient
from regreen.platform import processes


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[WorkerClient]:
    """One worker for all tests of a module: importing litellm takes seconds."""
    client = WorkerClient(KEYS, environment=plain_environment(), folder=tmp_path_factory.mktemp("worker"))
    yield client
    await client.close()
    assert processes.alive() == frozenset()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty one, for a worker."""
    folder = tmp_path / "worker"
    folder.mkdir()
    return folder


@pytest.fixture
def days(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Week:
    """A small project with one red test."""
    return week(Regreen(tmp_path_factory.mktemp("home"), tmp_path), tmp_path)
