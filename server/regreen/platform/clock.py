"""What time is it, and how is it waited for?"""

from __future__ import annotations

import asyncio
import time


class SystemClock:
    """The real `ports.Clock`."""

    def monotonic(self) -> float:
        """Return seconds from an arbitrary start."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait without blocking the loop."""
        await asyncio.sleep(seconds)
