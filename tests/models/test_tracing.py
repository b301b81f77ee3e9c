from __future__ import annotations

import gzip
import json
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.models.provider import Provider
from tests.models.questions import KEYS, SECRET, call, plain_environment

from regreen.llm.client import WorkerClient
from regreen.model_worker import tracing
from regreen.platform import processes


@dataclass
class Receiver:
    """What arrived at a stand-in for a receiver of traces: path, headers and body of each request."""

    port: int
    arrived: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def spans(self) -> list[Any]:
        found = []
        for _, _, body in self.arrived:
            request = ExportTraceServiceRequest.FromString(body)
            found += [
                span for one in request.resource_spans for part in one.scope_spans for span in part.spans
            ]
        return found


@contextmanager
def receiver() -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 — named by the base class
            pass

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            encoding = self.headers.get("Content-Encoding")
            body = gzip.decompress(body) if encoding == "gzip" else body
            body = zlib.decompress(body) if encoding == "deflate" else body
            got.arrived.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    got = Receiver(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield got
    server.shutdown()
    server.server_close()
    thread.join()


async def traced(folder: Path, *, tracing: bool = True, **variables: str) -> str:
    """Ask once; what the worker wrote on its standard error."""
    environment = {**plain_environment(), **variables}
    client = WorkerClient(KEYS, environment=environment, folder=folder, tracing=tracing)
    with Provider(["def secret_reply(): pass"]) as provider:
        url = provider.base_url("anthropic")
        reply = await client.complete(call("anthropic", url))
        assert reply.problem is None
    (process,) = processes.alive()
    await client.close()
    return process.stderr_tail()


async def test_a_call_is_a_span_at_the_users_receiver_without_its_text(folder: Path) -> None:
    with receiver() as got:
        written = await traced(
            folder,
            OTEL_EXPORTER_OTLP_ENDPOINT=got.url,
            OTEL_EXPORTER_OTLP_HEADERS="x-team=blue",
            OTEL_SERVICE_NAME="mine",
        )
    assert got.arrived
    assert {path for path, _, _ in got.arrived} == {"/v1/traces"}
    assert got.arrived[0][1]["x-team"] == "blue"
    attributes = {one.key: one.value for span in got.spans() for one in span.attributes}
    assert attributes["gen_ai.request.model"].string_value.endswith("claude-sonnet-4-5")
    sent = b"".join(body for _, _, body in got.arrived)
    for text in ("Mend it, please.", "secret_reply", SECRET):
        assert text.encode() not in sent
    assert "secret_reply" not in written
    assert '"trace_id"' not in written  # what the console exporter writes


async def test_text_is_traced_where_the_user_asks_for_it(folder: Path) -> None:
    with receiver() as got:
        await traced(
            folder,
            OTEL_EXPORTER_OTLP_ENDPOINT=got.url,
            OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="SPAN_ONLY",
        )
    sent = b"".join(body for _, _, body in got.arrived)
    assert b"secret_reply" in sent
    assert SECRET.encode() not in sent


async def test_nothing_is_traced_where_it_is_turned_off(folder: Path) -> None:
    with receiver() as got:
        await traced(
            folder,
            tracing=False,
            OTEL_EXPORTER_OTLP_ENDPOINT=got.url,
            LANGSMITH_API_KEY=SECRET,
            LANGSMITH_BASE_URL=got.url,
        )
    assert not got.arrived


async def test_a_receiver_that_is_down_costs_no_reply(folder: Path) -> None:
    down = "http://127.0.0.1:1"
    written = await traced(
        folder,
        OTEL_EXPORTER_OTLP_ENDPOINT=down,
        LANGSMITH_API_KEY="ls-key-123456",
        LANGSMITH_BASE_URL=down,
        LANGSMITH_TRACING="true",
    )
    assert "secret_reply" not in written


async def test_langsmith_gets_a_run_without_its_text(folder: Path) -> None:
    with receiver() as got:
        await traced(
            folder, LANGSMITH_API_KEY="ls-key-123456", LANGSMITH_BASE_URL=got.url, LANGSMITH_TRACING="true"
        )
    (path, headers, body), *_ = got.arrived
    assert (path, headers["x-api-key"]) == ("/api/v1/runs/batch", "ls-key-123456")
    assert json.loads(body)["post"]
    for text in ("Mend it, please.", "secret_reply", SECRET):
        assert text.encode() not in body


@pytest.mark.parametrize(
    ("environment", "on"),
    [
        ({}, ()),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a"}, ("otel",)),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://a"}, ("otel",)),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a", "OTEL_SDK_DISABLED": "true"}, ()),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a", "OTEL_TRACES_EXPORTER": "none"}, ()),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a", "OTEL_TRACES_EXPORTER": "console"}, ()),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a", "OTEL_EXPORTER_OTLP_PROTOCOL": "unheard-of"}, ()),
        ({"OTEL_EXPORTER": "console"}, ()),
        ({"OTEL_SERVICE_NAME": "mine"}, ()),
        ({"LANGSMITH_API_KEY": "k"}, ()),
        ({"LANGSMITH_API_KEY": "k", "LANGSMITH_TRACING": "true"}, ("langsmith",)),
        ({"LANGSMITH_API_KEY": "k", "LANGSMITH_TRACING": "false"}, ()),
    ],
    ids=str,
)
def test_tracing_needs_the_users_own_settings(environment: dict[str, str], on: tuple[str, ...]) -> None:
    assert tracing.wanted(environment) == on
