"""Who answers for a model: a file, or the worker?

Roles and fallbacks may name models of both sorts in one heal.
"""

from __future__ import annotations

from collections.abc import Sequence

from regreen.llm.client import WorkerClient
from regreen.llm.scripted import PREFIX, ScriptedClient
from regreen.ports import ModelClient
from regreen.values import Message, ModelCall, ModelInfo, ModelReply


class RoutedClient:
    """Asks each model where it is. Implements `ports.ModelClient`.

    Args:
        worker: asks all but those that answer from a file; starts nothing before it is asked.
    """

    def __init__(self, worker: WorkerClient) -> None:
        self._worker = worker
        self._scripted = ScriptedClient()

    def _client(self, model: str) -> ModelClient:
        return self._scripted if model.startswith(PREFIX) else self._worker

    async def complete(self, call: ModelCall) -> ModelReply:
        """Ask; what goes wrong is told in the reply."""
        return await self._client(call.model).complete(call)

    async def count(self, model: str, messages: Sequence[Message]) -> int:
        """How many tokens these messages are for a model, as near as is known."""
        return await self._client(model).count(model, messages)

    async def describe(self, model: str, base_url: str = "", key_variable: str = "") -> ModelInfo:
        """What is known about a model without asking it anything that costs."""
        return await self._client(model).describe(model, base_url, key_variable)

    async def close(self) -> None:
        """End every process and connection; safe to call twice."""
        await self._worker.close()
