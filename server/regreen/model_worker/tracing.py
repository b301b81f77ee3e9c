"""Are calls traced, by what the user's own environment says about OpenTelemetry and LangSmith?

Only where both the packages and the settings are there. Traces tell models, tokens, seconds and cost; the text of prompts
and replies is in them only where the user asked for it, because most people who set these variables had another
program in mind.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any

FLUSH_SECONDS = 2.0
SWITCH = "REGREEN_MODEL_TRACING"
"""Set to "off" by whoever starts the worker where nothing may leave the machine."""
CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""The user's word on text in traces; named by OpenTelemetry's conventions for language models."""
_YES = frozenset({"true", "1", "yes", "on", "span_only", "event_only", "span_and_event"})
_PROTOCOLS = {
    "http/protobuf": "opentelemetry.exporter.otlp.proto.http",
    "grpc": "opentelemetry.exporter.otlp.proto.grpc",
}


def wanted(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Which of litellm's callbacks to turn on: "otel", "langsmith"."""
    if environment.get(SWITCH, "").lower() == "off":
        return ()
    callbacks = []
    endpoint = environment.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") or environment.get(
        "OTEL_EXPORTER_OTLP_ENDPOINT"
    )
    if (
        endpoint
        and environment.get("OTEL_SDK_DISABLED", "").lower() != "true"
        and environment.get("OTEL_TRACES_EXPORTER", "otlp") == "otlp"
        and _has("opentelemetry.sdk.trace")
        and _has(_PROTOCOLS.get(protocol(environment), ""))
    ):
        callbacks.append("otel")
    if environment.get("LANGSMITH_API_KEY") and _is_yes(environment.get("LANGSMITH_TRACING", "")):
        callbacks.append("langsmith")  # speaks HTTP by itself and needs no package
    return tuple(callbacks)


def protocol(environment: Mapping[str, str]) -> str:
    """How spans are sent."""
    return (
        environment.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")
        or environment.get("OTEL_EXPORTER_OTLP_PROTOCOL")
        or "http/protobuf"
    )


def _endpoint(environment: Mapping[str, str]) -> str:
    names = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
    return next((environment[name] for name in names if environment.get(name)), "")


def turn_on(litellm: Any, environment: MutableMapping[str, str]) -> tuple[str, ...]:
    """Turn on what is wanted; the callbacks that are on.

    Args:
        litellm: the library.
        environment: of this process: litellm reads it, and would write spans to the terminal without a protocol.
    """
    callbacks = wanted(environment)
    if "otel" in callbacks:
        environment["OTEL_EXPORTER_OTLP_PROTOCOL"] = protocol(environment)
        environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = _endpoint(environment)
        environment.pop("OTEL_EXPORTER", None)
    if callbacks:
        litellm.turn_off_message_logging = not _is_yes(environment.get(CONTENT, ""))
        litellm.callbacks = list(callbacks)
    return callbacks


def _is_yes(value: str) -> bool:
    return value.strip().lower() in _YES


def _has(module: str) -> bool:
    if not module:
        return False
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # not even its parent
        return False


async def flush(litellm: Any) -> None:
    """Send what is still waiting, for at most a few seconds, before the process ends."""
    if not litellm.callbacks:
        return
    try:
        await asyncio.wait_for(_flush(litellm), FLUSH_SECONDS)  # noqa: TID251 — nobody cancels the way out
    except asyncio.TimeoutError:
        print("traces were lost: their receiver does not answer", file=sys.stderr)  # noqa: T201 — the worker's log


async def _flush(litellm: Any) -> None:
    waiting: Any = importlib.import_module("litellm.litellm_core_utils.logging_worker")
    await waiting.GLOBAL_LOGGING_WORKER.flush()
    batched: Any = importlib.import_module("litellm.integrations.custom_batch_logger")
    loggers = litellm.logging_callback_manager.get_custom_loggers_for_type(batched.CustomBatchLogger)
    for logger in loggers:
        await logger.flush_queue()
    trace = sys.modules.get("opentelemetry.trace")
    if trace is not None:
        provider: Any = trace.get_tracer_provider()
        if hasattr(provider, "force_flush"):
            await asyncio.to_thread(provider.force_flush, int(1000 * FLUSH_SECONDS))
