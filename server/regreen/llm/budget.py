"""May this call be made, given what it may come to and what the user agreed to?

Asked before each call, with the worst case of every call in flight, in this process and in others: what is reserved
stands in the run store, and a reservation is made in one transaction with the sums that allow it.

A caller does, in this order: `reserve`; the call, no longer than the reservation's seconds; `Journal.record_call`;
`settle`. Between the last two a call counts twice, never not at all.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial

from regreen.platform.background import run_blocking
from regreen.platform.waiting import uninterrupted
from regreen.ports import Clock, Journal
from regreen.settings import Settings
from regreen.values import ModelInfo, ModelProblem, ModelReply, Spent

FREE = frozenset(
    {
        ModelProblem.MISSING,
        ModelProblem.REFUSED,
        ModelProblem.DNS,
        ModelProblem.AUTH,
        ModelProblem.RATE,
        ModelProblem.CONTEXT,
        ModelProblem.UNKNOWN_MODEL,
        ModelProblem.BAD_REQUEST,
        ModelProblem.SERVER,
    }
)
"""With these nobody was at work. After anything else a provider may charge, also when it tells no cost."""

TOLERANCE = 1e-9
"""US dollars that sums of rounded fractions may be off."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """Leave for one call.

    Args:
        key: in the run store.
        usd: the most that it may cost; 0 when the price is unknown and the user allows that.
        tokens: the most that it may take, sent and received.
        seconds: when the call must end at the latest.
    """

    key: int
    usd: float
    tokens: int
    seconds: float


class Purse:
    """What one heal may still spend.

    Time is counted while at least one call is in flight, calls at once only once.

    Args:
        journal: the run store.
        settings: whose budgets hold.
        clock: what seconds are counted by.
        heal: the heal's id in the run store.
    """

    def __init__(self, journal: Journal, settings: Settings, clock: Clock, heal: str) -> None:
        self._journal = journal
        self._settings = settings
        self._clock = clock
        self._heal = heal
        self._flying: set[int] = set()
        self._began = 0.0
        self._seconds = 0.0

    @property
    def seconds(self) -> float:
        """How long models have been at work on this heal."""
        return self._seconds + (self._clock.monotonic() - self._began if self._flying else 0.0)

    async def reserve(
        self, info: ModelInfo, prompt_tokens: int, max_tokens: int, *, tries: int = 1
    ) -> Reservation | str:
        """Ask for leave to make one call.

        Args:
            info: the model that will be asked.
            prompt_tokens: what is sent, as near as is known.
            max_tokens: the most that may come back.
            tries: how often a provider may charge for it, which is more than once where calls that broke in the
                middle are made again.

        Returns:
            The reservation, to be settled whatever happens; or a sentence for the user that names the budget and the
            setting.
        """
        price = info.price(prompt_tokens, max_tokens)
        if price is None and not self._settings.budget_unknown_price:
            return (
                f"The price of {info.model} is not known, so no budget can hold; "
                "regreen.budget.unknownPrice allows such calls, which then count as nothing."
            )
        left = self._settings.budget_seconds - self.seconds
        if left < 1:
            return (
                f"Models were at work on this test for {self.seconds:.0f} s; "
                f"regreen.budget.maxSeconds allows {self._settings.budget_seconds:g} s."
            )
        usd, tokens = (price or 0.0) * tries, (prompt_tokens + max_tokens) * tries
        key, refusal = await self._reserved(Spent(1, tokens, usd), left)
        if refusal:
            return refusal
        if not self._flying:
            self._began = self._clock.monotonic()
        self._flying.add(key)
        return Reservation(key, usd, tokens, left)

    async def settle(self, reservation: Reservation, reply: ModelReply | None) -> None:
        """The call ended, and is recorded if there is a reply. Runs to its end also when it is cancelled.

        Args:
            reservation: the call's; a second time does nothing.
            reply: what came back; None when nobody heard the answer, as after a cancellation.
        """
        if reservation.key not in self._flying:
            return
        self._flying.discard(reservation.key)
        if not self._flying:
            self._seconds += self._clock.monotonic() - self._began
        known = reply is not None and (reply.usd is not None or reply.problem in FREE)
        if known or not (reservation.usd or reply is None):
            done = partial(self._journal.release, reservation.key)
        else:
            done = partial(self._journal.lose, reservation.key, recorded=reply is not None)
        await uninterrupted(run_blocking(done))

    async def _reserved(self, worst: Spent, seconds: float) -> tuple[int, str]:
        """Reserve in the store; a caller that is cancelled meanwhile leaves nothing reserved."""
        asked = asyncio.ensure_future(
            run_blocking(
                self._journal.reserve, self._heal, worst, seconds, partial(_objection, self._settings, worst)
            )
        )
        try:
            return await uninterrupted(asked)
        except asyncio.CancelledError:
            if asked.exception() is None:
                key, _ = asked.result()
                await uninterrupted(run_blocking(self._journal.release, key))
            raise


def _objection(settings: Settings, worst: Spent, heal: Spent, day: Spent) -> str:
    """Which budget the call would overdraw, in a sentence; "" for none.

    Args:
        settings: the budgets.
        worst: what the call may come to.
        heal: what the heal then comes to, with all of its calls in flight.
        day: the same for the day.
    """
    if heal.calls > settings.budget_calls:
        return (
            f"Models were asked {heal.calls - worst.calls} times for this test, which is all that "
            "regreen.budget.maxCalls allows."
        )
    if heal.tokens > settings.budget_tokens:
        return (
            f"The next call may take {worst.tokens} tokens, and of {settings.budget_tokens} for this test only "
            f"{_left(settings.budget_tokens, heal.tokens, worst.tokens):.0f} are left (regreen.budget.maxTokens)."
        )
    for budget, cap, sum_ in (
        ("for this test", settings.budget_fix_usd, heal.usd),
        ("for today", settings.budget_day_usd, day.usd),
    ):
        if sum_ > cap + TOLERANCE:
            name = "perFixUsd" if budget == "for this test" else "perDayUsd"
            return (
                f"The next call may cost ${worst.usd:.4f}, and of ${cap:.2f} {budget} only "
                f"${_left(cap, sum_, worst.usd):.4f} are left (regreen.budget.{name})."
            )
    return ""


def _left(cap: float, sum_: float, worst: float) -> float:
    return max(0.0, cap - (sum_ - worst))
