"""How do bytes come from and go to the client without blocking the loop, and without a stray print among them?"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from queue import SimpleQueue
from typing import BinaryIO

CHUNK = 1 << 16
FLUSH_SECONDS = 2.0


def take_stdio() -> tuple[BinaryIO, BinaryIO]:
    """Move the protocol to private descriptors; whatever prints later goes to stderr, whatever reads gets nothing."""
    reading, writing = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 — it lives as long as the process
    sys.stdout = sys.stderr
    return os.fdopen(reading, "rb", buffering=0), os.fdopen(writing, "wb", buffering=0)


def read_in_thread(source: BinaryIO) -> asyncio.StreamReader:
    """A stream fed by a daemon thread: it needs no pool that something else could fill, and holds up no exit."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()

    def pump() -> None:
        data = b"-"
        while data:
            try:
                data = source.read(CHUNK) or b""
            except OSError:
                data = b""
            if loop.is_closed():
                return
            loop.call_soon_threadsafe(_feed, reader, data)

    threading.Thread(target=pump, name="regreen-input", daemon=True).start()
    return reader


def _feed(reader: asyncio.StreamReader, data: bytes) -> None:
    if reader.at_eof():
        return
    if data:
        reader.feed_data(data)
    else:
        reader.feed_eof()


class Lines:
    """A stream reader whose end is an empty answer, as the library expects."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    async def readline(self) -> bytes:
        """A header line; empty at the end."""
        return await self._reader.readline()

    async def readexactly(self, size: int) -> bytes:
        """A body; empty when the stream ends before it is whole."""
        try:
            return await self._reader.readexactly(size)
        except asyncio.IncompleteReadError:
            return b""


class ThreadWriter:
    """Writes in a daemon thread, in order, so that a client that does not read cannot stop the loop."""

    def __init__(self, target: BinaryIO) -> None:
        self._target = target
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="regreen-output", daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        """Send this after everything before it."""
        self._queue.put(data)

    def close(self) -> None:
        """Wait, for a bounded time, until everything is sent."""
        self._queue.put(None)
        self._thread.join(FLUSH_SECONDS)

    def _work(self) -> None:
        while (data := self._queue.get()) is not None:
            view = memoryview(data)
            try:
                while view:
                    view = view[self._target.write(view) :]
            except (OSError, ValueError):  # the client is gone; its end of input ends us too
                return
