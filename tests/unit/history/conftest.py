from __future__ import annotations

from pathlib import Path

import pytest

from regreen.history import Store
from regreen.values import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "shop", tmp_path / "shop")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "history.sqlite3"


@pytest.fixture
def store(path: Path) -> Store:
    return Store(path)
