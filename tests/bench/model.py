"""What does it cost to ask a model through the worker: per call, until the first question is out, and the server itself?

The provider is a server of the tests, on this machine, so that nothing but our own part is measured.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx
import psutil
from tests.bench.measures import Measure
from tests.models.provider import Provider
from tests.models.questions import KEYS, QUESTION, call, plain_environment

from regreen.llm.client import WorkerClient

CALLS = 60
COLD_STARTS = 5
TICK_SECONDS = 0.002


def model(work: Path) -> list[Measure]:
    """Everything about the worker, in one run."""
    return asyncio.run(_model(work))


async def _model(work: Path) -> list[Measure]:
    folder = work / "model-worker"
    folder.mkdir()
    cold, stalls = [], []
    process = psutil.Process()
    with Provider(["An answer."]) as provider:
        before = process.memory_info().rss
        for _ in range(COLD_STARTS):
            client = WorkerClient(KEYS, environment=plain_environment(), folder=folder)
            first, stall = await _stalls(lambda one=client: _first_byte(one, provider))  # type: ignore[misc]
            cold.append(first)
            stalls.append(stall)
            await client.close()
        after = process.memory_info().rss
        client = WorkerClient(KEYS, environment=plain_environment(), folder=folder)
        await client.warm()
        await _first_byte(client, provider)
        warm = [await _first_byte(client, provider) for _ in range(CALLS)]
        ours, plain = await _beside_httpx(client, provider)
        await client.close()
    ratio = statistics.median(ours) / statistics.median(plain)
    extra = statistics.median(ours) - statistics.median(plain)
    size = f"{before / 1e6:.0f} MB before, {after / 1e6:.0f} MB after {COLD_STARTS} workers"
    per_call = f"median of {CALLS} calls each, in turns; httpx {statistics.median(plain):.1f} ms"
    starts = f"median of {COLD_STARTS}, the slowest {max(cold) / 1000:.1f} s"
    return [
        Measure("a call through the worker ÷ plain httpx", ratio, "×", 10, per_call),
        Measure("a call through the worker above plain httpx", extra, "ms", 20, per_call),
        Measure(
            "question → request at a provider, warm",
            statistics.median(warm),
            "ms",
            20,
            f"median of {CALLS}",
        ),
        Measure("question → request at a provider, cold", statistics.median(cold), "ms", 6000, starts),
        Measure(
            "event loop's stall while litellm is imported",
            max(stalls),
            "ms",
            100,
            f"longest of {COLD_STARTS} starts",
        ),
        Measure("memory of the asking process, after ÷ before", after / before, "×", 1.1, size),
    ]


async def _first_byte(client: WorkerClient, provider: Provider) -> float:
    """Milliseconds from the question to the request at the provider."""
    began = time.perf_counter()
    reply = await client.complete(call("openai", provider.base_url("openai")))
    if reply.problem is not None:
        raise RuntimeError(f"the provider was not reached: {reply.problem.value} {reply.detail}")
    return (provider.requests[-1].at - began) * 1000


async def _stalls(work: Callable[[], Awaitable[float]]) -> tuple[float, float]:
    """What some work gives, and by how many milliseconds it kept the event loop from its turn, at most."""
    longest = 0.0

    async def tick() -> None:
        nonlocal longest
        while True:
            began = time.perf_counter()
            await asyncio.sleep(TICK_SECONDS)
            longest = max(longest, time.perf_counter() - began - TICK_SECONDS)

    ticking = asyncio.create_task(tick())
    try:
        result = await work()
        return result, longest * 1000
    finally:
        ticking.cancel()


async def _beside_httpx(client: WorkerClient, provider: Provider) -> tuple[list[float], list[float]]:
    """Milliseconds of whole calls, ours and plain ones in turns."""
    url = provider.base_url("openai")
    body = {
        "model": "some-model",
        "messages": [{"role": one.role, "content": one.text} for one in QUESTION],
        "max_tokens": 200,
    }
    ours, plain = [], []
    async with httpx.AsyncClient(trust_env=False) as direct:
        for number in range(CALLS + 1):
            began = time.perf_counter()
            await client.complete(call("openai", url, stream=False))
            middle = time.perf_counter()
            (await direct.post(f"{url}/chat/completions", json=body)).json()
            if number:  # the first of each opens its connection
                ours.append((middle - began) * 1000)
                plain.append((time.perf_counter() - middle) * 1000)
    return ours, plain
