"""What does the worker read and write?

Requests, each with an `id` of the asking side::

    {"id": 1, "ask": "complete", "model": …, "messages": [{"role": …, "text": …}], "max_tokens": …, "seconds": …,
     "temperature": …, "schema": …, "base_url": …, "key_variable": …, "context": …, "retries": …, "stream": …}
    {"id": 2, "ask": "count", "model": …, "messages": […]}
    {"id": 3, "ask": "describe", "model": …, "base_url": …, "key_variable": …}
    {"cancel": 1}

First `{"ready": 1, "litellm": "1.2.3"}` is written, or `{"ready": 1, "problem": "missing", "detail": …}`; then one line
for each request: `{"id": 1, "reply": {…}}`, `{"id": 2, "tokens": 12}`, `{"id": 3, "info": {…}}`, or
`{"id": 1, "cancelled": true}` once its connection is closed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

VERSION = 1
"""Of these lines."""


@dataclass(frozen=True, slots=True)
class Call:
    """One question; `messages` are as litellm takes them. The rest is as in the request."""

    model: str
    messages: list[dict[str, str]]
    max_tokens: int
    seconds: float
    temperature: float | None
    schema: Mapping[str, Any] | None
    base_url: str
    key_variable: str
    context: int | None
    retries: int
    stream: bool


@dataclass(slots=True)
class Reply:
    """What came back; filled while it comes, so that a deadline finds what there is."""

    text: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = None
    seconds: float = 0.0
    tries: int = 0
    problem: str | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Info:
    """What is known about a model."""

    model: str
    provider: str = ""
    address: str = ""
    local: bool = False
    context: int | None = None
    input_usd: float | None = None
    output_usd: float | None = None
    problem: str | None = None
    detail: str = ""


def messages(request: Mapping[str, Any]) -> list[dict[str, str]]:
    """The messages of a request as litellm takes them."""
    return [{"role": str(one["role"]), "content": str(one["text"])} for one in request["messages"]]


def call(request: Mapping[str, Any]) -> Call:
    """The question of a request.

    Raises:
        KeyError: it lacks something.
    """
    return Call(
        model=request["model"],
        messages=messages(request),
        max_tokens=int(request["max_tokens"]),
        seconds=float(request["seconds"]),
        temperature=request["temperature"],
        schema=request["schema"],
        base_url=request["base_url"],
        key_variable=request["key_variable"],
        context=request["context"],
        retries=int(request["retries"]),
        stream=bool(request["stream"]),
    )
