"""What happened in earlier heals, and what did the user think of the fixes?"""

from __future__ import annotations

from regreen.history.store import HealRecord, Store

__all__ = ["HealRecord", "Store"]
