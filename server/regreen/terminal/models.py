"""Does the language model answer, how much does it take in, and what does it cost?"""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from regreen import history
from regreen.history import Store
from regreen.llm.opening import open_model
from regreen.llm.parts import ModelParts, Nobody
from regreen.llm.problems import sentence
from regreen.platform.background import run_blocking
from regreen.settings import Settings
from regreen.terminal.items import Item
from regreen.values import CallRecord, Message, ModelCall, ModelInfo, ModelProblem, Project, Role

QUESTION = (Message("user", "Answer with the one word: ready"),)
"""Tells nothing of anybody's code."""

MAX_TOKENS = 64
SECONDS = 60.0


async def model_items(project: Project, settings: Settings) -> Sequence[Item]:
    """Ask the model of the settings one harmless question, and tell what is known of it.

    Raises:
        UserError: what asking it takes is not installed, or its files make no sense.
    """
    if settings.llm_mode == "off" or not settings.llm_model:
        hint = "Name one: --set llm.mode=localOnly --set llm.model=ollama_chat/qwen2.5-coder"
        return [Item("model", "none is set", ok=False, hint=hint)]
    parts = await run_blocking(open_model, settings, Store(history.place()), Nobody())
    try:
        info = await parts.client.describe(
            settings.llm_model, settings.llm_base_url, settings.llm_key_variable
        )
        return [*_known(info), await _asked(parts, info, project, settings)]
    finally:
        await parts.client.close()


def _known(info: ModelInfo) -> list[Item]:
    where = (
        f"{info.provider} at {info.address}"
        if info.address
        else f"{info.provider}, inside of Regreen's own worker"
    )
    context = f"{info.context} tokens" if info.context else "not known"
    hint = "" if info.context else "Say it with `regreen.llm.contextTokens`; 8192 are taken until then."
    return [
        Item("model", info.model),
        Item("provider", where + (", on this machine" if info.local else "")),
        Item("context window", context, hint=hint),
        _price(info),
    ]


def _price(info: ModelInfo) -> Item:
    if info.input_usd is None or info.output_usd is None:
        return Item("price", "not known", hint="It is asked only with `regreen.budget.unknownPrice`.")
    million = f"${info.input_usd * 1e6:.2f} for a million tokens sent, ${info.output_usd * 1e6:.2f} received"
    return Item("price", million if info.input_usd or info.output_usd else "none")


async def _asked(parts: ModelParts, info: ModelInfo, project: Project, settings: Settings) -> Item:
    """Put the question; it stands on the ledger like any other."""
    if info.problem is not None:
        return _no_answer(info.problem, info)
    if settings.llm_mode == "localOnly" and not info.local:
        return Item(
            "answer",
            "not asked: `regreen.llm.mode` is localOnly",
            ok=False,
            hint="It is not on this machine.",
        )
    call = ModelCall(
        info.model,
        QUESTION,
        MAX_TOKENS,
        SECONDS,
        base_url=settings.llm_base_url,
        key_variable=settings.llm_key_variable,
        context=settings.llm_context or info.context,
    )
    reply = await parts.client.complete(call)
    record = CallRecord(uuid.uuid4().hex, 0, Role.DEBUGGER, "doctor", info, QUESTION, reply)
    await run_blocking(parts.journal.record_call, project, record)
    if (
        reply.problem is not None and reply.problem is not ModelProblem.TRUNCATED
    ):  # one that thinks aloud is cut off, and works
        return _no_answer(reply.problem, info)
    said = " ".join(reply.text.split())[:60]
    return Item("answer", f"{said!r} after {reply.seconds:.1f} s, {reply.prompt_tokens} tokens sent")


def _no_answer(problem: ModelProblem, info: ModelInfo) -> Item:
    what, hint = sentence(problem, info)
    return Item("answer", what, ok=False, hint=hint)
