"""What do the commands that show the run store read from it?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from regreen.values import Message, Round, SentRange, Spent


@dataclass(frozen=True, slots=True)
class Run:
    """One heal, on one line.

    Args:
        id: in the store.
        at: when it ended, or of an unfinished one when it was last heard of (ISO 8601, UTC).
        project: the project's folder.
        nodeid, outcome: "" while it is unfinished, or when it never ended.
        seconds: how long it took.
        fixes: how many were offered.
        rounds: how many rounds of a model.
        stop: why the last of them was the last; "" when nobody said.
        spent: what models cost.
    """

    id: str
    at: str
    project: str
    nodeid: str
    outcome: str
    seconds: float
    fixes: int
    rounds: int
    stop: str
    spent: Spent


@dataclass(frozen=True, slots=True)
class Offered:
    """A fix that was offered. `mark`: "accepted" | "undone" | "", the user's last word; `origin`: "template" | "model"."""

    rank: int
    fix: str
    template: str
    origin: str
    diff: str
    still_green: int
    runs: int
    mark: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A call, as `values.CallRecord` has it, without what was said.

    Args:
        call: its number in the store.
        heal: the id of its heal.
        at: when it ended (ISO 8601, UTC).
        sent: whether anybody received the request.
        usd: an estimate; None when no price is known.
        problem: `ModelProblem`'s value; "" when the reply is whole.
        bytes: of all messages.
        reply_digest: SHA-256 of the reply's text.
    """

    call: int
    heal: str
    at: str
    project: str
    round: int
    role: str
    purpose: str
    model: str
    provider: str
    address: str
    local: bool
    sent: bool
    prompt_tokens: int
    completion_tokens: int
    usd: float | None
    seconds: float
    tries: int
    problem: str
    degraded: bool
    prompt_version: str
    bytes: int
    ranges: tuple[SentRange, ...]
    masked: Mapping[str, int]
    reply_digest: str


@dataclass(frozen=True, slots=True)
class Said:
    """What was sent and what came back, complete; `detail`: the provider's words about a problem."""

    prompt: tuple[Message, ...]
    reply: str
    detail: str


@dataclass(frozen=True, slots=True)
class WholeRun:
    """All that is known of one heal.

    Args:
        exception: the failure's type; "" while it is unfinished.
        tried: verdict name → how many candidates ended so.
        said: by number of call; calls whose texts were forgotten are missing.
    """

    run: Run
    exception: str
    tried: Mapping[str, int]
    fixes: tuple[Offered, ...]
    rounds: tuple[Round, ...]
    calls: tuple[Asked, ...]
    said: Mapping[int, Said]


@dataclass(frozen=True, slots=True)
class Cost:
    """What calls of one day (UTC, "2026-03-14"), role and model cost."""

    day: str
    role: str
    model: str
    local: bool
    spent: Spent


@dataclass(frozen=True, slots=True)
class RoleUse:
    """How one role was asked. `seconds`: the median of a call; `problems`: calls that gave no usable reply."""

    role: str
    spent: Spent
    seconds: float
    problems: int
    degraded: int


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of the fixes of one template family, template or strategy.

    Args:
        name: "comparison", or a model's strategy.
        origin: "template" | "model".
        offers: how often one was offered.
        accepted, undone: the user's last word on each fix; marks outlive the heals they are about.
    """

    name: str
    origin: str
    offers: int
    accepted: int
    undone: int


@dataclass(frozen=True, slots=True)
class Strategy:
    """How attempts of one strategy of a model ended: verdict → how many."""

    name: str
    attempts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Stats:
    """What Regreen has been good for.

    Args:
        outcomes: outcome → how many heals.
        seconds: the median of a heal; of those that ended in a verified fix `seconds_verified`; None when there is none.
        taken: by template family and strategy, the most offered first.
    """

    outcomes: Mapping[str, int]
    seconds: float | None
    seconds_verified: float | None
    taken: tuple[Taken, ...]
    strategies: tuple[Strategy, ...]
    roles: tuple[RoleUse, ...]
    spent: Spent


@dataclass(frozen=True, slots=True)
class KeptLesson:
    """A lesson. `accepted`: a fix of its heal is, so it is told to models."""

    key: int
    at: str
    project: str
    heal: str
    text: str
    signature: str
    accepted: bool
