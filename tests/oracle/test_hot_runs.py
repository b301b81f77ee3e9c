"""A candidate that is tried hot gets the verdict that a run of its own would give it."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from typing import Any

import psutil
import pytest
from tests.oracle.world import World, working_in

from regreen.oracle import hot
from regreen.values import Rung, RunReport, RunRequest, TestStatus

SHOP = '''
    TAX = {"book": 7, "tea": 19}
    calls = []


    class Cart:
        """Prices by name."""

        def __init__(self, prices=None):
            self._prices = dict(prices or {})

        def total(self):
            result = 0
            for name, price in self._prices.items():
                result -= price
            return result

        @property
        def names(self):
            return sorted(self._prices)

        def each(self):
            for name in self.names:
                yield name, self._prices[name]

        async def later(self):
            return self.total()


    def taxed(cart):
        calls.append(cart)
        assert len(calls) == 1, "state of an earlier candidate"
        return sum(price * (100 + TAX[name]) // 100 for name, price in cart.each())


    def rounded(n, step=10):
        def down(m):
            return m - m % step

        return down(n)


    DEFAULT = rounded(25)
    '''
TESTS = """
    import asyncio
    import shop

    def test_cart():
        cart = shop.Cart({"tea": 100, "book": 200})
        assert shop.taxed(cart) == 333
        assert cart.names == ["book", "tea"]
        assert asyncio.run(cart.later()) == cart.total() == 300
        assert shop.rounded(39) == 30
    """
TARGET = "tests/test_shop.py::test_cart"
EDITS = [  # (old, new, can be had by swapping)
    ("result -= price", "result += price", True),
    ("result -= price", "result *= price", True),
    ("result -= price", "result += undefined", True),
    ("result -= price", "raise SystemExit", True),
    ("result = 0", "result = 0; import os; os._exit(0)", True),
    ("return sorted(self._prices)", "return list(self._prices)", True),
    ("yield name, self._prices[name]", "yield name", True),
    ("yield name, self._prices[name]", "return [name]", False),
    ("return self.total()", "return await self.total()", True),
    ("(100 + TAX[name])", "(100 - TAX[name])", True),
    ('{"book": 7, "tea": 19}', '{"book": 7, "tea": 7}', False),
    ("return m - m % step", "return m", False),  # it ran for DEFAULT
    ("def rounded(n, step=10)", "def rounded(n, step=1)", False),
    ("dict(prices or {})", "prices", True),
    ('"""Prices by name."""', '"""Prices."""', False),
]


@pytest.fixture
def shop(world: World) -> World:
    world.write(shop=SHOP, tests__test_shop=TESTS)
    (world.root / "pyproject.toml").write_text("[tool.pytest.ini_options]\npythonpath = ['.']\n")
    return world


async def _try(world: World, old: str, new: str, rung: Rung, **fields: Any) -> RunReport:
    path = world.root / "shop.py"
    text = path.read_text()
    assert old in text
    overlay = {path: text.replace(old, new, 1).encode()}
    return await world.run(
        TARGET, overlay=overlay, rung=rung, details=False, stop_at_first_failure=True, **fields
    )


def _verdict(report: RunReport) -> list[tuple[str, str, str, str]]:
    return [
        (
            nodeid,
            one.status.value,
            *((f.exception, re.sub("0x[0-9a-f]+", "", f.message)) if (f := one.failure) else ("", "")),
        )
        for nodeid, one in report.outcomes.items()
    ]


async def test_hot_and_warm_agree_about_every_candidate(shop: World) -> None:
    for old, new, can_swap in EDITS:
        tried = await _try(shop, old, new, Rung.HOT)
        own = await _try(shop, old, new, Rung.WARM)
        assert _verdict(tried) == _verdict(own), new
        ends = any(word in new for word in ("_exit", "SystemExit"))
        assert ends or (tried.rung is Rung.HOT) == can_swap, (new, tried.rung)


async def test_many_candidates_at_once_do_not_disturb_each_other(shop: World) -> None:
    reports = await asyncio.gather(*(_try(shop, old, new, Rung.HOT) for old, new, _ in EDITS * 2))
    assert [_verdict(r) for r in reports[: len(EDITS)]] == [_verdict(r) for r in reports[len(EDITS) :]]


@pytest.mark.parametrize(
    "line",
    [
        "open('made', 'w').close()",
        "import sqlite3; sqlite3.connect('data.db').execute('create table t (x)')",
        "import pathlib; pathlib.Path('folder').mkdir()",
    ],
)
async def test_tests_that_write_into_the_project_run_in_a_folder_of_their_own(
    world: World, line: str
) -> None:
    world.write(
        shop="def one():\n    return 2\n",
        tests__test_shop=f"import shop\ndef test_cart():\n    assert shop.one() == 1\n    {line}\n",
    )
    (world.root / "pyproject.toml").write_text("[tool.pytest.ini_options]\npythonpath = ['.']\n")
    for _ in range(2):
        report = await _try(world, "return 2", "return 1", Rung.HOT)
        assert [one.status.value for one in report.outcomes.values()] == ["passed"]
        assert report.rung is Rung.WARM
    wrong = await _try(world, "return 2", "return 3", Rung.HOT)
    assert wrong.rung is Rung.HOT
    assert [one.status.value for one in wrong.outcomes.values()] == ["failed"]


async def test_tests_whose_import_starts_a_thread_are_never_run_hot(shop: World) -> None:
    text = (shop.root / "tests/test_shop.py").read_text()
    thread = "import threading, time\nthreading.Thread(target=time.sleep, args=(9,), daemon=True).start()\n"
    (shop.root / "tests/test_shop.py").write_text(thread + text)
    report = await _try(shop, "result -= price", "result += price", Rung.HOT)
    assert [one.status.value for one in report.outcomes.values()] == ["passed"]
    assert report.rung is Rung.WARM


async def test_a_candidate_that_hangs_costs_its_own_limit_and_nothing_else(shop: World) -> None:
    hanging = await _try(
        shop, "result = 0", "result = 0\n        while True: pass", Rung.HOT, seconds_per_test=0.5
    )
    assert [one.status.value for one in hanging.outcomes.values()] == ["timeout"]
    assert hanging.rung is Rung.HOT
    right = await _try(shop, "result -= price", "result += price", Rung.HOT)
    assert (right.rung, [one.status.value for one in right.outcomes.values()]) == (Rung.HOT, ["passed"])


async def test_edited_tests_are_collected_anew(shop: World) -> None:
    before = await _try(shop, "result -= price", "result += price", Rung.HOT)
    file = shop.root / "tests/test_shop.py"
    file.write_text(file.read_text().replace("== 300", "== 301"))
    after = await _try(shop, "result -= price", "result += price", Rung.HOT)
    assert (before.rung, after.rung) == (Rung.HOT, Rung.HOT)
    assert [r.outcomes[TARGET].status.value for r in (before, after)] == ["passed", "failed"]


def _processes(world: World) -> set[int]:
    """The processes that work in a copy of the project."""
    return working_in(world.root.parent / "cache", world.root)


async def _only_parked(world: World) -> int:
    """The parked run, once nothing else works there: no hot run that has told all, and nothing that gets ready."""
    while len(found := _processes(world)) != 1:  # noqa: ASYNC110 — processes tell nobody
        await asyncio.sleep(0.01)
    return found.pop()


async def test_a_parked_run_that_was_killed_is_replaced(shop: World) -> None:
    for _ in range(3):
        report = await _try(shop, "result -= price", "result += price", Rung.HOT)
        assert (report.rung, report.outcomes[TARGET].status.value) == (Rung.HOT, "passed")
        parked = await _only_parked(shop)
        os.kill(parked, signal.SIGKILL)
        while psutil.pid_exists(parked):  # noqa: ASYNC110 — processes tell nobody
            await asyncio.sleep(0.01)


async def test_a_parked_run_ends_when_nobody_needs_it(shop: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hot, "IDLE_SECONDS", 0.5)
    for _ in range(4):  # each gives its folder back: there are not so many
        await _try(shop, "result -= price", "result += price", Rung.HOT)
        assert await _only_parked(shop)
        while _processes(shop):  # noqa: ASYNC110 — processes tell nobody
            await asyncio.sleep(0.02)


async def test_a_hot_run_that_is_cancelled_leaves_nothing(shop: World) -> None:
    await _try(shop, "result -= price", "result += price", Rung.HOT)
    parked = await _only_parked(shop)
    task = asyncio.create_task(_try(shop, "result = 0", "result = 0\n        while True: pass", Rung.HOT))
    while len(_processes(shop)) < 2:  # noqa: ASYNC110 — processes tell nobody
        await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await _only_parked(shop) == parked
    await shop.oracle.close()
    assert _processes(shop) == set()


@pytest.mark.parametrize(
    ("expected", "rung"), [("1", Rung.HOT), ("(7 if 'hot-' in os.environ['TMPDIR'] else 1)", Rung.WARM)]
)
async def test_whoever_stops_asking_while_a_run_is_parked_leaves_it_neither_unseen_nor_given_up(
    world: World, expected: str, rung: Rung
) -> None:
    """The second test ends otherwise in a hot run, which has to be seen before such runs are believed."""
    world.write(
        shop="def one():\n    return 7\n",
        tests__test_shop=f"import os, shop\ndef test_cart():\n    assert shop.one() == {expected}\n",
    )
    (world.root / "pyproject.toml").write_text("[tool.pytest.ini_options]\npythonpath = ['.']\n")
    snapshot = await world.mirror.sync({})
    await _try(world, "return 7", "return 1", Rung.WARM, snapshot=snapshot)  # the zygote is there
    for step in range(20):
        task = asyncio.create_task(_try(world, "return 7", "return 1", Rung.HOT, snapshot=snapshot))
        await asyncio.sleep(0.015 * step)
        task.cancel()
        await asyncio.wait({task})
    report = await _try(world, "return 7", "return 1", Rung.HOT, snapshot=snapshot)
    assert (report.rung, report.outcomes[TARGET].status.value) == (rung, "passed")
    await world.oracle.close()
    assert _processes(world) == set()


# ---------------------------------------------------------------------- many at once


async def _screen(
    shop: World, *edits: tuple[str, str], seconds: float = 5.0, **fields: Any
) -> list[RunReport | None]:
    snapshot = await shop.mirror.sync({})
    file = shop.root / "shop.py"
    text = file.read_text()
    requests = [
        RunRequest(
            snapshot,
            (TARGET,),
            overlay={file: text.replace(old, new, 1).encode()},
            details=False,
            stop_at_first_failure=True,
            processor_seconds=seconds,
            **fields,
        )
        for old, new in edits
    ]
    return list(await shop.oracle.screen(requests))


CLEAN = """
    def total(prices):
        result = 0
        for price in prices:
            result -= price
        return result

    def other(n):
        return n
    """
CLEAN_TESTS = """
    import shop

    def test_cart():
        assert shop.total([1, 2]) == 3
    """
REFUSED = [("result -= price", f"result += {n} * price") for n in range(2, 12)]


FORGE = """import os, stat
        for fd in range(3, 1024):
            try:
                if stat.S_ISFIFO(os.fstat(fd).st_mode): os.write(fd, b'{"id": 1, "ev": "screened", "number": 0}' + bytes([10]))
            except OSError: pass"""


@pytest.fixture
def clean(world: World) -> World:
    world.write(shop=CLEAN, tests__test_shop=CLEAN_TESTS)
    (world.root / "pyproject.toml").write_text("[tool.pytest.ini_options]\npythonpath = ['.']\n")
    return world


async def test_a_batch_refuses_what_a_run_of_its_own_refuses_and_leaves_the_rest(clean: World) -> None:
    edits = [*REFUSED[:5], ("result -= price", "result += price"), *REFUSED[5:], ("return n", "return -n")]
    told = await _screen(clean, *edits)
    assert [report is None for report in told] == [False] * 5 + [True] + [False] * 6
    for (old, new), report in zip(edits, told, strict=True):
        alone = await _try(clean, old, new, Rung.WARM)
        if report is None:
            assert alone.outcomes[TARGET].status.value == "passed"
        else:
            (mine, own) = (one.outcomes[TARGET].failure for one in (report, alone))
            assert mine is not None
            assert own is not None
            plain = [re.sub("0x[0-9a-f]+", "", one.message) for one in (mine, own)]
            assert (mine.exception, plain[0]) == (own.exception, plain[1])
            assert report.rung is Rung.HOT


async def test_candidates_of_equal_code_run_once_and_are_told_the_same(clean: World) -> None:
    told = await _screen(clean, REFUSED[0], ("result -= price", "result += (2 * price)"), REFUSED[1])
    messages = [re.sub("0x[0-9a-f]+", "", one.failures[0].message) for one in told if one is not None]
    assert len(messages) == 3
    assert messages[0] == messages[1] != messages[2]


@pytest.mark.parametrize(
    "spoils",
    [
        "import builtins; builtins.sum = len; result += price",
        "import sys; sys.modules['tests.test_shop' if 'tests.test_shop' in sys.modules else 'test_shop'].shop = None",
        "import threading, time; threading.Thread(target=time.sleep, args=(9,), daemon=True).start()",
        "globals()['total'] = len",
    ],
)
async def test_what_a_candidate_leaves_behind_is_noticed_and_nothing_after_it_is_believed(
    clean: World, spoils: str
) -> None:
    told = await _screen(clean, *REFUSED[:8], ("result -= price", spoils), *REFUSED[8:10])
    assert [report is None for report in told] == [False] * 8 + [True] * 3
    report = await _try(clean, "result -= price", "result += price", Rung.HOT)
    assert (report.rung, report.outcomes[TARGET].status.value) == (Rung.HOT, "passed")


@pytest.mark.parametrize(
    "ends",
    [
        "import os; os._exit(0)",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "import time; time.sleep(60)",
    ],
)
async def test_a_candidate_that_ends_or_holds_up_the_batch_costs_only_those_beside_it(
    clean: World, ends: str
) -> None:
    told = await _screen(clean, *REFUSED[:8], ("result -= price", ends), *REFUSED[8:10], seconds=0.5)
    assert [report is None for report in told] == [False] * 8 + [True] * 3


async def test_of_a_batch_with_a_candidate_that_writes_records_of_its_own_nothing_is_believed(
    clean: World,
) -> None:
    told = await _screen(clean, *REFUSED[:8], ("result -= price", FORGE), *REFUSED[8:10], seconds=0.5)
    assert told == [None] * 11
    report = await _try(clean, *REFUSED[0], Rung.WARM)
    assert report.outcomes[TARGET].status.value == "failed"


LOOP = "while True: pass"
SWALLOWS = "while True:\n            try:\n                while True: pass\n            except {}: pass"


@pytest.mark.parametrize("loop", [LOOP, SWALLOWS.format("Exception")])
async def test_a_candidate_that_loops_is_refused_for_its_time_and_the_others_are_judged_on(
    clean: World, loop: str
) -> None:
    edits = [*REFUSED[:3], ("result -= price", loop), *REFUSED[3:5], ("result -= price", "result += price")]
    told = await _screen(clean, *edits, seconds=0.3)
    statuses = [report and report.outcomes[TARGET].status for report in told]
    red = TestStatus.FAILED
    assert statuses == [red, red, red, TestStatus.TIMEOUT, red, red, None]


async def test_a_candidate_that_no_exception_stops_is_ended_from_outside(clean: World) -> None:
    deaf = "import signal; signal.signal(signal.SIGPROF, signal.SIG_IGN)\n        while True: pass"
    edits = [*REFUSED[:8], ("result -= price", deaf), *REFUSED[8:10]]
    told = await _screen(clean, *edits, seconds=0.3)
    assert [report is None for report in told] == [False] * 8 + [True] * 3
    await clean.oracle.close()
    assert _processes(clean) == set()


HANGS = CLEAN.replace("result -= price", "result -= price\n            while True: pass")


async def test_where_the_unpatched_code_hangs_candidates_are_tried_together_all_the_same(
    clean: World,
) -> None:
    clean.write(shop=HANGS)
    loop = "result -= price\n        while True: pass"
    mended = [(loop, new) for _, new in REFUSED[:2]]
    edits = [*mended, ("return n", "return -n"), (loop, "result += price")]
    told = await _screen(clean, *edits, seconds=0.3, seconds_per_test=3.0)
    assert [report and report.outcomes[TARGET].status.value for report in told] == [
        "failed",
        "failed",
        "timeout",
        None,
    ]


async def test_tests_that_remember_earlier_runs_are_not_tried_in_batches(shop: World) -> None:
    told = await _screen(shop, *[("result -= price", f"result += {n} * price") for n in range(2, 8)])
    alone = await _try(shop, "result -= price", "result += 2 * price", Rung.WARM)
    for report in told:
        if report is not None:
            assert report.failures[0].message == alone.failures[0].message
