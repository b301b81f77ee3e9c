"""Is no call made that could cost more than the user agreed to, whatever is in flight, here or elsewhere?"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regreen.history import Store
from regreen.history.journal import GRACE_SECONDS
from regreen.llm.budget import FREE, Purse, Reservation
from regreen.settings import Settings
from regreen.values import (
    CallRecord,
    Message,
    ModelInfo,
    ModelProblem,
    ModelReply,
    Project,
    Role,
)

INFO = ModelInfo("anthropic/some", "anthropic", "api.anthropic.com", input_usd=0.001, output_usd=0.001)
LOCAL = ModelInfo("gguf:/m", "gguf", local=True, input_usd=0.0, output_usd=0.0)
UNKNOWN = ModelInfo("custom/x", "custom", "example.org")
WIDE = Settings(
    budget_fix_usd=1000, budget_day_usd=10_000, budget_calls=1000, budget_tokens=10**8, budget_seconds=86_400
)


class Time:
    """A clock and a calendar that tests set; implements `ports.Clock`."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.seconds += seconds

    def now(self) -> datetime:
        return datetime(2026, 3, 14, 12, tzinfo=timezone.utc) + timedelta(seconds=self.seconds)


class Desk:
    """One store, and all that is done to it."""

    def __init__(self, folder: Path) -> None:
        self.time = Time()
        self.path = folder / "history.sqlite3"
        self.store = Store(self.path, now=self.time.now)
        self.project = Project(folder, folder)

    def purse(self, settings: Settings, heal: str = "heal") -> Purse:
        return Purse(self.store, settings, self.time, heal)

    async def end(
        self, purse: Purse, reservation: Reservation, reply: ModelReply, heal: str = "heal"
    ) -> None:
        record = CallRecord(heal, 1, Role.REPAIRER, "minimal", INFO, (Message("user", "?"),), reply)
        self.store.record_call(self.project, record)
        await purse.settle(reservation, reply)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


async def granted(purse: Purse, tokens: int = 50, info: ModelInfo = INFO) -> Reservation:
    answer = await purse.reserve(info, tokens, tokens)
    assert isinstance(answer, Reservation), answer
    return answer


async def refused(purse: Purse, tokens: int = 50, info: ModelInfo = INFO) -> str:
    answer = await purse.reserve(info, tokens, tokens)
    assert isinstance(answer, str)
    return answer


async def test_calls_in_flight_count_before_they_are_made(desk: Desk) -> None:
    purse = desk.purse(replace(WIDE, budget_fix_usd=0.25))
    first = await granted(purse)
    second = await granted(purse)
    assert (first.usd, first.tokens) == (0.1, 100)
    assert (
        "$0.1000, and of $0.25 for this test only $0.0500 are left (regreen.budget.perFixUsd)"
        in await refused(purse)
    )
    await desk.end(purse, first, ModelReply(usd=0.02))
    await granted(purse)
    await desk.end(purse, second, ModelReply(usd=0.1))
    assert "perFixUsd" in await refused(purse)


async def test_what_fits_exactly_is_allowed(desk: Desk) -> None:
    purse = desk.purse(replace(WIDE, budget_fix_usd=0.3))
    for _ in range(3):
        await granted(purse)
    assert "perFixUsd" in await refused(purse, 1)


async def test_the_day_is_one_over_all_heals_and_ends_at_midnight(desk: Desk) -> None:
    limited = replace(WIDE, budget_day_usd=0.15)
    one, other = desk.purse(limited, "one"), desk.purse(limited, "other")
    reservation = await granted(one)
    assert "regreen.budget.perDayUsd" in await refused(other)
    await desk.end(one, reservation, ModelReply(usd=0.1), "one")
    assert "regreen.budget.perDayUsd" in await refused(other)
    desk.time.seconds += 12 * 3600
    await granted(other)


@pytest.mark.parametrize(
    ("limit", "named"),
    [
        ({"budget_calls": 2}, "regreen.budget.maxCalls"),
        ({"budget_tokens": 299}, "regreen.budget.maxTokens"),
        ({"budget_fix_usd": 0.299}, "regreen.budget.perFixUsd"),
        ({"budget_day_usd": 0.299}, "regreen.budget.perDayUsd"),
    ],
)
async def test_each_budget_refuses_and_names_its_setting(
    desk: Desk, limit: dict[str, float], named: str
) -> None:
    purse = desk.purse(replace(WIDE, **limit))  # type: ignore[arg-type]
    await granted(purse)
    reservation = await granted(purse)
    assert named in await refused(purse)
    await purse.settle(reservation, ModelReply(problem=ModelProblem.REFUSED))
    await granted(purse)


