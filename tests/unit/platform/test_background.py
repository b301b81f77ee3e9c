from __future__ import annotations

import asyncio
import contextvars
import subprocess
import sys
import threading

import pytest

from regreen.platform.background import MAX_THREADS, run_blocking


async def test_gives_the_result_and_takes_keyword_arguments() -> None:
    assert await run_blocking(int, "ff", base=16) == 255


async def test_raises_what_the_function_raises() -> None:
    with pytest.raises(ZeroDivisionError):
        await run_blocking(lambda: 1 / 0)


async def test_a_stop_iteration_does_not_hang_the_caller() -> None:
    with pytest.raises(RuntimeError, match="StopIteration"):
        await run_blocking(next, iter(()))


async def test_runs_in_a_daemon_thread_that_is_not_the_default_executors() -> None:
    thread = await run_blocking(threading.current_thread)
    assert thread is not threading.main_thread()
    assert thread.daemon
    assert asyncio.get_running_loop()._default_executor is None  # type: ignore[attr-defined]


async def test_sees_the_callers_context() -> None:
    var: contextvars.ContextVar[str] = contextvars.ContextVar("var")
    var.set("here")
    assert await run_blocking(var.get) == "here"


async def test_cancelling_returns_while_the_work_still_blocks() -> None:
    entered, release = threading.Event(), threading.Event()

    def work() -> None:
        entered.set()
        release.wait()

    task = asyncio.create_task(run_blocking(work))
    await run_blocking(entered.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not release.is_set()
    release.set()


async def test_more_jobs_than_threads_all_finish_in_few_threads() -> None:
    names = await asyncio.gather(*(run_blocking(threading.get_ident) for _ in range(200)))
    assert len(names) == 200
    assert len(set(names)) <= MAX_THREADS


async def test_work_that_was_cancelled_before_it_began_is_dropped() -> None:
    release = threading.Event()
    blockers = [asyncio.create_task(run_blocking(release.wait)) for _ in range(MAX_THREADS)]
    await asyncio.sleep(0)
    ran: list[int] = []
    late = asyncio.create_task(run_blocking(ran.append, 1))
    await asyncio.sleep(0)
    late.cancel()
    release.set()
    await asyncio.gather(*blockers)
    await run_blocking(int)
    assert ran == []


def test_importing_starts_no_thread_and_exit_waits_for_none() -> None:
    code = (
        "import asyncio, threading, time\n"
        "from regreen.platform.background import run_blocking\n"
        "assert threading.active_count() == 1\n"
        "async def main():\n"
        "    task = asyncio.create_task(run_blocking(time.sleep, 3600))\n"
        "    await asyncio.sleep(0.05)\n"
        "    assert threading.active_count() == 2\n"
        "asyncio.run(main())\n"
        "print('left')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "left\n"
