"""What happened in earlier heals, and what did the user think of the fixes?"""

from __future__ import annotations

from pathlib import Path

from regreen.history.store import HealRecord, Store
from regreen.platform.dirs import state_dir

__all__ = ["HealRecord", "Store", "place"]


def place() -> Path:
    """The database of the run store, in the user's own state."""
    return state_dir() / "history.sqlite3"
