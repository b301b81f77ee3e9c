"""How does a thread wait for asynchronous work, so that it can still be stopped?

Cases run in threads, as executors want it, and what they start is ended by cancelling the work that waits for it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = set()


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` in an event loop of this thread's own, and give its result.

    Raises:
        asyncio.CancelledError: `cancel_all` was called; what the work started is gone.
    """

    async def noted() -> T:
        me = (asyncio.get_running_loop(), asyncio.ensure_future(work))
        _waiting.add(me)
        try:
            return await me[1]
        finally:
            _waiting.discard(me)

    return asyncio.run(noted())


def cancel_all() -> None:
    """Cancel all that threads of this process wait for at the moment."""
    for loop, task in tuple(_waiting):
        with contextlib.suppress(RuntimeError):  # it ended just now, and its loop is closed
            loop.call_soon_threadsafe(task.cancel)
