"""How is something awaited for a while, or to its end, without losing that the caller was cancelled meanwhile?"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def within(seconds: float, work: Awaitable[T]) -> T:
    """Await `work`, at most so long; it is over, or cancelled and over, when this ends.

    A caller that is cancelled always hears it. `asyncio.wait_for` before Python 3.12 gives the result instead
    when the work ends in the same turn of the loop, so a stop could be lost
    (https://github.com/python/cpython/issues/86296).

    Args:
        seconds: how long; what has already ended is given even for 0 or less.
        work: a coroutine or a future; cancelled when its time is up or the caller is cancelled.

    Raises:
        asyncio.TimeoutError: it did not end in time.
        Exception: whatever `work` raises.
    """
    task = asyncio.ensure_future(work)
    late = False
    try:
        await asyncio.wait({task}, timeout=max(seconds, 0.0))
    finally:
        if not task.done():
            late = task.cancel()
            await uninterrupted(asyncio.wait({task}))
        if not task.cancelled():
            task.exception()  # heard, even where the caller's cancellation comes first
    if late and task.cancelled():
        raise asyncio.TimeoutError
    return task.result()


async def uninterrupted(work: Awaitable[T]) -> T:
    """Await `work` to its end even when the caller is cancelled, then let the cancellation through.

    For what must not be left half done: ending processes, giving a lock back.

    Raises:
        asyncio.CancelledError: the caller was cancelled meanwhile; its cause is what `work` raised, if anything.
        Exception: whatever `work` raises.
    """
    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:  # noqa: PERF203 — each cancellation is noted, none ends the loop
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError from (None if task.cancelled() else task.exception())
    return task.result()