async def test_a_call_may_take_no_longer_than_the_seconds_that_are_left(desk: Desk) -> None:
    purse = desk.purse(replace(WIDE, budget_seconds=100))
    first = await granted(purse)
    desk.time.seconds += 30
    second = await granted(purse)
    assert (first.seconds, second.seconds) == (100, 70)
    desk.time.seconds += 30
    await purse.settle(first, ModelReply(usd=0))
    await purse.settle(second, ModelReply(usd=0))
    desk.time.seconds += 1000
    assert purse.seconds == 60
    third = await granted(purse)
    assert third.seconds == 40
    desk.time.seconds += 39.5
    await purse.settle(third, ModelReply(usd=0))
    assert "regreen.budget.maxSeconds" in await refused(purse)


async def test_an_unknown_price_is_refused_unless_it_is_allowed_and_then_counts_as_nothing(
    desk: Desk,
) -> None:
    assert "custom/x is not known" in await refused(desk.purse(WIDE), info=UNKNOWN)
    purse = desk.purse(replace(WIDE, budget_unknown_price=True, budget_fix_usd=0, budget_calls=1))
    assert (await granted(purse, info=UNKNOWN)).usd == 0
    assert "maxCalls" in await refused(purse, info=UNKNOWN)


async def test_what_costs_nothing_needs_no_money(desk: Desk) -> None:
    purse = desk.purse(replace(WIDE, budget_fix_usd=0, budget_day_usd=0))
    await granted(purse, info=LOCAL)
    assert "perFixUsd" in await refused(purse, 1)


async def test_tries_that_may_each_be_charged_for_are_all_reserved(desk: Desk) -> None:
    purse = desk.purse(replace(WIDE, budget_fix_usd=0.25))
    assert isinstance(await purse.reserve(INFO, 50, 50, tries=3), str)
    answer = await purse.reserve(INFO, 50, 50, tries=2)
    assert isinstance(answer, Reservation)
    assert (answer.usd, answer.tokens) == (0.2, 200)


@pytest.mark.parametrize("problem", [None, *sorted(set(ModelProblem) - FREE, key=lambda one: one.value)])
async def test_a_call_that_does_not_tell_its_cost_may_have_cost_the_most(
    desk: Desk, problem: ModelProblem | None
) -> None:
    limited = replace(WIDE, budget_fix_usd=0.15, budget_day_usd=0.15, budget_calls=2)
    purse = desk.purse(limited)
    await desk.end(purse, await granted(purse), ModelReply(problem=problem))
    assert "perFixUsd" in await refused(purse)
    assert "perDayUsd" in await refused(desk.purse(limited, "other"))
    await granted(purse, info=LOCAL)  # the second call, not the third
    desk.time.seconds += 24 * 3600
    await granted(desk.purse(limited, "tomorrow"))


async def test_a_call_whose_answer_nobody_heard_counts_whole(desk: Desk) -> None:
    purse = desk.purse(replace(WIDE, budget_calls=1))
    await purse.settle(await granted(purse), None)
    assert "maxCalls" in await refused(purse)


async def test_settling_twice_is_settling_once(desk: Desk) -> None:
    purse = desk.purse(replace(WIDE, budget_fix_usd=0.15))
    reservation = await granted(purse)
    await purse.settle(reservation, ModelReply(usd=0))
    await purse.settle(reservation, None)
    await granted(purse)


async def test_a_store_that_cannot_be_used_lets_no_call_go(desk: Desk) -> None:
    desk.path.write_bytes(b"this is no database" * 100)
    assert "cannot be checked" in await refused(desk.purse(WIDE))


async def test_being_cancelled_while_asking_reserves_nothing(desk: Desk) -> None:
    purse = desk.purse(replace(WIDE, budget_calls=1))
    for rounds in range(6):
        task = asyncio.ensure_future(purse.reserve(INFO, 50, 50))
        for _ in range(rounds):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    await granted(purse)


