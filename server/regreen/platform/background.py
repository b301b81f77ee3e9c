"""How does blocking work run without blocking the event loop, the default executor, or the way out?

Threads of the default executor are joined at exit and shared with the language server's reader; ours are
daemons of a private pool, started when needed, so neither a slow disk nor a lock held by someone else can
make the server deaf or keep it from ending.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

MAX_THREADS = 16


class _Pool:
    """Daemon threads that take jobs from one queue; a job never raises."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._free = 0  # threads waiting, minus jobs waiting

    def submit(self, job: Callable[[], None]) -> None:
        with self._lock:
            self._free -= 1
            start = self._free < 0 and self._threads < self._limit
            if start:
                self._threads += 1
                self._free += 1
        self._jobs.put(job)
        if start:
            threading.Thread(target=self._work, name="regreen-background", daemon=True).start()

    def _work(self) -> None:
        while True:
            self._jobs.get()()
            with self._lock:
                self._free += 1


_pool = _Pool(MAX_THREADS)


async def run_blocking(fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Call `fn(*args, **kwargs)` in a daemon thread and wait for its result without blocking the loop.

    The caller's context variables are visible to `fn`. Cancelling returns at once: work that has not begun
    is dropped, work that has begun goes on unheard, so `fn` must leave things whole when nobody listens.

    Raises:
        Exception: whatever `fn` raises.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def settle(result: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(result)  # type: ignore[arg-type]
        else:
            future.set_exception(error)

    def job() -> None:
        if future.cancelled():
            return
        result: T | None = None
        error: BaseException | None = None
        try:
            result = context.run(fn, *args, **kwargs)
        except StopIteration as stop:  # a future refuses it
            error = RuntimeError(f"the function raised {stop!r}")
        except BaseException as raised:  # noqa: BLE001 — carried to the caller, whatever it is
            error = raised
        if not loop.is_closed():
            try:
                loop.call_soon_threadsafe(settle, result, error)
            except RuntimeError:  # closed in between: nobody is left to hear it
                return

    _pool.submit(job)
    return await future
