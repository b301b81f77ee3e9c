"""How is one question asked: under a deadline, again where that helps, and closed when nobody waits for it?"""

from __future__ import annotations

import asyncio
import os
import random
import time
from typing import Any

from regreen.model_worker import addresses, cleaning, gguf, knowing, troubles
from regreen.model_worker.troubles import NoReply, Trouble
from regreen.model_worker.wire import Call, Reply

FIRST_WAIT = 0.5
"""Seconds before the second try, when the server does not say; twice as long before each further one."""
LONGEST_WAIT = 8.0
LONGEST_TOKEN = 200
"""Characters of one token: a provider that sends more than all of a reply's may have does not count."""
_ENDS = {"length": "truncated", "content_filter": "filtered"}
"""What reasons to finish mean; all others are a reply that is whole."""


async def ask(litellm: Any, files: gguf.Files, call: Call) -> Reply:
    """Ask until there is a reply, the tries are used up, or the deadline has passed.

    Cancelling closes the connection before it goes on.
    """
    reply = Reply()
    began = time.monotonic()
    try:
        tries = _tries(litellm, files, call, reply, began + call.seconds)
        await asyncio.wait_for(tries, call.seconds)  # noqa: TID251 — nobody minds a reply as it is cancelled
    except asyncio.TimeoutError:
        _tell(reply, Trouble("timeout", f"no whole reply within {call.seconds:g} s", again=False))
    reply.seconds = round(time.monotonic() - began, 4)
    return reply


async def _tries(litellm: Any, files: gguf.Files, call: Call, reply: Reply, deadline: float) -> None:
    while True:
        reply.text, reply.tries = "", reply.tries + 1
        try:
            await _once(litellm, files, call, reply)
        except Exception as error:  # noqa: BLE001 — litellm raises what it likes; all of it is told
            trouble = troubles.trouble(error)
        else:
            return
        wait = _wait(reply.tries) if trouble.wait is None else trouble.wait
        if not trouble.again or reply.tries > call.retries or time.monotonic() + wait >= deadline:
            _tell(reply, trouble)
            return
        await asyncio.sleep(wait)


def _wait(tries: int) -> float:
    """Seconds, doubled with each try and never the same for all who were sent away together."""
    return float(min(LONGEST_WAIT, FIRST_WAIT * 2 ** (tries - 1)) * random.uniform(0.75, 1.25))  # noqa: S311


def _tell(reply: Reply, trouble: Trouble) -> None:
    reply.problem = trouble.problem
    reply.detail = cleaning.clean(trouble.words, os.environ)


async def _once(litellm: Any, files: gguf.Files, call: Call, reply: Reply) -> None:
    """One request; the reply is filled.

    Raises:
        NoReply: what came is not one.
        Exception: whatever litellm makes of a failure.
    """
    if call.model.startswith(gguf.PREFIX):
        running = await files.running(call.model, call.context)
        where = addresses.Place("openai", running.url, running.url)
        model, key = "openai/model", addresses.Key(running.key)
    else:
        model = call.model
        where = addresses.place(litellm, model, call.base_url, os.environ)
        key = addresses.key(litellm, model, where, call.key_variable, os.environ)
    if key.missing:
        raise NoReply("auth", f"{' or '.join(key.missing)} is not set")
    usage: Any = None
    answered = False
    try:
        response = await litellm.acompletion(**_options(call, model, where, key))
        if response is None:  # litellm's end of a 422 that names no parameter which it could leave out
            raise NoReply("bad-request", "the provider does not take the request")
        most = call.max_tokens * LONGEST_TOKEN
        finish, usage = await (_streamed(response, reply, most) if call.stream else _whole(response, reply))
        answered = True
    except asyncio.CancelledError:
        answered = True  # it was sent, so it may have to be paid
        raise
    finally:
        if answered or reply.text:
            _count(litellm, call, where, reply, usage)
    if finish in _ENDS:
        raise NoReply(_ENDS[finish], f"the reply ended for the reason {finish!r}")
    if not reply.text.strip():
        raise NoReply("malformed", "the reply holds no text")
    if usage is not None and (where.local or where.provider in addresses.OLLAMA):
        told = _tokens(usage, "prompt_tokens")
        if knowing.was_cut(litellm, call.model, call.messages, told):
            counted = knowing.count(litellm, call.model, call.messages)
            raise NoReply("silently-cut", f"about {counted} tokens were sent, the server read {told}")


def _options(call: Call, model: str, where: addresses.Place, key: addresses.Key) -> dict[str, Any]:
    options: dict[str, Any] = {
        "model": model,
        "messages": call.messages,
        "max_tokens": call.max_tokens,
        "timeout": call.seconds,
        "max_retries": 0,
        "num_retries": 0,
        "stream": call.stream,
        "caching": False,
    }
    if call.stream:
        options["stream_options"] = {"include_usage": True}
    if call.temperature is not None:
        options["temperature"] = call.temperature
    if where.given:
        options["api_base"] = where.given
    if key.value is not None:
        options["api_key"] = key.value
    if call.schema is not None:
        schema = {"name": "reply", "schema": dict(call.schema)}
        options["response_format"] = {"type": "json_schema", "json_schema": schema}
    if where.provider in addresses.OLLAMA:
        options["num_ctx"] = call.context or gguf.WINDOW  # else it cuts to a length of its own
    return options


async def _streamed(stream: Any, reply: Reply, most: int) -> tuple[str, Any]:
    """Read a stream to its end, or to so many characters: why it finished, and what it says of tokens."""
    usage = None
    try:
        async for chunk in stream:
            for choice in chunk.choices[:1]:
                reply.text += choice.delta.content or ""
                if len(reply.text) > most:
                    return "length", usage
            usage = getattr(chunk, "usage", None) or usage
        # litellm ends streams that break off with a "stop" of its own
        finish = stream.received_finish_reason
    except Exception as error:
        if not reply.text and "before a finish_reason" in str(error):
            raise NoReply("malformed", "the stream holds no reply") from error
        raise
    finally:
        await stream.aclose()
    if finish is None and reply.text:
        raise NoReply("network", "the stream broke off before its end")
    return finish or "", usage


async def _whole(response: Any, reply: Reply) -> tuple[str, Any]:
    if not response.choices:
        raise NoReply("malformed", "the reply holds no choice")
    choice = response.choices[0]
    reply.text = choice.message.content or ""
    return choice.finish_reason or "", getattr(response, "usage", None)


def _count(litellm: Any, call: Call, where: addresses.Place, reply: Reply, usage: Any) -> None:
    """Add tokens and cost of one try: all that were answered have to be paid. What is not said is counted here."""
    asked = _tokens(usage, "prompt_tokens") or knowing.count(litellm, call.model, call.messages)
    said = _tokens(usage, "completion_tokens")
    if not said and reply.text:
        said = knowing.count(litellm, call.model, [{"role": "assistant", "content": reply.text}])
    usd = knowing.cost(litellm, call.model, where, asked, said)
    reply.usd = None if usd is None else usd + (reply.usd or 0.0)
    reply.prompt_tokens += asked
    reply.completion_tokens += said


def _tokens(usage: Any, name: str) -> int:
    value = getattr(usage, name, 0) if usage is not None else 0
    return value if isinstance(value, int) and value > 0 else 0
