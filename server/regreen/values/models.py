"""What is said to a language model, and what comes back?"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class Role(enum.Enum):
    """As what a model is asked."""

    DEBUGGER = "debugger"  # what is wrong?
    REPAIRER = "repairer"  # a patch, please
    CRITIC = "critic"  # what did the tests miss?
    SUMMARISER = "summariser"  # what is worth remembering?
    JUDGE = "judge"  # is the test stale, or the code wrong?


class ModelProblem(enum.Enum):
    """Why a call gave no usable reply. `llm.problems` has a sentence for people for each."""

    MISSING = "missing"  # litellm, or what runs a model file, is not installed
    REFUSED = "refused"  # nothing listens at the address
    DNS = "dns"  # the address has no such host
    NETWORK = "network"  # the connection broke
    TIMEOUT = "timeout"  # the deadline of the call passed
    AUTH = "auth"  # the key is missing or not accepted
    RATE = "rate"  # too many requests, or the quota is used up
    CONTEXT = "context"  # the prompt is longer than the model's context window
    UNKNOWN_MODEL = "unknown-model"  # the provider has no such model, or there is no such provider
    BAD_REQUEST = "bad-request"  # the provider does not take the request
    SERVER = "server"  # the provider failed
    MALFORMED = "malformed"  # the answer is not of the provider's own format, or holds no text
    TRUNCATED = "truncated"  # the reply ended at its limit of tokens
    FILTERED = "filtered"  # the provider's content filter ended the reply
    SILENTLY_CUT = "silently-cut"  # the server read fewer tokens than were sent
    WORKER = "worker"  # the process that talks to models ended


@dataclass(frozen=True, slots=True)
class Message:
    """One message. `role`: "system" | "user" | "assistant"."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One question.

    Args:
        model: as litellm spells it ("anthropic/…", "ollama_chat/…"), or the path of a .gguf file as "gguf:/path".
        messages: what is sent, complete.
        max_tokens: how long the reply may be.
        seconds: the deadline of the whole call, retries and waiting included.
        temperature: None leaves it to the model.
        schema: JSON schema that the reply must follow; None for free text.
        base_url: the address of the server; "" for the provider's own.
        key_variable: the environment variable that holds the key; "" for the provider's own.
        context: how many tokens the model is to take in, prompt and reply (`num_ctx` of local servers).
        retries: how often what is worth retrying is tried again.
        stream: ask for the reply piece by piece.
    """

    model: str
    messages: tuple[Message, ...]
    max_tokens: int
    seconds: float
    temperature: float | None = None
    schema: Mapping[str, Any] | None = None
    base_url: str = ""
    key_variable: str = ""
    context: int | None = None
    retries: int = 2
    stream: bool = True


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What came back.

    Args:
        text: the reply; what there was of it where `problem` says that it is not whole.
        prompt_tokens, completion_tokens: as the provider counted them, else as counted here.
        usd: an estimate from the provider's list price; None where no price is known.
        seconds: from the request to the end.
        tries: requests that were made.
        problem: None when the reply is whole.
        detail: the provider's own words about the problem, without secrets, for the log; "" when there is none.
    """

    text: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = None
    seconds: float = 0.0
    tries: int = 1
    problem: ModelProblem | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What is known about a model before it is asked.

    Args:
        provider: who runs it ("anthropic", "ollama_chat", "gguf", "scripted").
        address: where requests go ("api.anthropic.com"); "" for a model inside of the worker.
        local: nothing leaves this machine: the address is a loopback one, or there is none.
        context: the context window in tokens; None when unknown.
        input_usd, output_usd: price of one token; None when unknown. A local model's is 0.
        problem: why it cannot be used; None when nothing is known against it.
        detail: as in `ModelReply`.
    """

    model: str
    provider: str = ""
    address: str = ""
    local: bool = False
    context: int | None = None
    input_usd: float | None = None
    output_usd: float | None = None
    problem: ModelProblem | None = None
    detail: str = ""

    def price(self, prompt_tokens: int, max_tokens: int) -> float | None:
        """The most that a call may cost, in USD; None when the price is unknown."""
        if self.input_usd is None or self.output_usd is None:
            return None
        return prompt_tokens * self.input_usd + max_tokens * self.output_usd


@dataclass(frozen=True, slots=True)
class SentRange:
    """Lines of a file that stood in a prompt: 0-based, the end exclusive; the path is relative to the project."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call as it is kept.

    Args:
        heal: the id of the heal, as in `HealResult.heal`.
        round: 0 for the diagnosis, then from 1.
        role: as what the model was asked.
        purpose: what for, within the role ("minimal", "step 2", "asked again").
        prompt: every byte that was sent, as messages.
        ranges: the parts of the user's files in it.
        masked: what was masked in it: the sort of secret → how often.
        degraded: the reply had to be salvaged, or another model answered.
    """

    heal: str
    round: int
    role: Role
    purpose: str
    info: ModelInfo
    prompt: tuple[Message, ...]
    reply: ModelReply
    prompt_version: str = ""
    ranges: tuple[SentRange, ...] = ()
    masked: Mapping[str, int] | None = None
    degraded: bool = False


@dataclass(frozen=True, slots=True)
class Attempt:
    """One candidate of a model, as it is kept and told to the next round.

    Args:
        strategy: "minimal" | "restructure" | "guard".
        diff: what it would have changed; "" when the reply gave no patch.
        verdict: the name of its verdict, or of why the reply was refused ("elided", "no-match", …).
        reason: one line for people.
        signature: of the failure that was left, equal for the same failure; "" when none was.
        patch_digest: equal for patches that differ only in blanks and comments.
        degraded: as of its call.
    """

    strategy: str
    diff: str
    verdict: str
    reason: str
    signature: str = ""
    patch_digest: str = ""
    degraded: bool = False


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the debugger makes of a failure.

    Args:
        category: one or two words ("off by one").
        path, line: where the cause is: relative to the project, 0-based.
        variable, value: what shows it; "" when nothing does.
        cause, plan: sentences for people and for the repairer.
        confidence: 0 to 1, the model's own.
        degraded: as of its last call.
    """

    category: str
    path: str
    line: int
    variable: str
    value: str
    cause: str
    plan: str
    confidence: float
    degraded: bool = False


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a model takes to be out of date.

    Args:
        side: "test" | "code" | "unclear".
        why: the evidence, in a sentence or two.
        expectation: the assertion as it would have to be; "" where none is proposed.
    """

    side: str
    why: str
    expectation: str = ""


@dataclass(frozen=True, slots=True)
class Round:
    """One round of a model's heal: 0 is the diagnosis, further ones are patches that were tried.

    Args:
        stop: why the heal ended with this round ("verified", "max-rounds", "no-improvement", "stuck", "budget",
            "infrastructure", "cancelled"); "" when it went on.
        hint: what the user said before it.
        model: the one that was asked first.
    """

    heal: str
    number: int
    diagnosis: Diagnosis | None = None
    attempts: tuple[Attempt, ...] = ()
    stop: str = ""
    hint: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class Lesson:
    """One sentence worth remembering.

    Args:
        key: of the stored one, 0 before it is.
        signature: of the failure that it is about (exception and message without values).
        code: words of the code that it is about, for the search.
    """

    text: str
    signature: str
    code: str
    key: int = 0


@dataclass(frozen=True, slots=True)
class Spent:
    """What calls cost together. `usd` counts only calls with a known price; `unpriced` says how many had none."""

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    unpriced: int = 0
