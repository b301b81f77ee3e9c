"""Who answers for a model, at which address, and with which key?

The address is found here and then given to litellm, so that what the user agreed to is where the request goes.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

_VARIABLES = {
    "openai": ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    "anthropic": ("ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL"),
    "huggingface": ("HF_API_BASE", "HUGGINGFACE_API_BASE"),
    "ollama": ("OLLAMA_API_BASE",),
    "ollama_chat": ("OLLAMA_API_BASE",),
}
"""Where a provider's address may be set in the environment, if not by its own name and _API_BASE."""

_KNOWN = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "gemini": "https://generativelanguage.googleapis.com",
    "huggingface": "https://router.huggingface.co",
    "openrouter": "https://openrouter.ai/api/v1",
    "cohere": "https://api.cohere.com",
    "cohere_chat": "https://api.cohere.com",
    "ollama": "http://localhost:11434",
    "ollama_chat": "http://localhost:11434",
}
_GIVEN = frozenset({"openai", "anthropic", "ollama", "ollama_chat"})
"""Providers that are told their own address, too; the others build theirs from more than that."""

_KEYLESS = frozenset(
    {"ollama", "ollama_chat", "hosted_vllm", "lm_studio", "llamafile", "custom_openai", "vllm"}
)
OLLAMA = frozenset({"ollama", "ollama_chat"})


@dataclass(frozen=True, slots=True)
class Place:
    """Where requests go.

    Args:
        provider: as litellm calls it.
        url: the base address; "" where only litellm knows it.
        given: what litellm is told as the address; "" to leave it alone.
    """

    provider: str
    url: str
    given: str

    @property
    def host(self) -> str:
        """For people: the host, with its port if the address names one."""
        parts = urlsplit(self.url)
        if not parts.hostname:
            return self.provider
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        return f"{host}:{parts.port}" if parts.port else host

    @property
    def local(self) -> bool:
        """Whether the address is a loopback one."""
        host = urlsplit(self.url).hostname or ""
        if host == "localhost" or host.endswith(".localhost"):
            return True
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False


def place(litellm: Any, model: str, base_url: str, environment: Mapping[str, str]) -> Place:
    """Where requests for a model go.

    Raises:
        Exception: litellm's, when it knows no such provider.
    """
    # An address that is given would make litellm guess the provider from it
    _, provider, _, own = litellm.get_llm_provider(model)
    names = _VARIABLES.get(provider, (f"{provider.upper()}_API_BASE",))
    named = next((environment[name] for name in names if environment.get(name)), "")
    url = base_url or named or own or _KNOWN.get(provider, "")
    return Place(provider, url, url if base_url or named or provider in _GIVEN else "")


@dataclass(frozen=True, slots=True)
class Key:
    """The key of a call. `value`: None leaves it to litellm; `missing`: the variables that should hold it."""

    value: str | None
    missing: tuple[str, ...] = ()


def key(litellm: Any, model: str, where: Place, variable: str, environment: Mapping[str, str]) -> Key:
    """The key to use, found without asking anybody."""
    if variable:
        value = environment.get(variable, "")
        return Key(value) if value else Key(None, (variable,))
    missing = tuple(litellm.validate_environment(model).get("missing_keys", ()))
    if not missing:
        return Key(None)
    if where.provider in _KEYLESS or where.local:
        return Key(None if where.provider in OLLAMA else "none")  # some clients insist on one
    # names of addresses stand in that list, too: those have been found
    keys = tuple(name for name in missing if not name.endswith("_API_BASE"))
    return Key(None, keys)
