"""What went wrong, told from whatever litellm raised, and is it worth another try?

litellm's own classes tell little: a refused connection, an unknown host, nonsense and a missing key are all an "internal
server error". What happened stands in the chain of causes: a real HTTP status, or an error of the network beneath.
"""

from __future__ import annotations

import email.utils
import json
import re
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

RETRIED = frozenset({"rate", "server", "network"})
"""Problems that may be gone a moment later. All others stay: what was refused, not found, not understood or too long
now will be the next time, and a deadline that has passed leaves no time."""

_BY_STATUS = {
    400: "bad-request",
    401: "auth",
    402: "rate",  # the quota is used up
    403: "auth",
    404: "unknown-model",
    405: "bad-request",
    408: "timeout",
    409: "server",
    413: "context",
    422: "bad-request",
    429: "rate",
}
_BY_NAME = {
    "ContextWindowExceededError": "context",
    "ContentPolicyViolationError": "filtered",
    "AuthenticationError": "auth",
    "PermissionDeniedError": "auth",
    "NotFoundError": "unknown-model",
    "RateLimitError": "rate",
}
_TOO_LONG = re.compile(
    r"context.{0,12}(length|window|size)|prompt is too long|too many (input )?tokens|maximum context|exceeds? the (available )?context",
    re.IGNORECASE,
)
_NO_KEY = re.compile(
    r"api[_ ]?key.{0,40}(must be set|missing|not (been )?(set|provided|found))|missing.{0,30}(api[_ ]?key|credentials)",
    re.IGNORECASE,
)
_USED_UP = re.compile(
    r"insufficient_quota|exceeded your current quota|credit balance|billing|payment", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Trouble:
    """A problem.

    Args:
        problem: its code, as in `ModelProblem`.
        words: of the provider or of the network, secrets included.
        again: it may be gone a moment later.
        wait: what the server wants to be waited for, in seconds; None when it did not say.
    """

    problem: str
    words: str
    again: bool
    wait: float | None = None


class NoReply(Exception):
    """What came is no reply; raised by our own reading.

    Args:
        problem: its code.
    """

    def __init__(self, problem: str, words: str) -> None:
        super().__init__(words)
        self.problem = problem


def trouble(error: BaseException) -> Trouble:
    """What an exception tells."""
    chain = list(_chain(error))
    words = _words(error)
    everything = " ".join(str(one) for one in chain)
    problem = _problem(error, chain, everything)
    again = problem in RETRIED and not (problem == "rate" and _USED_UP.search(everything))
    return Trouble(problem, words, again, _wait(chain) if again else None)


def _problem(error: BaseException, chain: list[BaseException], everything: str) -> str:
    if isinstance(error, NoReply):
        return error.problem
    if isinstance(error, ImportError):
        return "missing"
    status = _status(chain)
    if any(type(one).__name__ == "ContextWindowExceededError" for one in chain) or (
        status in (None, 400, 413, 422, 500) and _TOO_LONG.search(everything)
    ):
        return "context"
    if status is not None and status != 200:
        named = next((_BY_NAME[type(one).__name__] for one in chain if type(one).__name__ in _BY_NAME), "")
        return named or _BY_STATUS.get(status, "server" if status >= 500 else "bad-request")
    if beneath := _beneath(chain):
        return beneath
    if _NO_KEY.search(everything):
        return "auth"
    if "LLM Provider NOT provided" in everything:
        return "unknown-model"
    names = {type(one).__name__ for one in chain}
    if "BadRequestError" in names or "UnsupportedParamsError" in names:
        return "bad-request"
    named = next((_BY_NAME[type(one).__name__] for one in chain if type(one).__name__ in _BY_NAME), "")
    return named or "malformed"


def _beneath(chain: list[BaseException]) -> str:
    """What the network, or the reading of what it brought, says."""
    names = {type(one).__name__ for one in chain}
    if any(isinstance(one, ConnectionRefusedError) for one in chain):
        return "refused"
    if any(isinstance(one, socket.gaierror) for one in chain) or "ClientConnectorDNSError" in names:
        return "dns"
    if any(isinstance(one, ssl.SSLError) for one in chain):
        return "network"
    if any(isinstance(one, json.JSONDecodeError) for one in chain):
        return "malformed"
    if any(isinstance(one, TimeoutError) for one in chain) or any("Timeout" in name for name in names):
        return "timeout"
    if any("Empty or invalid response" in str(one) for one in chain):
        return "malformed"
    if any(isinstance(one, (ConnectionError, OSError)) for one in chain) or names & _BROKEN:
        return "network"
    return ""


_BROKEN = frozenset(
    {
        "ReadError",
        "WriteError",
        "ConnectError",
        "CloseError",
        "RemoteProtocolError",
        "LocalProtocolError",
        "ClientPayloadError",
        "ClientConnectorError",
        "ServerDisconnectedError",
        "ProxyError",
    }
)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception and what led to it, nearest first."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop(0)
        if one is None or id(one) in seen or not isinstance(one, BaseException):
            continue
        seen.add(id(one))
        yield one
        waiting += [one.__cause__, one.__context__, getattr(one, "original_exception", None)]


def _status(chain: list[BaseException]) -> int | None:
    """The status that a server really sent; None when no answer came. litellm invents one otherwise."""
    for one in reversed(chain):
        if type(one).__name__ == "HTTPStatusError" or type(one).__module__.startswith("openai"):
            status = getattr(getattr(one, "response", None), "status_code", None)
            if isinstance(status, int):
                return status
    return None


def _wait(chain: list[BaseException]) -> float | None:
    """What the header Retry-After says, in seconds."""
    for one in chain:
        headers: Any = getattr(getattr(one, "response", None), "headers", None) or getattr(
            one, "headers", None
        )
        value = headers.get("retry-after") if headers is not None else None
        if value:
            return seconds_of(str(value))
    return None


def seconds_of(value: str) -> float | None:
    """Seconds of a Retry-After header: a number, or a date; None for anything else."""
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        when = email.utils.parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    when = when if when.tzinfo else when.replace(tzinfo=timezone.utc)
    return max(0.0, (when - datetime.now(timezone.utc)).total_seconds())


def _words(error: BaseException) -> str:
    """The first sentence, without litellm's own names before it and the traceback that it may quote."""
    text = str(getattr(error, "message", "") or error).split("Traceback (most recent call last)")[0].strip()
    text = re.sub(r"^(litellm\.\w+: |\w+Error: |\w+Exception - )+", "", text)
    return text or type(error).__name__
