"""For which red tests does a search start by itself?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

TEST = "tests/test_cart.py::test_total"
FAR = "tests/test_far.py::test_far"


async def test_test_driven_work_is_not_fought(bench: Any, bad: str) -> None:
    await bench.open()  # never green before, and not in git
    bench.save("cart.py", bad)
    await bench.until(lambda: bench.runs)
    await bench.rest()
    assert bench.heals == []
    (lens,) = bench.engine.queries.lenses(bench.root / "tests/test_cart.py")
    assert lens.title == "Expected 15, got -15 · Find a fix"
    bench.engine.heal([TEST], bench.engine.queries.projects(None))
    await bench.until(lambda: bench.engine.queries.fixes_at(bench.root / "cart.py", 3, 3))
    assert bench.heals == [(TEST,)]


@pytest.mark.parametrize(("changed", "heals"), [((), 1), (("tests/test_cart.py",), 0)])
async def test_a_test_whose_code_is_committed_is_searched_for(
    bench: Any, bad: str, changed: tuple[str, ...], heals: int
) -> None:
    bench.git.top = bench.root
    bench.git.changed = frozenset(bench.root / name for name in changed)
    await bench.open()
    bench.save("cart.py", bad)
    await bench.until(lambda: bench.runs)
    await bench.rest()
    assert len(bench.heals) == heals


async def test_a_test_that_was_green_in_this_session_is_searched_for(bench: Any, good: str, bad: str) -> None:
    await bench.open()
    bench.save("cart.py", good + "\n")
    await bench.until(lambda: bench.runs)
    await bench.rest(1)
    bench.save("cart.py", bad)
    await bench.until(lambda: bench.heals)
    assert bench.heals == [(TEST,)]


async def test_many_that_turn_red_at_once_are_grouped_and_wait_for_the_user(
    bench: Any, bad: str, last_run: Callable[..., None]
) -> None:
    names = [f"tests/test_cart.py::test_{n}" for n in range(21)]
    for name in names:
        bench.rule(name, lambda texts: "+=" in texts["cart.py"])
    last_run(bench.root, known=names)
    await bench.open()
    bench.save("cart.py", bad)
    await bench.until(lambda: bench.runs)
    await bench.rest()
    assert bench.heals == []
    assert "22 tests are red, 1 causes" in bench.log
    lenses = bench.engine.queries.lenses(bench.root / "tests/test_cart.py")
    assert len(lenses) == 22
    assert "same cause as 21 others" in lenses[0].title
    bench.engine.heal([], bench.engine.queries.projects(None))
    await bench.until(lambda: bench.heals)
    assert len(bench.heals[0]) == 22


async def test_running_tests_by_command_finds_no_fixes(bench: Any, bad: str) -> None:
    bench.git.top = bench.root
    bench.write("cart.py", bad)
    await bench.open()
    bench.engine.run_tests([], bench.engine.queries.projects(None))
    await bench.until(lambda: bench.runs)
    await bench.rest(1)
    assert bench.heals == []


async def test_healing_with_nothing_known_runs_the_whole_suite_first(bench: Any, bad: str) -> None:
    bench.write("cart.py", bad)
    await bench.open()
    bench.engine.heal([], bench.engine.queries.projects(None))
    await bench.until(lambda: bench.heals)
    assert bench.runs == [()]


async def test_what_was_saved_is_run_before_an_older_search_goes_on(bench: Any, good: str, bad: str) -> None:
    other = "tests/test_other.py::test_other"
    bench.rule(other, lambda texts: "no edit gives this" in texts["other.py"], file="other.py")
    bench.write("other.py", "X = 1\n")
    bench.write("tests/test_other.py", "import other\n\n\ndef test_other():\n    assert other.X == 2\n")
    await bench.open()
    bench.hold_heal = asyncio.Event()
    bench.engine.heal([other], bench.engine.queries.projects(None))
    await bench.until(lambda: bench.heals)
    bench.save("cart.py", bad)
    await bench.until(lambda: len(bench.heals) == 2)
    assert bench.cancelled == 1
    assert bench.runs == [(other,), ("tests/test_cart.py",), (other,)]
    assert bench.engine.queries.marks(bench.root / "tests/test_cart.py")
    bench.hold_heal.set()


async def test_a_muted_test_is_not_searched_for_and_its_offers_go(bench: Any, bad: str) -> None:
    bench.git.top = bench.root
    await bench.open()
    bench.save("cart.py", bad)
    await bench.until(lambda: bench.engine.queries.fixes_at(bench.root / "cart.py", 3, 3))
    bench.engine.mute(TEST, bench.engine.queries.projects(None))
    assert bench.engine.queries.fixes_at(bench.root / "cart.py", 3, 3) == []
    bench.save("cart.py", bad + "\n")
    await bench.until(lambda: len(bench.runs) == 2)
    await bench.rest()
    assert len(bench.heals) == 1


async def _offer_beside(
    bench: Any, bad: str, is_green: Callable[[Mapping[str, str]], bool], **settings: Any
) -> None:
    """Have a fix on offer, and a test of another file that the fix is not known to touch."""
    bench.git.top = bench.root
    bench.write("tests/test_far.py", "")
    bench.rule(FAR, is_green, file="tests/test_cart.py")
    bench.rules[TEST].fixed = lambda text: text.replace("-=", "+=") + "# fixed\n"
    await bench.open(**settings)
    bench.engine.run_tests([], bench.engine.queries.projects(None))
    await bench.until(lambda: bench.runs)
    await bench.rest(1)
    bench.save("cart.py", bad)
    await bench.until(lambda: bench.engine.queries.fixes_at(bench.root / "cart.py", 3, 3))


async def test_the_whole_suite_in_idle_time_takes_an_offer_back(bench: Any, bad: str) -> None:
    await _offer_beside(bench, bad, lambda texts: "fixed" not in texts["cart.py"])
    await bench.until(lambda: not bench.engine.queries.fixes_at(bench.root / "cart.py", 3, 3))
    assert "test_far turns red" in bench.log
    assert "NO_FIX" in bench.engine.queries.explain(TEST)


async def test_a_test_that_is_red_once_by_chance_takes_no_offer_back(bench: Any, bad: str) -> None:
    with_the_fix = []

    def is_green(texts: Mapping[str, str]) -> bool:
        if "fixed" in texts["cart.py"]:
            with_the_fix.append(texts)
        return len(with_the_fix) != 1

    await _offer_beside(bench, bad, is_green)
    await bench.until(lambda: len(with_the_fix) > 1)
    await bench.rest(1)
    assert bench.engine.queries.fixes_at(bench.root / "cart.py", 3, 3)


async def test_the_tests_that_execute_a_fix_run_before_the_rest_of_the_suite(bench: Any, bad: str) -> None:
    await _offer_beside(bench, bad, lambda _: True)
    await bench.until(lambda: (FAR,) in bench.idle_runs)
    assert bench.idle_runs == [("tests/test_cart.py", "tests/test_far.py"), (TEST,), (FAR,)]


async def test_what_never_runs_by_itself_does_not_run_in_idle_time_either(bench: Any, bad: str) -> None:
    await _offer_beside(bench, bad, lambda _: True, **{"tests.never": [FAR]})
    await bench.until(lambda: (TEST,) in bench.idle_runs)
    await bench.rest(1)
    assert bench.idle_runs == [("tests/test_cart.py",), (TEST,)]


async def test_the_whole_suite_is_left_alone_when_it_is_not_known_to_be_quick(bench: Any, bad: str) -> None:
    bench.git.top = bench.root
    await bench.open()
    bench.save("cart.py", bad)
    await bench.until(lambda: bench.engine.queries.fixes_at(bench.root / "cart.py", 3, 3))
    await bench.rest(20)
    assert () not in bench.runs
    assert not bench.idle_runs


async def offered_early(bench: Any, bad: str) -> None:
    """Let a heal come to its first fix, and wait with the others."""
    bench.hold_proofs = asyncio.Event()
    await bench.open()
    bench.open_document("cart.py")
    bench.save("cart.py", bad)
    bench.engine.heal([TEST], bench.engine.queries.projects(None))
    await bench.until(lambda: bench.engine.queries.fixes_at(bench.root / "cart.py", 3, 3))


async def test_the_first_proven_fix_is_offered_while_others_are_looked_at(bench: Any, bad: str) -> None:
    await offered_early(bench, bad)
    titles = [lens.title for lens in bench.engine.queries.lenses(bench.root / "tests/test_cart.py")]
    assert titles[0].startswith("Expected 15, got -15 · Fix ready: `-=` → `+=`")
    bench.hold_proofs.set()
    await bench.until(lambda: not bench.engine._work.busy)
    assert len(bench.engine.queries.fixes_at(bench.root / "cart.py", 3, 3)) == 1


async def test_a_fix_that_is_taken_before_the_others_are_proven_is_not_offered_again(
    bench: Any, good: str, bad: str
) -> None:
    await offered_early(bench, bad)
    bench.type("cart.py", good)
    bench.hold_proofs.set()
    await bench.until(lambda: not bench.engine._work.busy)
    assert bench.engine.queries.fixes_at(bench.root / "cart.py", 3, 3) == []
    assert list(bench.engine.queries.marks(bench.root / "cart.py")) == []
    assert [undone for _, undone in bench.history.marks] == [False]
