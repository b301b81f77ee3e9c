"""What does a provider of language models say over the wire, and how does it fail?

A server on 127.0.0.1 that speaks four formats and answers as it is told: `openai` and `dashscope` (chat completions),
`anthropic` (messages) and `ollama_chat` (NDJSON). It keeps every request and notices connections that the other side
closes before the answer is whole.
"""

from __future__ import annotations

import json
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from tests.models import formats
from typing_extensions import Self

PATHS = {
    "openai": "/openai/v1",
    "dashscope": "/dashscope/v1",
    "anthropic": "/anthropic",
    "ollama_chat": "/ollama",
}
"""Below which path each format is spoken; what litellm is given as `api_base` ends with it."""
POLL_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer.

    Args:
        text: of the reply.
        prompt_tokens, completion_tokens: as the provider counts them; None for a quarter of the letters.
        delay: seconds before the first byte.
        pieces: of a streamed reply.
        pause: seconds between two pieces.
        finish: "stop" | "length" | "filter".
        tool: the reply is a call of this tool and holds no text.
        status: of HTTP; anything but 200 is an error in the format's own words.
        message: of the error.
        code: the provider's own name of the error.
        retry_after: the header.
        failure: "" or how the answer is broken: "cut" (the connection ends within it), "close" (it ends before),
            "malformed", "html", "empty", "no-choices", "silent" (headers, then nothing), "endless" (pieces for ever).
    """

    text: str = "An answer."
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    delay: float = 0.0
    pieces: int = 3
    pause: float = 0.0
    finish: str = "stop"
    tool: str = ""
    status: int = 200
    message: str = "The provider does not want to."
    code: str = ""
    retry_after: str = ""
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it arrived. `at`: of `time.perf_counter`, when its headers had been read."""

    format: str
    path: str
    body: dict[str, Any]
    headers: dict[str, str]
    at: float

    @property
    def text(self) -> str:
        """All messages, the system's included, one after the other."""
        system = self.body.get("system", [])
        messages = [{"content": system}, *self.body.get("messages", [])]
        return "\n".join(_text(message.get("content")) for message in messages)


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return str(content or "")


Script = Callable[[Request], "Answer | str"]


