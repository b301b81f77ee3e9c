"""Every heal ends in exactly one named outcome, and an offer is proven. Real pytest, real mirror, real probe."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import psutil
import pytest
from tests.processes import ended

from regreen.values import Outcome, TestStatus

from .lab import Lab, only

CART = """
    def total(prices):
        result = 0
        for price in prices:
            result -= price
        return result


    def count(prices):
        return len(prices)
    """
CART_TESTS = """
    from cart import count, total


    def test_total():
        assert total([1, 2, 3]) == 6


    def test_empty():
        assert total([]) == 0


    def test_count():
        assert count([1, 2]) == 2
    """


async def test_a_wrong_operator_is_found_proven_and_nothing_is_written(lab: Lab) -> None:
    lab.write({"cart.py": CART, "test_cart.py": CART_TESTS})
    before = lab.picture()
    result = only(await lab.heal())
    assert result.outcome is Outcome.VERIFIED, result.reason
    fix = result.fixes[0]
    assert "+        result += price" in fix.diff
    assert fix.evidence.red_to_green == ("test_cart.py::test_total",)
    assert fix.evidence.still_green == 1  # test_empty runs total, test_count does not
    assert (fix.evidence.runs, fix.evidence.canary, fix.evidence.lines_changed) == (3, "reached", 1)
    assert result.cause == "expected 6, got -6 at test_cart.py:5"
    assert lab.picture() == before


async def test_the_first_proven_fix_is_told_before_others_are_proven_and_stays_the_best(lab: Lab) -> None:
    lab.write({"cart.py": CART, "test_cart.py": CART_TESTS.replace("[1, 2, 3]", "[2, 2, 2]")})
    result = only(await lab.heal())
    assert len(result.fixes) > 1
    ((early, ended_before),) = lab.ledger.offers
    assert ended_before == 0
    assert (early.outcome, len(early.fixes)) == (Outcome.VERIFIED, 1)
    assert early.fixes[0].diff == result.fixes[0].diff
    assert early.fixes[0].evidence == result.fixes[0].evidence


async def test_the_proof_command_runs_the_same_tests(lab: Lab) -> None:
    lab.write({"cart.py": CART, "test_cart.py": CART_TESTS})
    fix = only(await lab.heal()).fixes[0]
    lab.apply(fix)
    process = await asyncio.create_subprocess_shell(fix.evidence.command, stdout=subprocess.PIPE)
    out, _ = await process.communicate()
    assert process.returncode == 0, out
    assert b"2 passed" in out


async def test_nothing_red_is_nothing_to_heal(lab: Lab) -> None:
    lab.write({"test_ok.py": "def test_ok():\n    assert True\n"})
    assert await lab.heal() == ()


async def test_a_test_whose_reruns_disagree_is_flaky(lab: Lab) -> None:
    lab.write(
        {
            "test_flaky.py": """
            import time

            def test_sometimes():
                assert time.monotonic_ns() // 1000 % 2
            """
        }
    )
    outcomes: list[Outcome] = []
    for _ in range(40):  # each round ends FLAKY unless chance shows three equal results: 1 in 4
        outcomes += [result.outcome for result in await lab.heal()]
        if Outcome.FLAKY in outcomes:
            break
    assert set(outcomes) <= {Outcome.FLAKY, Outcome.NO_FIX}
    assert outcomes[-1] is Outcome.FLAKY


async def test_state_that_leaks_from_one_test_to_the_next_is_healed_in_company(lab: Lab) -> None:
    lab.write(
        {
            "basket.py": """
            def add(item, basket=[]):
                basket.append(item)
                return basket
            """,
            "test_basket.py": """
            from basket import add

            def test_first():
                assert add("a") == ["a"]

            def test_second():
                assert add("b") == ["b"]
            """,
        }
    )
    result = only(await lab.heal())
    assert result.failure.nodeid == "test_basket.py::test_second"
    assert result.outcome is Outcome.VERIFIED, result.reason
    assert "basket=None" in result.fixes[0].diff
    assert any("run after 1 test" in note for note in result.fixes[0].evidence.notes)


async def test_a_missing_package_is_the_environments_problem(lab: Lab) -> None:
    lab.write(
        {
            "pay.py": "import stripe_sdk_of_someone_else\n",
            "test_pay.py": "import pay\n\ndef test_pay():\n    assert pay\n",
        }
    )
    result = only(await lab.heal())
    assert result.outcome is Outcome.ENVIRONMENT
    assert "stripe_sdk_of_someone_else" in result.reason
    assert "regreen.interpreter" in result.reason


@pytest.mark.parametrize("name", ["src/shop/__init__.py", "src/shop/prices.py", "src/shop.py"])
async def test_a_project_that_is_not_installed_is_the_environments_problem(lab: Lab, name: str) -> None:
    lab.write({name: "", "tests/test_shop.py": "import shop\n\ndef test_shop():\n    assert shop\n"})
    result = only(await lab.heal())
    assert result.outcome is Outcome.ENVIRONMENT, result.reason
    assert "`shop` is in src" in result.reason
    assert "pip install -e ." in result.reason
    assert "`pythonpath` to `src`" in result.reason


async def test_a_project_that_is_imported_from_elsewhere_is_the_environments_problem(lab: Lab) -> None:
    lab.write({"src/cart.py": CART, "test_cart.py": CART_TESTS})
    (lab.outside / "cart.py").write_text(lab.text(CART), encoding="utf-8")
    lab.write({"pytest.ini": f"[pytest]\npythonpath = {lab.outside}\n"})
    lab.settings(readable=(str(lab.outside),))
    result = only(await lab.heal())
    assert result.outcome is Outcome.ENVIRONMENT, result.reason
    assert str(lab.outside / "cart.py") in result.reason
    assert "pip install -e ." in result.reason


async def test_a_service_that_does_not_answer_is_the_environments_problem(lab: Lab) -> None:
    lab.write(
        {
            "test_db.py": """
            import socket

            def test_db():
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", 0))
                    port = probe.getsockname()[1]
                socket.create_connection(("127.0.0.1", port), timeout=1)
            """
        }
    )
    assert only(await lab.heal()).outcome is Outcome.ENVIRONMENT


async def test_a_failure_that_lives_in_the_test_alone_has_no_fix_and_says_why(lab: Lab) -> None:
    lab.write({"test_self.py": "def test_self():\n    assert 1 + 1 == 3\n"})
    result = only(await lab.heal())
    assert result.outcome is Outcome.NO_FIX
    assert "test code" in result.reason


async def test_a_fix_that_breaks_another_test_is_not_offered(lab: Lab) -> None:
    lab.write(
        {
            "rate.py": "def rate(n):\n    return n * 2\n",
            "test_rate.py": """
            from rate import rate

            def test_red():
                assert rate(3) == 9

            def test_green():
                assert rate(5) == 10

            def test_also_green():
                assert rate(4) == 8 and rate(0) == 0 and rate(-1) == -2
            """,
        }
    )
    result = only(await lab.heal())
    assert result.outcome in {Outcome.NO_FIX, Outcome.OVER_BUDGET}, [f.diff for f in result.fixes]
    assert result.tried["REGRESSION"] > 0


async def test_a_file_that_cannot_be_collected_is_healed_as_a_whole(lab: Lab) -> None:
    lab.write(
        {
            "cart.py": "def total(prices)\n    return sum(prices)\n",
            "test_cart.py": "from cart import total\n\ndef test_total():\n    assert total([1]) == 1\n",
            "test_other.py": "def test_other():\n    assert True\n",
        }
    )
    result = only(await lab.heal())
    assert result.failure.is_collection
    assert result.outcome is Outcome.VERIFIED, result.reason
    assert "+def total(prices):" in result.fixes[0].diff


async def test_a_hanging_test_is_healed_without_waiting_for_every_candidate(lab: Lab) -> None:
    lab.write(
        {
            "loop.py": """
            def countdown(n):
                seen = []
                while n > 0:
                    seen.append(n)
                    n += 1
                    if len(seen) > 10:
                        seen.clear()
                return seen
            """,
            "test_loop.py": "from loop import countdown\n\ndef test_countdown():\n    assert countdown(3) == [3, 2, 1]\n",
        }
    )
    lab.settings(seconds_per_test=1, heal_candidates=60, heal_offers=1)
    base = await lab.baseline()
    assert base.outcomes["test_loop.py::test_countdown"].status is TestStatus.TIMEOUT
    result = only(await lab.heal(base))
    assert result.outcome is Outcome.VERIFIED, result.reason
    assert "n -= 1" in result.fixes[0].diff
    assert (result.fixes[0].evidence.runs, result.fixes[0].evidence.notes) == (3, ())  # it hangs no longer


async def test_tests_that_get_the_code_from_a_fixture_are_judges_too(lab: Lab) -> None:
    lab.write(
        {
            "cart.py": CART,
            "tests/conftest.py": "import pytest, cart\n\n@pytest.fixture\ndef adds():\n    return cart.total\n",
            "tests/test_one.py": "def test_one(adds):\n    assert adds([1]) == 1\n",
            "tests/test_two.py": "def test_none(adds):\n    assert adds([]) == 0\n",
            "pytest.ini": "[pytest]\npythonpath = .\n",
        }
    )
    result = only(await lab.heal(await lab.baseline(nodeids=("tests/test_one.py::test_one",))))
    assert result.outcome is Outcome.VERIFIED, result.reason
    assert set(result.fixes[0].evidence.selection.nodeids) == {
        "tests/test_one.py::test_one",
        "tests/test_two.py::test_none",
    }


async def test_a_hanging_test_takes_no_time_from_the_other_tests_of_its_code(lab: Lab) -> None:
    lab.write(
        {
            "loop.py": "def countdown(n):\n    while n > 0:\n        n += 1\n    return n\n",
            "test_loop.py": """
            from loop import countdown

            def test_countdown():
                assert countdown(3) == 0

            def test_nothing():
                assert countdown(0) == 0
            """,
        }
    )
    lab.settings(seconds_per_test=2)
    base, complete = await lab.mapped(
        await lab.baseline(nodeids=("test_loop.py::test_countdown",)), "loop.py", seconds=10
    )
    assert complete
    assert base.outcomes["test_loop.py::test_nothing"].status is TestStatus.PASSED
    assert base.outcomes["test_loop.py::test_countdown"].status is TestStatus.TIMEOUT
    assert base.report.spectrum.lines["test_loop.py::test_countdown"][lab.root / "loop.py"] == {1, 2}


async def test_two_red_tests_of_one_cause_get_one_fix_and_one_search(lab: Lab) -> None:
    lab.write(
        {
            "cart.py": CART,
            "test_cart.py": CART_TESTS + "\n\n    def test_more():\n        assert total([5, 5]) == 10\n",
        }
    )
    first, second = await lab.heal()
    assert (first.outcome, second.outcome) == (Outcome.VERIFIED, Outcome.VERIFIED)
    assert first.fixes[0].fix_id == second.fixes[0].fix_id
    assert set(first.fixes[0].evidence.red_to_green) == {
        "test_cart.py::test_total",
        "test_cart.py::test_more",
    }
    assert sum(1 for r in (first, second) if r.tried) == 1


async def test_green_tests_tell_lines_apart_also_when_only_the_red_test_was_named(lab: Lab) -> None:
    lab.write(
        {
            "aa.py": "def clean(items):\n    kept = list(items)\n    return kept\n",
            "cart.py": CART,
            "shop.py": "from aa import *\nfrom cart import *\n",
            "test_aa.py": "from shop import clean\n\ndef test_clean():\n    assert clean([1]) == [1]\n",
            "test_cart.py": CART_TESTS,
            "test_shop.py": """
            from shop import clean, count, total

            def test_sale():
                goods = clean([1, 2, 3])
                assert count(goods) == 3
                assert total(goods) == 6
            """,
        }
    )
    base = await lab.baseline(nodeids=("test_shop.py::test_sale",))
    result = only(await lab.heal(base))
    assert result.outcome is Outcome.VERIFIED, result.reason
    assert "+        result += price" in result.fixes[0].diff
    assert [(s.path.name, s.line) for s in result.suspects[:1]] == [("cart.py", 3)]


async def test_a_fix_of_the_whole_fault_is_preferred_to_an_earlier_one_of_half_of_it(lab: Lab) -> None:
    lab.write(
        {
            "first.py": """
            def sentence(words):
                for i, word in enumerate(words):
                    if word.endswith("."):
                        words = words[:i]
                        break
                return " ".join(words)
            """,
            "test_first.py": """
            from first import sentence

            def test_one_word():
                assert sentence(["One."]) == "One."

            def test_two_sentences():
                assert sentence(["One", "two.", "Three."]) == "One two."
            """,
        }
    )
    base = await lab.baseline(nodeids=("test_first.py::test_one_word",))
    result = only(await lab.heal(base))
    assert result.outcome is Outcome.VERIFIED, result.reason
    assert "+            words = words[:i + 1]" in result.fixes[0].diff.replace("[: i", "[:i")
    assert len(result.fixes[0].evidence.red_to_green) == 2


async def test_a_test_that_is_green_in_the_copy_is_not_reproduced(lab: Lab) -> None:
    lab.write({"cart.py": CART, "test_cart.py": CART_TESTS})
    red = await lab.baseline()
    lab.write({"cart.py": CART.replace("-=", "+=")})
    green = await lab.baseline()
    result = await lab.heal_one(red.report.failures[0], green)
    assert result.outcome is Outcome.NOT_REPRODUCED


async def test_only_the_test_changed_since_the_commit_looks_stale(lab: Lab) -> None:
    lab.write({"cart.py": CART.replace("-=", "+="), "test_cart.py": CART_TESTS})
    lab.commit()
    lab.write({"test_cart.py": CART_TESTS.replace("== 6", "== 6000")})
    result = only(await lab.heal())
    assert result.outcome is Outcome.STALE_TEST, result.reason
    assert result.fixes == ()
    change = result.expectation
    assert change is not None
    assert change.diff.count("\n+") == 2
    assert change.edit.path.name.startswith("test_")
    assert "test_cart.py" in result.reason


async def test_the_budget_ends_a_search_by_name(lab: Lab) -> None:
    lab.write(
        {"cart.py": CART.replace("result = 0", "result = sum(prices) * 91"), "test_cart.py": CART_TESTS}
    )
    lab.settings(heal_candidates=3)
    results = await lab.heal()
    assert {r.outcome for r in results} == {Outcome.OVER_BUDGET}
    assert all(sum(r.tried.values()) <= 4 for r in results if r.tried)


async def test_cancelling_leaves_no_process(lab: Lab) -> None:
    others = psutil.Process().children(recursive=True)  # servers that other tests share
    lab.write(
        {
            "slow.py": "import time\n\ndef slow(n):\n    time.sleep(0.5)\n    return n - 1\n",
            "test_slow.py": "from slow import slow\n\ndef test_slow():\n    assert slow(1) == 77\n",
        }
    )
    base = await lab.baseline()
    task = asyncio.ensure_future(lab.heal(base))
    await asyncio.sleep(2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await lab.close()
    assert [p for p in psutil.Process().children(recursive=True) if p not in others and not ended(p)] == []


async def test_unsaved_text_is_what_is_healed(lab: Lab) -> None:
    lab.write({"cart.py": CART.replace("-=", "+="), "test_cart.py": CART_TESTS})
    unsaved = {lab.root / "cart.py": lab.text(CART).encode()}
    result = only(await lab.heal(await lab.baseline(unsaved=unsaved)))
    assert result.outcome is Outcome.VERIFIED
    assert "+        result += price" in result.fixes[0].diff


async def test_code_outside_of_the_project_is_never_patched(lab: Lab) -> None:
    lab.write(
        {
            "vendor/maths.py": "def add(a, b):\n    return a - b\n",
            "test_maths.py": "from vendor.maths import add\n\ndef test_add():\n    assert add(1, 2) == 3\n",
        }
    )
    result = only(await lab.heal())
    assert result.outcome is Outcome.NO_FIX


async def test_a_file_that_is_a_link_out_of_the_project_is_never_patched(lab: Lab) -> None:
    (lab.outside / "cart.py").write_text(lab.text(CART), encoding="utf-8")
    lab.write({"test_cart.py": CART_TESTS})
    (lab.root / "cart.py").symlink_to(lab.outside / "cart.py")
    result = only(await lab.heal())
    assert result.outcome is Outcome.NO_FIX
    assert result.tried == {}


def test_lab_writes_inside_its_own_folder(lab: Lab, tmp_path: Path) -> None:
    assert lab.root.is_relative_to(tmp_path)


async def test_two_faults_with_a_red_test_each_are_mended_together(lab: Lab) -> None:
    lab.write(
        {
            "cart.py": """
            def price(amount, member, weekend):
                result = amount * 100
                if member:
                    result = result + 10
                if weekend:
                    result = result + 5
                return result
            """,
            "test_cart.py": """
            from cart import price

            def test_plain():
                assert price(2, False, False) == 200

            def test_member():
                assert price(2, True, False) == 190

            def test_weekend():
                assert price(3, False, True) == 295

            def test_both():
                assert price(3, True, True) == 285
            """,
        }
    )
    results = await lab.heal()
    assert {r.outcome for r in results} == {Outcome.VERIFIED}, [r.reason for r in results]
    assert {r.fixes[0].fix_id for r in results} == {results[0].fixes[0].fix_id}
    diff = results[0].fixes[0].diff
    assert "result = result - 10" in diff
    assert "result = result - 5" in diff
    assert "test_cart.py::test_both" in results[0].fixes[0].evidence.red_to_green
    last = {r.failure.nodeid: r.outcome for r in lab.ledger.results}
    assert set(last.values()) == {
        Outcome.VERIFIED
    }  # whoever was told of half a fix has heard of the whole one


async def test_two_faults_behind_one_red_test_are_mended_together(lab: Lab) -> None:
    lab.write(
        {
            "stats.py": """
            def mean(numbers):
                total = 1
                for number in numbers:
                    total -= number
                return total / len(numbers)
            """,
            "test_stats.py": """
            from stats import mean

            def test_mean():
                assert mean([2, 4, 6]) == 4
                assert mean([5]) == 5
            """,
        }
    )
    result = only(await lab.heal())
    assert result.outcome is Outcome.VERIFIED, result.reason
    assert "+    total = 0" in result.fixes[0].diff
    assert "+        total += number" in result.fixes[0].diff


async def test_a_patch_of_many_places_keeps_each_that_some_red_test_needs(lab: Lab) -> None:
    lab.write(
        {
            "word.py": """
            def middle(word):
                if len(word) < 3:
                    return " "
                for letter in word[1:-1]:
                    if letter in "aeiou":
                        return letter
                return " "
            """,
            "test_word.py": """
            from word import middle

            def test_found():
                assert middle("bat") == "a"

            def test_short():
                assert middle("ab") == ""

            def test_none():
                assert middle("brrr") == ""
            """,
        }
    )
    results = await lab.heal()
    assert {r.outcome for r in results} == {Outcome.VERIFIED}, [r.reason for r in results]
    assert results[0].fixes[0].diff.count('+        return ""') == 1
    assert results[0].fixes[0].diff.count('+    return ""') == 1


async def test_tests_that_hang_for_another_reason_keep_no_patch_from_being_judged(lab: Lab) -> None:
    lab.write(
        {
            "loop.py": """
            def steps(n, by):
                count = 1
                while n > 0:
                    n -= by
                    count += 1
                return count
            """,
            "test_loop.py": """
            from loop import steps

            def test_never():
                assert steps(3, 0) == 0

            def test_never_either():
                assert steps(4, 0) == 0

            def test_three():
                assert steps(3, 1) == 3

            def test_two():
                assert steps(4, 2) == 2
            """,
        }
    )
    lab.settings(seconds_per_test=1, heal_candidates=30, heal_offers=1)
    base = await lab.baseline()
    (failure,) = (f for f in base.report.failures if f.nodeid == "test_loop.py::test_three")
    result = await lab.heal_one(failure, base)
    assert result.outcome is Outcome.VERIFIED_TARGET_ONLY, result.reason
    assert set(result.fixes[0].evidence.red_to_green) == {
        "test_loop.py::test_three",
        "test_loop.py::test_two",
    }
