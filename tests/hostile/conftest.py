from __future__ import annotations

from tests.cli.conftest import regreen

__all__ = ["regreen"]