def test_what_a_process_that_ended_had_in_flight_is_forgotten(desk: Desk) -> None:
    program = (
        "import asyncio, sys\nfrom pathlib import Path\nfrom tests.unit.llm.test_budget import *\n"
        "desk = Desk(Path(sys.argv[1]))\n"
        "print(type(asyncio.run(desk.purse(WIDE).reserve(INFO, 50, 50))).__name__, flush=True)\n"
        "sys.stdin.read()\n"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", program, str(desk.path.parent)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert other.stdout is not None
    assert other.stdout.readline() == "Reservation\n"
    purse = desk.purse(replace(WIDE, budget_day_usd=0.15), "mine")
    assert "perDayUsd" in asyncio.run(refused(purse))
    other.kill()
    other.communicate()
    asyncio.run(granted(purse))


async def test_a_call_that_must_have_ended_is_forgotten(desk: Desk) -> None:
    limited = replace(WIDE, budget_day_usd=0.15, budget_seconds=100)
    await granted(desk.purse(limited, "forgotten"))
    desk.time.seconds += 100 + GRACE_SECONDS - 1
    assert "perDayUsd" in await refused(desk.purse(limited, "next"))
    desk.time.seconds += 2
    await granted(desk.purse(limited, "next"))


def test_processes_that_ask_at_once_do_not_overdraw_the_day(tmp_path: Path) -> None:
    program = (
        "import asyncio, sys\nfrom pathlib import Path\nfrom tests.unit.llm.test_budget import *\n"
        "desk = Desk(Path(sys.argv[1]))\n"
        "purse = desk.purse(replace(WIDE, budget_day_usd=1.0), sys.argv[2])\n"
        "async def main():\n"
        "    sys.stdin.readline()\n"
        "    answers = await asyncio.gather(*(purse.reserve(INFO, 50, 50) for _ in range(8)))\n"
        "    print(sum(isinstance(one, Reservation) for one in answers), flush=True)\n"
        "    sys.stdin.read()\n"  # what is reserved stays so until all have asked
        "asyncio.run(main())\n"
    )
    started = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path), name],
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("a", "b", "c")
    ]
    for one in started:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    counts = [int(one.stdout.readline()) for one in started if one.stdout is not None]
    for one in started:
        one.communicate()
    assert sum(counts) == 10


steps = st.lists(
    st.tuples(
        st.sampled_from(["ask", "ask", "ask", "answer", "nothing", "unheard"]),
        st.integers(0, 2),  # which heal asks, or which call in flight ends
        st.integers(0, 120),  # tokens, or the part of the worst case that it cost
    ),
    max_size=25,
)


@settings(max_examples=40, deadline=None)
@given(steps)
def test_whatever_is_in_flight_the_worst_case_never_passes_a_cap(
    sequence: Sequence[tuple[str, int, int]],
) -> None:
    caps = replace(WIDE, budget_fix_usd=0.3, budget_day_usd=0.5, budget_tokens=290, budget_calls=5)

    async def play(desk: Desk) -> None:
        purses = [desk.purse(caps, str(heal)) for heal in range(3)]
        flying: list[tuple[int, Reservation]] = []
        # (heal, calls, tokens, dollars) of what ended, as bad as it may have been
        ended: list[tuple[int, int, int, float]] = []
        for what, which, size in sequence:
            if what == "ask":
                answer = await purses[which].reserve(INFO, size, size)
                if isinstance(answer, Reservation):
                    flying.append((which, answer))
            elif flying:
                heal, reservation = flying.pop(which % len(flying))
                if what == "unheard":
                    await purses[heal].settle(reservation, None)
                    ended.append((heal, 1, reservation.tokens, reservation.usd))
                else:
                    usd = reservation.usd * min(size, 100) / 100 if what == "answer" else None
                    reply = ModelReply(
                        prompt_tokens=reservation.tokens // 2,
                        usd=usd,
                        problem=None if what == "answer" else ModelProblem.TIMEOUT,
                    )
                    await desk.end(purses[heal], reservation, reply, str(heal))
                    ended.append((heal, 1, reservation.tokens // 2, reservation.usd if usd is None else usd))
            worst = [*ended, *((heal, 1, one.tokens, one.usd) for heal, one in flying)]
            assert sum(one[3] for one in worst) <= caps.budget_day_usd + 1e-6
            for heal in range(3):
                mine = [one for one in worst if one[0] == heal]
                assert sum(one[1] for one in mine) <= caps.budget_calls
                assert sum(one[2] for one in mine) <= caps.budget_tokens
                assert sum(one[3] for one in mine) <= caps.budget_fix_usd + 1e-6

    with TemporaryDirectory() as folder:
        asyncio.run(play(Desk(Path(folder))))
