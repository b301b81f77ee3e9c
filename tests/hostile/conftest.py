from __future__ import annotations

from tests.cli.conftest import regreen
from tests.lsp.conftest import cart

__all__ = ["cart", "regreen"]
