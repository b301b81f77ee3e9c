"""How is litellm brought up so that it neither connects, nor prints, nor reads anybody's .env file by itself?"""

from __future__ import annotations

import importlib
import logging
from collections.abc import MutableMapping
from typing import Any

SETTINGS = {
    "LITELLM_MODE": "PRODUCTION",  # else it loads the .env file of whichever folder it is installed below
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else it fetches prices when it is imported
    "LITELLM_OFFLINE_MODE": "true",  # else counting tokens may look for a tokenizer on the network
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "LITELLM_LOG": "ERROR",  # warnings quote what they are about
}
"""What the environment must say before the import."""

LOOPBACK = ("localhost", "127.0.0.1", "::1")


def prepare(environment: MutableMapping[str, str]) -> None:
    """Set the environment. Loopback addresses are never asked through a proxy: what is local must stay so."""
    environment.update(SETTINGS)
    for name in ("NO_PROXY", "no_proxy"):
        others = [part for part in environment.get(name, "").split(",") if part.strip()]
        environment[name] = ",".join([*others, *(host for host in LOOPBACK if host not in others)])


def load() -> Any:
    """Import litellm, which takes seconds, and make it quiet.

    Raises:
        ImportError: it, or something that it needs, is not installed.
    """
    litellm: Any = importlib.import_module("litellm")
    litellm.suppress_debug_info = True  # else it prints advice whenever something fails
    litellm.drop_params = True  # a model that knows no temperature is asked without one
    litellm.telemetry = False
    litellm.set_verbose = False
    litellm.disable_hf_tokenizer_download = True
    litellm.num_retries = 0
    # whether text is traced is decided in `tracing`
    litellm.turn_off_message_logging = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # its errors are told in replies, without secrets
    return litellm


def version() -> str:
    """Of the installed litellm; "" when it cannot be told."""
    metadata = importlib.import_module("importlib.metadata")
    try:
        return str(metadata.version("litellm"))
    except metadata.PackageNotFoundError:
        return ""
