"""Waiting ends in time and never hides that the caller was cancelled."""

from __future__ import annotations

import asyncio
import time

import pytest

from regreen.platform.waiting import uninterrupted, within


async def failing() -> int:
    await asyncio.sleep(0)
    return 1 // 0


@pytest.mark.parametrize(
    "wait", [lambda work: within(60, work), uninterrupted], ids=["within", "uninterrupted"]
)
@pytest.mark.parametrize("end", ["a result", "an error"])
async def test_who_is_cancelled_as_the_work_ends_hears_it(wait: object, end: str) -> None:
    work: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(wait(work))  # type: ignore[operator]
    await asyncio.sleep(0)
    if end == "a result":
        work.set_result(end)
    else:
        work.set_exception(ZeroDivisionError())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_what_ends_in_time_gives_its_result_and_its_error() -> None:
    assert await within(60, asyncio.sleep(0, "result")) == "result"
    with pytest.raises(ZeroDivisionError):
        await within(60, failing())


async def test_what_has_ended_is_given_although_no_time_is_left() -> None:
    done: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    done.set_result("result")
    assert await within(-1, done) == "result"


@pytest.mark.parametrize("why", ["late", "cancelled"])
async def test_the_work_is_over_when_the_wait_is(why: str) -> None:
    steps: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(300)
        finally:
            await asyncio.sleep(0.01)
            steps.append("cleaned up")

    task = asyncio.create_task(within(0.01 if why == "late" else 60, work()))
    if why == "cancelled":
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()  # as impatient people do
    with pytest.raises(asyncio.TimeoutError if why == "late" else asyncio.CancelledError):
        await task
    assert steps == ["cleaned up"]


async def test_a_result_that_comes_as_the_time_is_up_is_not_thrown_away() -> None:
    async def work() -> str:
        try:
            await asyncio.sleep(300)
        except asyncio.CancelledError:
            return "all the same"
        return ""

    began = time.monotonic()
    assert await within(0.01, work()) == "all the same"
    assert time.monotonic() - began < 60


async def test_uninterrupted_work_finishes_however_often_its_caller_is_cancelled() -> None:
    release, done = asyncio.Event(), []

    async def work() -> int:
        await release.wait()
        done.append(1)
        return 1

    task = asyncio.create_task(uninterrupted(work()))
    for _ in range(3):
        await asyncio.sleep(0)
        task.cancel()
    await asyncio.sleep(0.01)
    assert not task.done()
    release.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert done == [1]


async def test_uninterrupted_work_gives_its_result_and_its_error() -> None:
    assert await uninterrupted(asyncio.sleep(0, "result")) == "result"
    with pytest.raises(ZeroDivisionError):
        await uninterrupted(failing())
