"""Which calls, rounds and moments do the tests of the run store speak of?"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from regreen.values import (
    Attempt,
    CallRecord,
    Diagnosis,
    Message,
    ModelInfo,
    ModelProblem,
    ModelReply,
    Role,
    Round,
    SentRange,
)

REMOTE = ModelInfo("anthropic/some", "anthropic", "api.anthropic.com", False, 200_000, 1e-6, 5e-6)
LOCAL = ModelInfo("ollama_chat/some", "ollama_chat", "127.0.0.1:11434", True, 8192, 0.0, 0.0)


class Watch:
    """A time that tests set."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 14, 12, tzinfo=timezone.utc)

    def __call__(self) -> datetime:
        return self.now

    def go(self, **how: float) -> None:
        self.now += timedelta(**how)


def call(
    heal: str = "a" * 32,
    *,
    text: str = "Why is total(prices) -3?",
    answer: str = "Because it subtracts.",
    info: ModelInfo = REMOTE,
    usd: float | None = 0.01,
    problem: ModelProblem | None = None,
    role: Role = Role.REPAIRER,
    tries: int = 1,
) -> CallRecord:
    return CallRecord(
        heal,
        1,
        role,
        "minimal",
        info,
        (Message("system", "You mend code."), Message("user", text)),
        ModelReply(answer, 120, 30, usd, 1.5, tries, problem, "429 slow down" if problem else ""),
        "repairer/3",
        (SentRange("cart.py", 0, 5),),
        {"key": 2},
    )


def round_(heal: str = "a" * 32, number: int = 1, **changes: object) -> Round:
    values: dict[str, object] = {
        "diagnosis": Diagnosis("wrong operator", "cart.py", 3, "result", "-3", "It subtracts.", "Add.", 0.9),
        "attempts": (
            Attempt("minimal", "-a\n+b\n", "STILL_FAILING", "the test is still red", "AssertionError", "d1"),
            Attempt("guard", "", "elided", "the reply leaves code out", degraded=True),
        ),
        "hint": "look at the loop",
        "model": "anthropic/some",
    }
    return Round(heal, number, **{**values, **changes})  # type: ignore[arg-type]
