from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.commands import Regreen


@pytest.fixture
def regreen(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Regreen:
    return Regreen(tmp_path_factory.mktemp("home"), tmp_path)
