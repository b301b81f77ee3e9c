"""What is known about a model without asking it: its window, its price, how long a prompt is for it?"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

from regreen.model_worker import addresses, cleaning, gguf, troubles
from regreen.model_worker.wire import Info

SHOW_SECONDS = 5.0
"""How long a local server may take to say what it knows about a model."""
FEWER = 0.7
"""A server that read less than this part of what was counted here has cut the prompt; tokenizers differ by less, once
letters outside of ASCII, about which they disagree most, are left out of the count."""
LEAST_MISSING = 64
"""So many tokens must be missing, too: short prompts are mostly what a server adds to them."""


def count(litellm: Any, model: str, messages: Sequence[Mapping[str, str]]) -> int:
    """How many tokens messages are, by litellm's bundled tokenizers; nothing is fetched."""
    name = "gpt-4o" if model.startswith(gguf.PREFIX) else model
    return int(litellm.token_counter(model=name, messages=list(messages)))


def was_cut(litellm: Any, model: str, messages: Sequence[Mapping[str, str]], told: int) -> bool:
    """Whether a server that says how many tokens it read has read clearly fewer than were sent."""
    plain = [{**one, "content": one["content"].encode("ascii", "ignore").decode()} for one in messages]
    sent = count(litellm, model, plain)
    return 0 < told < FEWER * sent and sent - told >= LEAST_MISSING


def price(litellm: Any, model: str, where: addresses.Place) -> tuple[float | None, float | None]:
    """USD of one token (input, output).

    A list price of 0 is one that litellm does not know. A model with a price keeps it at a loopback address, too: what
    answers there most likely hands the question on to whoever wants the money. Any other is free there.
    """
    entry = _entry(litellm, model, where)
    read, written = _number(entry.get("input_cost_per_token")), _number(entry.get("output_cost_per_token"))
    if read is not None and written is not None:
        return read, written
    return (0.0, 0.0) if where.local else (None, None)


def cost(litellm: Any, model: str, where: addresses.Place, asked: int, said: int) -> float | None:
    """The estimated USD of a call; None when its price is unknown."""
    read, written = price(litellm, model, where)
    if read is None or written is None:
        return None
    if not read and not written:
        return 0.0
    try:  # knows prices that depend on length
        total = float(sum(litellm.cost_per_token(model=model, prompt_tokens=asked, completion_tokens=said)))
    except Exception:  # noqa: BLE001 — it raises plain exceptions for models that it cannot price
        total = 0.0
    return total if total > 0 else asked * read + said * written


async def describe(litellm: Any, model: str, base_url: str, variable: str, env: Mapping[str, str]) -> Info:
    """All of it; what is missing to use the model is its `problem`."""
    if model.startswith(gguf.PREFIX):
        return gguf.describe(model)
    try:
        where = addresses.place(litellm, model, base_url, env)
    except Exception as error:  # noqa: BLE001 — litellm's own for an unknown provider is one of many
        known = troubles.trouble(error)
        return Info(model, problem=known.problem, detail=cleaning.clean(known.words, env))
    entry = _entry(litellm, model, where)
    window = _window(entry.get("max_input_tokens") or entry.get("max_tokens"))
    problem, detail = "", ""
    key = addresses.key(litellm, model, where, variable, env)
    if key.missing:
        problem, detail = "auth", f"{' or '.join(key.missing)} is not set"
    elif where.provider in addresses.OLLAMA and where.local:
        shown, problem, detail = await _show(where.url, model.split("/", 1)[1])
        window = shown or window
    costs = price(litellm, model, where)
    return Info(
        model,
        where.provider,
        where.host,
        where.local,
        window,
        *costs,
        problem or None,
        cleaning.clean(detail, env),
    )


def _entry(litellm: Any, model: str, where: addresses.Place) -> Mapping[str, Any]:
    """The line of litellm's price list; empty when the model is not in it."""
    name = model.split("/", 1)[1] if model.startswith(where.provider + "/") else model
    for key in (f"{where.provider}/{name}", name):
        entry = litellm.model_cost.get(key)
        if (
            entry
            and entry.get("litellm_provider", where.provider).split("-")[0] == where.provider.split("-")[0]
        ):
            return dict(entry)
    return {}


def _number(value: Any) -> float | None:
    """A number above 0; None for anything else."""
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) and value > 0 else None


def _window(value: Any) -> int | None:
    number = _number(value)
    return None if number is None else int(number)


async def _show(url: str, name: str) -> tuple[int | None, str, str]:
    """What a local Ollama says about a model: (window, problem, detail)."""
    httpx: Any = importlib.import_module("httpx")
    try:
        async with httpx.AsyncClient(trust_env=False, timeout=SHOW_SECONDS) as client:
            answer = await client.post(f"{url.rstrip('/')}/api/show", json={"name": name, "model": name})
    except Exception as error:  # noqa: BLE001 — all of them are told
        known = troubles.trouble(error)
        return None, known.problem, known.words
    if answer.status_code == 404:
        return None, "unknown-model", f"Ollama has no model {name}"
    try:
        facts = answer.json()["model_info"]
    except (ValueError, KeyError, TypeError):
        return None, "malformed", "Ollama did not say what it knows about the model"
    lengths = [value for key, value in facts.items() if key.endswith(".context_length")]
    return _window(lengths[0] if lengths else None), "", ""