class Provider:
    """The server; use it as a context manager.

    Args:
        answers: what it says: texts, `Answer`s or functions of the request, in order, the last of them for ever; or
            one function for all requests.
        window: the context window that Ollama's `/api/show` tells; None for a model that it does not have.

    Attributes:
        requests: those that want an answer, in order of arrival.
        shown: the bodies of requests to `/api/show`.
    """

    def __init__(
        self,
        answers: Sequence[Answer | str | Script] | Script = ("An answer.",),
        *,
        window: int | None = 8192,
    ) -> None:
        self.requests: list[Request] = []
        self.shown: list[dict[str, Any]] = []
        self.window = window
        self._answers = answers
        self._lock = threading.Lock()
        self._closed = 0
        self._open = 0
        self._ending = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.provider = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(POLL_SECONDS,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    def base_url(self, name: str) -> str:
        """What litellm is given as the address of a format."""
        return f"http://127.0.0.1:{self.port}{PATHS[name]}"

    @property
    def closed_early(self) -> int:
        """How many answers the other side did not wait for."""
        with self._lock:
            return self._closed

    @property
    def answering(self) -> int:
        """How many answers are under way."""
        with self._lock:
            return self._open

    def wait_for(self, condition: Callable[[Provider], bool], seconds: float = 30.0) -> bool:
        """Wait, blocking, until something is so; whether it came to be."""
        end = time.monotonic() + seconds
        while not condition(self):
            if time.monotonic() > end:
                return False
            time.sleep(POLL_SECONDS)
        return True

    def answer(self, request: Request) -> Answer:
        """Keep a request and find its answer."""
        with self._lock:
            number = len(self.requests)
            self.requests.append(request)
            self._open += 1
        answers = self._answers
        one = answers if callable(answers) else answers[min(number, len(answers) - 1)]
        said = one(request) if callable(one) else one
        return Answer(said) if isinstance(said, str) else said

    def over(self, *, early: bool) -> None:
        """An answer has ended."""
        with self._lock:
            self._open -= 1
            self._closed += early

    @property
    def ending(self) -> threading.Event:
        """Set when every answer has to end."""
        return self._ending


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    provider: Provider

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Connections that break are the point of some tests; they are counted where they are seen."""


class _Gone(Exception):
    """The other side has closed the connection."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 — named by the base class
        """Say nothing."""

    def do_POST(self) -> None:
        provider = self.server.provider
        arrived = time.perf_counter()
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = json.loads(raw or b"{}")
        name = next((name for name, path in PATHS.items() if self.path.startswith(path + "/")), "")
        if self.path.endswith("/api/show"):
            provider.shown.append(body)
            self._whole(*formats.shown(provider.window))
            return
        if not name:
            self._whole(404, {"error": "There is nothing here."})
            return
        headers = {key.lower(): value for key, value in self.headers.items()}
        answer = provider.answer(Request(name, self.path, body, headers, arrived))
        early = False
        try:
            self._wait(answer.delay)
            self._answer(name, body, answer)
        except (_Gone, BrokenPipeError, ConnectionResetError):
            early = True
            self.close_connection = True
        finally:
            provider.over(early=early)

    def _answer(self, name: str, body: dict[str, Any], answer: Answer) -> None:
        # Ollama streams unless it is told not to
        streamed = body.get("stream", name == "ollama_chat")
        if answer.status != 200:
            more = [("Retry-After", answer.retry_after)] if answer.retry_after else []
            self._whole(answer.status, formats.error(name, answer), more)
        elif answer.failure == "close":
            self._hang_up()
        elif answer.failure == "html":
            self._raw(b"<html><body>Please sign in.</body></html>", "text/html")
        elif answer.failure == "empty":
            self._raw(b"", "application/json")
        elif streamed:
            self._stream(name, body, answer)
        elif answer.failure == "malformed":
            self._raw(b'{"id": "x", "choices": [', "application/json")
        elif answer.failure == "cut":
            self._raw(b'{"id": "x", "choices": [', "application/json", length=1000)
            self._hang_up()
        elif answer.failure in ("silent", "endless"):
            self._wait(3600.0)
        else:
            self._whole(200, formats.whole(name, body, answer))

    def _stream(self, name: str, body: dict[str, Any], answer: Answer) -> None:
        self.send_response(200)
        self.send_header(
            "Content-Type", "application/x-ndjson" if name == "ollama_chat" else "text/event-stream"
        )
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()
        if answer.failure == "silent":
            self._wait(3600.0)
        for sent, piece in enumerate(self._pieces(name, body, answer), 1):
            self._chunk(piece)
            if answer.failure == "cut" and sent == 3:
                self._hang_up()
                return
            if answer.failure == "malformed" and sent == 2:
                self._chunk(formats.nonsense(name))
            self._wait(answer.pause)
        self._chunk(b"")

    def _pieces(self, name: str, body: dict[str, Any], answer: Answer) -> Iterator[bytes]:
        if answer.failure == "endless":
            yield from formats.endless(name, body, answer)
        else:
            yield from formats.stream(name, body, answer)

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _whole(self, status: int, value: Any, headers: Sequence[tuple[str, str]] = ()) -> None:
        self._raw(json.dumps(value).encode(), "application/json", status=status, headers=headers)

    def _raw(
        self,
        data: bytes,
        kind: str,
        *,
        status: int = 200,
        length: int | None = None,
        headers: Sequence[tuple[str, str]] = (),
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data) if length is None else length))
        for header in headers:
            self.send_header(*header)
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

    def _hang_up(self) -> None:
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True

    def _wait(self, seconds: float) -> None:
        """Let time pass; notices at once when nobody waits any more."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if self.server.provider.ending.is_set():
                raise _Gone
            readable, _, _ = select.select([self.connection], [], [], min(left, POLL_SECONDS))
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                raise _Gone
