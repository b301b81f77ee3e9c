import asyncio


class Cache:
    """Remembers what a slow source answered."""

    def __init__(self, source):
        self._source = source
        self._known = {}

    async def get(self, key):
        if key not in self._known:
            self._known[key] = await self._source(key)
        return self._known[key]

    async def get_all(self, keys):
        return [self.get(key) for key in keys]


async def with_timeout(awaitable, seconds, default=None):
    try:
        return await asyncio.wait_for(awaitable, seconds)
    except asyncio.TimeoutError:
        return default
