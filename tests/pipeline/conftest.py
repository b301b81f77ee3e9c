from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from .lab import Lab


@pytest.fixture
async def lab(tmp_path: Path, user_python: Path) -> AsyncIterator[Lab]:
    made = Lab(tmp_path, user_python)
    yield made
    await made.close()
