"""What do the tests ask, and in which environment?"""

from __future__ import annotations

import os
from typing import Any

from regreen.values import Message, ModelCall

QUESTION = (Message("system", "Role: repairer"), Message("user", "Mend it, please."))
MODELS = {
    "openai": "openai/some-model",
    "dashscope": "dashscope/qwen-plus",
    "anthropic": "anthropic/claude-sonnet-4-5",
    "ollama_chat": "ollama_chat/smol",
}
"""A model for each format of `provider`."""
SECRET = "sk-test-0123456789abcdef"
KEYS = {"OPENAI_API_KEY": SECRET, "ANTHROPIC_API_KEY": SECRET, "DASHSCOPE_API_KEY": SECRET}
_UNWANTED = (
    "OTEL_",
    "LANGSMITH_",
    "LITELLM_",
    "OLLAMA_",
    "OPENAI_",
    "ANTHROPIC_",
    "DASHSCOPE_",
    "HTTP",
    "http",
    "ALL_",
)


def plain_environment() -> dict[str, str]:
    """Ours, without what would send questions or traces elsewhere."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_UNWANTED)}


def call(name: str, url: str, **more: Any) -> ModelCall:
    """A question in a format, to an address."""
    values: dict[str, Any] = {
        "model": MODELS[name],
        "messages": QUESTION,
        "max_tokens": 200,
        "seconds": 60.0,
        "base_url": url,
        **more,
    }
    return ModelCall(**values)
