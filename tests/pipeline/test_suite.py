"""The whole suite takes a fix back only for what the fix did, whatever the shards do to it. Real pytest, real shards."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import psutil
import pytest
from tests.processes import ended

from regreen import pipeline
from regreen.pipeline import Suite, proof
from regreen.validation.ladder import Known
from regreen.values import Outcome, Rung, RunReport, RunRequest

from .lab import Lab, only


@pytest.fixture(autouse=True)
def _two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many this machine has."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)


@pytest.fixture
async def requests(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> list[RunRequest]:
    """What the oracle was asked for since the list was last cleared."""
    oracle = (await lab.tools()).oracle
    run, asked = oracle.run, []

    async def listening(request: RunRequest) -> RunReport:
        asked.append(request)
        return await run(request)

    monkeypatch.setattr(oracle, "run", listening)
    return asked


async def suite_of(lab: Lab, requests: list[RunRequest]) -> Suite:
    """The suite as it is without a fix."""
    base = await lab.baseline()
    requests.clear()
    known = Known(
        {nodeid: outcome.status for nodeid, outcome in base.outcomes.items()},
        {nodeid: outcome.seconds for nodeid, outcome in base.outcomes.items()},
    )
    return Suite(await lab.tools(), base.snapshot, known, 30.0)


def patch(lab: Lab, old: str, new: str, name: str = "shop.py") -> dict[Path, bytes]:
    """The text of a file with something replaced."""
    path = lab.root / name
    assert old in path.read_text()
    return {path: path.read_text().replace(old, new).encode()}


SHOP = """
    import os

    def price(n):
        return n * 2

    def open_shop():
        os.environ["SHOP"] = "open"
    """
TESTS = {
    "shop.py": SHOP,
    "test_a.py": "import shop\n\ndef test_price():\n    assert shop.price(2) == 4\n",
    "test_b.py": "import shop\n\ndef test_prices():\n    assert [shop.price(n) for n in (1, 3)] == [2, 6]\n",
    "test_c.py": "def test_other():\n    assert True\n",
}
IN_ORDER = {
    "shop.py": SHOP,
    "test_a.py": "import shop\n\ndef test_open():\n    shop.open_shop()\n",
    "test_b.py": 'import os\n\ndef test_is_open():\n    assert os.environ["SHOP"] == "open"\n',
}
"""The second file needs what the first one leaves behind."""


async def test_a_test_that_a_fix_breaks_is_found_in_whatever_shard_it_is(
    lab: Lab, requests: list[RunRequest]
) -> None:
    lab.write(TESTS)
    suite = await suite_of(lab, requests)
    broken = await suite.broken_by(patch(lab, "n * 2", "n + 2"), ())
    assert broken == "test_b.py::test_prices turns red"
    first, second = requests[:2]
    assert sorted((*first.nodeids, *second.nodeids)) == sorted(suite.known.statuses)
    assert not set(first.nodeids) & set(second.nodeids)


async def test_a_fix_that_breaks_nothing_costs_one_run_of_each_test(
    lab: Lab, requests: list[RunRequest]
) -> None:
    lab.write(TESTS)
    suite = await suite_of(lab, requests)
    assert await suite.broken_by(patch(lab, "n * 2", "2 * n"), ()) == ""
    ran = [nodeid for request in requests for nodeid in request.nodeids]
    assert sorted(ran) == sorted(suite.known.statuses)


async def test_a_test_that_only_its_shard_turns_red_is_not_held_against_a_fix(
    lab: Lab, requests: list[RunRequest]
) -> None:
    lab.write(IN_ORDER)
    suite = await suite_of(lab, requests)
    assert await suite.broken_by(patch(lab, "n * 2", "2 * n"), ()) == ""
    assert {request.nodeids for request in requests} == {
        ("test_a.py::test_open",),
        ("test_b.py::test_is_open",),
        ("test_a.py::test_open", "test_b.py::test_is_open"),
    }


async def test_what_a_fix_breaks_in_the_whole_suite_is_found_where_its_shard_is_red_anyway(
    lab: Lab, requests: list[RunRequest]
) -> None:
    lab.write(IN_ORDER)
    suite = await suite_of(lab, requests)
    assert await suite.broken_by(patch(lab, '"open"', '"shut"'), ()) == "test_b.py::test_is_open turns red"


async def test_a_state_that_a_fix_leaves_to_later_tests_is_held_against_it(
    lab: Lab, requests: list[RunRequest]
) -> None:
    lab.write(TESTS)
    lab.write(
        {
            "test_c.py": """
            import shop

            def test_price():
                assert shop.price(1)

            def test_after():
                import os
                assert "PRICED" not in os.environ
            """
        }
    )
    suite = await suite_of(lab, requests)
    leaving = patch(lab, "return n * 2", 'os.environ["PRICED"] = "1"; return n * 2')
    assert await suite.broken_by(leaving, ()) == "test_c.py::test_after turns red"


async def test_what_breaks_first_ends_the_search(lab: Lab, requests: list[RunRequest]) -> None:
    lab.write(TESTS)
    suite = await suite_of(lab, requests)
    first = {"test_a.py::test_price", "test_b.py::test_prices"}
    assert await suite.broken_by(patch(lab, "n * 2", "n + 2"), first) == "test_b.py::test_prices turns red"
    assert {nodeid for request in requests for nodeid in request.nodeids} == first


async def test_a_test_that_is_gone_with_a_fix_is_broken(lab: Lab, requests: list[RunRequest]) -> None:
    lab.write(
        {
            "shop.py": "SIZES = [1, 2]\n",
            "test_a.py": """
            import pytest, shop

            @pytest.mark.parametrize("size", shop.SIZES)
            def test_size(size):
                assert size
            """,
        }
    )
    suite = await suite_of(lab, requests)
    broken = await suite.broken_by(patch(lab, "[1, 2]", "[1]"), ())
    assert broken.endswith("is no longer collected")


async def test_only_tests_that_are_there_are_asked_for(lab: Lab) -> None:
    lab.write(TESTS)
    base, tools = await lab.baseline(), await lab.tools()
    assert await pipeline.collected(tools, base.snapshot, ["test_b.py", "test_a.py"]) == (
        "test_b.py::test_prices",
        "test_a.py::test_price",
    )


async def test_cancelling_ends_every_shard_at_once_and_leaves_nothing(
    lab: Lab, requests: list[RunRequest]
) -> None:
    others = psutil.Process().children(recursive=True)  # servers that other tests share
    hang = "import time, shop\n\ndef test_it():\n    time.sleep(shop.SECONDS)\n"
    lab.write({"shop.py": "SECONDS = 0\n", "test_a.py": hang, "test_b.py": hang})
    suite = await suite_of(lab, requests)
    checking = asyncio.ensure_future(suite.broken_by(patch(lab, "0", "1000"), ()))

    def ours() -> set[psutil.Process]:
        return {p for p in psutil.Process().children(recursive=True) if p not in others and not ended(p)}

    before = ours()
    while len(requests) < 2 or len(ours() - before) < 2:  # noqa: ASYNC110 — processes tell nobody
        await asyncio.sleep(0.05)
    checking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await checking
    assert len(requests) == 2
    await lab.close()
    assert ours() == set()


async def test_a_proof_in_shards_is_cold_and_survives_tests_that_need_each_other(
    lab: Lab, requests: list[RunRequest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proof, "LONG_SECONDS", 0.0)
    a, b, c = "test_a.py::test_open", "test_b.py::test_is_open", "test_c.py::test_price"
    lab.write(
        {
            "shop.py": SHOP.replace("n * 2", "n + 2"),
            "test_a.py": "import shop\n\ndef test_open():\n    shop.open_shop()\n    assert shop.price(2) == 4\n",
            "test_b.py": """
            import os, shop

            def test_is_open():
                assert os.environ["SHOP"] == "open"
                assert shop.price(2) == 4
            """,
            "test_c.py": "import shop\n\ndef test_price():\n    assert shop.price(3) == 6\n",
        }
    )
    result = only(await lab.heal())
    assert result.outcome is Outcome.VERIFIED, result.reason
    assert result.fixes[0].evidence.still_green == 2
    proofs = [request for request in requests if request.rung is Rung.COLD and request.overlay]
    assert all(request.fresh_copy for request in proofs)
    in_shards = {frozenset(request.nodeids) for request in proofs}
    assert {frozenset({a, b, c})} < in_shards
    assert frozenset({b}) in in_shards or frozenset({b, c}) in in_shards
