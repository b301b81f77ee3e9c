"""How are many requests served at once, each to be cancelled by itself?

Requests are read by a thread, since pipes are read differently on each system; all else happens in one event loop.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import traceback
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from regreen.model_worker import asking, cleaning, gguf, knowing, library, tracing, wire

CLOSING_SECONDS = 2.0
"""How long connections may take to close once nobody asks any more."""


class Worker:
    """What is under way.

    Args:
        replies: descriptor of the output.
    """

    def __init__(self, replies: int) -> None:
        self._replies = replies
        self._litellm: Any = None
        self._problem: ImportError | None = None
        self._files = gguf.Files()
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self.ended = asyncio.Event()

    def greet(self) -> None:
        """Load litellm and say so."""
        try:
            self._litellm = library.load()
        except ImportError as error:
            self._problem = error
            detail = cleaning.clean(str(error), os.environ)
            self.write({"ready": wire.VERSION, "problem": "missing", "detail": detail})
            return
        tracing.turn_on(self._litellm, os.environ)
        knowing.count(self._litellm, "gpt-4o", [{"role": "user", "content": "warm"}])  # loads the tokenizer
        self.write({"ready": wire.VERSION, "litellm": library.version()})

    def hear(self, line: bytes) -> None:
        """One line of the requests; an empty one is their end."""
        if not line:
            self.ended.set()
            return
        request = json.loads(line)
        if "cancel" in request:
            task = self._tasks.get(request["cancel"])
            if task is not None:
                task.cancel()
            return
        number = request["id"]
        task = asyncio.get_running_loop().create_task(self._serve(number, request))
        self._tasks[number] = task

    async def close(self) -> None:
        """Cancel what is under way and let its connections close."""
        if self._tasks:
            for task in self._tasks.values():
                task.cancel()
            await asyncio.wait(self._tasks.values(), timeout=CLOSING_SECONDS)
        if self._litellm is not None:
            await tracing.flush(self._litellm)

    async def _serve(self, number: int, request: dict[str, Any]) -> None:
        try:
            said = await self._answer(request)
        except asyncio.CancelledError:
            said = {"cancelled": True}
        except Exception as error:  # noqa: BLE001 — one request must not take the others down
            traceback.print_exc(file=sys.stderr)
            said = self._failed(request["ask"], error)
        finally:
            self._tasks.pop(number, None)
        self.write({"id": number, **said})

    async def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._problem is not None:
            return self._failed(request["ask"], self._problem)
        if request["ask"] == "count":
            return {"tokens": knowing.count(self._litellm, request["model"], wire.messages(request))}
        if request["ask"] == "describe":
            asked = request["model"], request["base_url"], request["key_variable"]
            return {"info": asdict(await knowing.describe(self._litellm, *asked, os.environ))}
        return {"reply": asdict(await asking.ask(self._litellm, self._files, wire.call(request)))}

    def _failed(self, ask: str, error: Exception) -> dict[str, Any]:
        problem = "missing" if isinstance(error, ImportError) else "worker"
        detail = cleaning.clean(f"{type(error).__name__}: {error}", os.environ)
        if ask == "count":
            return {"tokens": None, "problem": problem, "detail": detail}
        if ask == "describe":
            return {"info": asdict(wire.Info("", problem=problem, detail=detail))}
        return {"reply": asdict(wire.Reply(problem=problem, detail=detail))}

    def write(self, message: dict[str, Any]) -> None:
        """Write one line, whole."""
        data = json.dumps(message).encode() + b"\n"
        while data:
            data = data[os.write(self._replies, data) :]


def run(requests: int, replies: int) -> None:
    """Serve until the requests end or nobody reads the replies.

    Args:
        requests: the descriptor that is read.
        replies: the one that is written.
    """
    asyncio.run(_run(requests, replies))


async def _run(requests: int, replies: int) -> None:
    worker = Worker(replies)
    try:
        worker.greet()
        loop = asyncio.get_running_loop()

        def read() -> None:
            for line in _lines(requests):
                loop.call_soon_threadsafe(worker.hear, line)

        threading.Thread(target=read, name="requests", daemon=True).start()
        await worker.ended.wait()
        await worker.close()
    except BrokenPipeError:
        return  # whoever asked has gone


def _lines(descriptor: int) -> Iterator[bytes]:
    """The lines of a pipe, then an empty one."""
    rest = b""
    while chunk := os.read(descriptor, 65_536):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line for line in lines if line)
    yield b""
