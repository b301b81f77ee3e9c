"""How are models asked without the server ever importing what talks to them?

`WorkerClient` is the real `ports.ModelClient`: it starts the worker (see `regreen.model_worker`) when it is first asked,
and a new one after one that died.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from regreen.llm.worker import Worker, WorkerEnded, command
from regreen.platform import processes
from regreen.platform.background import run_blocking
from regreen.platform.dirs import state_dir
from regreen.platform.waiting import uninterrupted
from regreen.values import Message, ModelCall, ModelInfo, ModelProblem, ModelReply

log = logging.getLogger(__name__)

GRACE_SECONDS = 5.0
"""How much later than its deadline a reply may come before the worker is taken for stuck."""
QUICK_SECONDS = 30.0
"""How long counting and describing may take; other requests share the worker."""


class WorkerClient:
    """Asks models through a worker process. Implements `ports.ModelClient`.

    Nothing is started before the first question or `warm`. Use it from one event loop, and await `close`.

    Args:
        keys: more variables for the worker's environment and nobody else's: keys that the editor keeps.
        environment: of the worker; ours when None.
        folder: its working directory, an empty one; below the user's own state when None.
        tracing: follow the user's settings of OpenTelemetry and LangSmith, which send elsewhere what was asked when.
        grace: `GRACE_SECONDS`, for tests.
    """

    def __init__(
        self,
        keys: Mapping[str, str] | None = None,
        *,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        tracing: bool = True,
        grace: float = GRACE_SECONDS,
    ) -> None:
        self._environment = {**(os.environ if environment is None else environment), **(keys or {})}
        if not tracing:
            self._environment["REGREEN_MODEL_TRACING"] = "off"
        self._folder = folder
        self._grace = grace
        self._worker: asyncio.Task[Worker] | None = None
        self._closed = False

    async def warm(self) -> None:
        """Start the worker ahead of the first question; what goes wrong is told when it is asked."""
        try:
            await self._ready()
        except WorkerEnded as error:
            log.info("the model worker did not start: %s", error)

    async def complete(self, call: ModelCall) -> ModelReply:
        """Ask; see `ports.ModelClient.complete`."""
        request = _question(call)
        said = await self._ask("complete", request, call.seconds + self._grace)
        if isinstance(said, ModelProblem):
            return ModelReply(problem=said, tries=0, detail="the process that talks to models ended")
        return _reply(said["reply"])

    async def count(self, model: str, messages: Sequence[Message]) -> int:
        """How many tokens messages are; guessed from their length where the worker cannot tell."""
        request = {"model": model, "messages": [_plain(message) for message in messages]}
        said = await self._ask("count", request, QUICK_SECONDS)
        if isinstance(said, ModelProblem) or said["tokens"] is None:
            return sum(len(message.text.encode()) // 3 + 4 for message in messages)
        return int(said["tokens"])

    async def describe(self, model: str, base_url: str = "", key_variable: str = "") -> ModelInfo:
        """What is known about a model; see `ports.ModelClient.describe`."""
        request = {"model": model, "base_url": base_url, "key_variable": key_variable}
        said = await self._ask("describe", request, QUICK_SECONDS)
        if isinstance(said, ModelProblem):
            return ModelInfo(model, problem=said, detail="the process that talks to models ended")
        info = said["info"]
        return ModelInfo(**{**info, "model": model, "problem": _problem(info["problem"])})

    async def close(self) -> None:
        """End the worker; questions under way end with it. Safe to call twice."""
        self._closed = True
        task, self._worker = self._worker, None
        if task is not None:
            await uninterrupted(_end(task))

    async def _ask(
        self, kind: str, request: Mapping[str, Any], seconds: float
    ) -> dict[str, Any] | ModelProblem:
        """Put one request to a worker that runs; `WORKER` when it ended over it, or kept silent for too long."""
        try:
            worker = await self._ready()
            return await worker.ask(kind, request, seconds)
        except WorkerEnded as error:
            log.warning("the model worker ended: %s", error)
            return ModelProblem.WORKER

    async def _ready(self) -> Worker:
        """The worker, started if there is none; cancelling leaves it starting for the next question.

        Raises:
            WorkerEnded: it does not start.
        """
        if self._closed:
            raise WorkerEnded("the client is closed")
        task = self._worker
        if task is None or (task.done() and (task.cancelled() or task.exception() or task.result().ended)):
            if task is not None:
                await uninterrupted(_end(task))
            if self._worker is task:  # nobody else was faster
                self._worker = asyncio.create_task(self._start())
            task = self._worker
            if task is None:
                raise WorkerEnded("the client is closed")
        return await asyncio.shield(task)

    async def _start(self) -> Worker:
        folder = self._folder or await run_blocking(state_dir, "worker")
        try:
            process = await processes.start(
                command(), cwd=folder, env=self._environment, stdin=True, stdout=True
            )
        except OSError as error:
            raise WorkerEnded(str(error)) from error
        worker = Worker(process, self._environment)
        try:
            await worker.greet()
        except BaseException:
            await uninterrupted(worker.end())
            raise
        return worker


async def _end(task: asyncio.Task[Worker]) -> None:
    """End the worker that a task starts or has started."""
    task.cancel()
    await asyncio.wait({task})
    if not task.cancelled() and task.exception() is None:
        await task.result().end()


def _question(call: ModelCall) -> dict[str, Any]:
    messages = [_plain(message) for message in call.messages]
    return {
        **asdict(call),
        "messages": messages,
        "schema": None if call.schema is None else dict(call.schema),
    }


def _plain(message: Message) -> dict[str, str]:
    return {"role": message.role, "text": message.text}


def _problem(code: str | None) -> ModelProblem | None:
    return None if code is None else ModelProblem(code)


def _reply(said: Mapping[str, Any]) -> ModelReply:
    return ModelReply(**{**said, "problem": _problem(said["problem"])})
