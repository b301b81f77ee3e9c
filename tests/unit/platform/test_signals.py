"""Does every way of asking a process to stop reach its event loop?"""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from regreen.platform.signals import on_stop

HEARD = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.mark.parametrize("windows", [False, True])
@pytest.mark.parametrize("number", HEARD)
async def test_a_request_to_stop_is_heard_each_time(number: signal.Signals, windows: bool) -> None:
    asked = asyncio.Event()
    before = signal.getsignal(number)
    with on_stop(asked.set, windows=windows):
        for _ in range(2):
            asked.clear()
            os.kill(os.getpid(), number)
            await asyncio.wait_for(asked.wait(), 10)
    assert signal.getsignal(number) == before


async def test_an_ignored_signal_stays_ignored() -> None:
    asked = asyncio.Event()
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with on_stop(asked.set):
            os.kill(os.getpid(), signal.SIGHUP)
            await asyncio.sleep(0)
            assert not asked.is_set()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
