"""How do several runs go on at once without one outliving the others?"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def all_or_none(*jobs: Coroutine[Any, Any, T]) -> list[T]:
    """Wait for all; when one fails or we are cancelled, cancel the rest and wait until they are gone.

    Returns:
        The results, in the order of the jobs.
    """
    tasks = [asyncio.ensure_future(job) for job in jobs]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
