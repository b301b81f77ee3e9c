import asyncio

import pytest

from fetcher import Cache, with_timeout


@pytest.fixture
async def cache():
    asked = []

    async def source(key):
        asked.append(key)
        await asyncio.sleep(0)
        return key.upper()

    cache = Cache(source)
    cache.asked = asked
    return cache


async def test_get(cache):
    assert await cache.get("a") == "A"


async def test_get_asks_once(cache):
    await cache.get("a")
    await cache.get("a")
    assert cache.asked == ["a"]


async def test_get_all(cache):
    assert await cache.get_all(["a", "b"]) == ["A", "B"]


async def test_timeout():
    assert await with_timeout(asyncio.sleep(5), 0.01, "late") == "late"
