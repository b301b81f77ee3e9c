"""Candidates are asked the calls that the tests make and others like them, each in a process of its own."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from .client import Copy, Ran, Record, island, probe

called, drawn = island("calls"), island("drawn")

MEAN = "def mean(xs, *, start=0):\n    return (start + sum(xs)) / (len(xs) + 1)\n"
TESTS = (
    "from shop import mean\n"
    "def test_some(): assert mean([1, 2, 6]) == 3\n"
    "def test_one(): assert mean([4], start=1.5) == 5.5\n"
)


def compared(python: Path, base: Path, source: str, tests: str, *patched: str, mode: str = "host") -> Ran:
    copy = Copy(base, {"shop.py": source, "test_it.py": tests})
    candidates = [{"path": str(copy.root / "shop.py"), "text": text} for text in patched]
    with probe(python, mode) as started:
        return started.run(copy, spectrum=True, compare=candidates)


def calls(ran: Ran) -> dict[str, Record]:
    return {record["call"]: record for record in ran.of("compared")}


def answers(record: Record) -> list[Any]:
    return [None if n is None else record["answers"][n] for n in [record["before"], *record["after"]]]


@pytest.mark.parametrize("mode", ["host", "run"])
def test_every_call_of_a_test_is_asked_and_many_others(python: Path, tmp_path: Path, mode: str) -> None:
    good = MEAN.replace("(len(xs) + 1)", "len(xs)")
    never = MEAN.replace("(len(xs) + 1)", "max(1, len(xs))")
    ran = compared(python, tmp_path, MEAN, TESTS, good, never, mode=mode)
    seen = calls(ran)
    assert answers(seen["mean([1, 2, 6], start=0)"]) == ["2.25", "3.0", "3.0"]
    assert seen["mean([1, 2, 6], start=0)"]["test"] == "test_it.py::test_some"
    assert seen["mean([4], start=1.5)"]["test"] == "test_it.py::test_one"
    made_up = [record for record in seen.values() if not record["test"]]
    assert len(made_up) > 50
    empty = [answers(record) for call, record in seen.items() if call.startswith("mean([], ")]
    assert empty
    assert all(good == "ZeroDivisionError" != never for _, good, never in empty)
    assert all(good == never for _, good, never in map(answers, seen.values()) if good != "ZeroDivisionError")
    assert ran.outcomes == {"test_some": "failed", "test_one": "failed"}


def test_the_same_tests_give_the_same_calls(python: Path, tmp_path: Path) -> None:
    first = compared(python, tmp_path / "0", MEAN, TESTS, MEAN.replace("+ 1", "+ 2"))
    again = compared(python, tmp_path / "1", MEAN, TESTS, MEAN.replace("+ 1", "+ 3"))
    assert list(calls(first)) == list(calls(again))


def test_what_a_candidate_does_to_its_arguments_is_part_of_its_answer(python: Path, tmp_path: Path) -> None:
    source = "def top(xs):\n    return max(xs)\n"
    tests = "from shop import top\ndef test_top(): assert top([1, 3, 2]) == 3\n"
    ran = compared(
        python, tmp_path, source, tests, source.replace("return max(xs)", "xs.sort(); return xs[-1]")
    )
    assert answers(calls(ran)["top([1, 3, 2])"]) == ["3", "3, leaving [1, 2, 3]"]


def test_methods_are_asked_with_the_object_they_were_called_on(python: Path, tmp_path: Path) -> None:
    source = (
        "class Cart:\n    def __init__(self): self.n = 2\n    def total(self, price):\n        return price\n"
    )
    tests = "from shop import Cart\ndef test_total(): assert Cart().total(5) == 10\n"
    ran = compared(python, tmp_path, source, tests, source.replace("return price", "return price * self.n"))
    assert answers(calls(ran)["Cart.total(shop.Cart{'n': 2}, 5)"]) == ["5", "10"]


def test_a_candidate_does_not_see_what_the_one_before_it_left(python: Path, tmp_path: Path) -> None:
    source = "seen = []\ndef count(n):\n    seen.append(n)\n    return len(seen) - n\n"
    tests = "import shop\ndef test_count():\n    shop.seen.clear()\n    assert shop.count(2) == 1\n"
    more = source.replace("- n", "+ n")
    ran = compared(python, tmp_path, source, tests, more, more)
    for record in calls(ran).values():
        _, first, second = answers(record)
        assert first == second


def test_a_cached_answer_of_the_unpatched_code_is_no_answer_of_a_candidate(
    python: Path, tmp_path: Path
) -> None:
    source = (
        "import functools\n"
        "@functools.lru_cache(None)\n"
        "def fib(n):\n"
        "    return n if n < 1 else fib(n - 1) + fib(n - 2)\n"
    )
    tests = "from shop import fib\ndef test_fib(): assert fib(6) == 8\n"
    ran = compared(python, tmp_path, source, tests, source.replace("n < 1", "n < 2"))
    assert answers(calls(ran)["fib(6)"])[1] == "8"


def test_a_candidate_that_does_not_end_is_heard_and_costs_the_others_nothing(
    python: Path, tmp_path: Path
) -> None:
    endless = MEAN.replace("    return", "    while not xs:\n        pass\n    return")
    good = MEAN.replace("(len(xs) + 1)", "max(1, len(xs))")
    ran = compared(python, tmp_path, MEAN, TESTS, endless, good)
    empty = next(record for call, record in calls(ran).items() if call.startswith("mean([], "))
    assert answers(empty)[1] == "does not end"
    assert answers(empty)[2] not in {"does not end", None}


def test_what_disagrees_with_itself_is_not_compared(python: Path, tmp_path: Path) -> None:
    source = "import os\ndef name(n):\n    return n + os.getpid()\n"
    tests = "from shop import name\ndef test_name(): assert name(1) == 1\n"
    assert calls(compared(python, tmp_path, source, tests, source.replace("n + os.getpid()", "n"))) == {}


def test_a_candidate_that_cannot_be_swapped_is_not_asked(python: Path, tmp_path: Path) -> None:
    good = MEAN.replace("(len(xs) + 1)", "len(xs)")
    ran = compared(python, tmp_path, MEAN, TESTS, "import math\n" + good, good)
    assert {answers(record)[1] for record in calls(ran).values()} == {None}
    assert None not in {answers(record)[2] for record in calls(ran).values()}


def test_nothing_is_compared_where_tests_leave_a_thread(python: Path, tmp_path: Path) -> None:
    tests = TESTS + (
        "import threading, time\n"
        "def test_thread(): threading.Thread(target=time.sleep, args=(30,), daemon=True).start()\n"
    )
    ran = compared(python, tmp_path, MEAN, tests, MEAN.replace("+ 1", "+ 2"))
    assert calls(ran) == {}
    assert ran.one("finished")["exit"] == 1


def test_hypothesis_gives_values_of_what_was_seen_where_it_is_installed(tmp_path: Path) -> None:
    source = (
        "def label(name, sizes, box, deep, *, wide=None):\n"
        "    return [name, sorted(sizes), box, deep, wide]\n"
    )
    tests = (
        "from shop import label\n"
        "def test_a(): assert label('ab', {1, 2}, (1, 'x'), {'k': [1.5]}, wide=3) == 1\n"
        "def test_b(): assert label('', {40}, (7, ''), {}) == 1\n"
    )
    patched = source.replace("sorted(sizes)", "sizes")
    ran = compared(Path(sys.executable), tmp_path / "0", source, tests, patched)
    again = compared(Path(sys.executable), tmp_path / "1", source, tests, patched)
    assert list(calls(ran)) == list(calls(again))
    made_up = [call for call, record in calls(ran).items() if not record["test"]]
    far = [call for call in made_up if re.search(r"\{(-[3-9]|[5-7])\d?\W", call)]
    assert far, made_up  # neighbours of what was seen are never that far away at once
    assert not list((tmp_path / "0" / "user").rglob(".hypothesis"))


def test_values_that_hypothesis_cannot_make_are_those_that_were_seen(tmp_path: Path) -> None:
    source = "class Cart: pass\ndef first(carts, n):\n    return n\n"
    tests = "from shop import Cart, first\ndef test_first(): assert first([Cart()], 3) == 4\n"
    ran = compared(Path(sys.executable), tmp_path, source, tests, source.replace("return n", "return n + 1"))
    made_up = [call for call, record in calls(ran).items() if not record["test"]]
    assert all("Cart" in call or "[]" in call for call in made_up), made_up
    assert len(made_up) > 20


def test_what_is_drawn_stays_small_however_large_what_was_seen_is() -> None:
    seen = called.Call(_top, [list(range(50_000)), {n: str(n) for n in range(50_000)}], {})
    made = drawn.more([seen], 200)
    assert len(made) > 100
    assert max(len(value) for call in made for value in call.positional) <= drawn.LONGEST


def _top(xs: list[int], names: dict[int, str]) -> str:
    return names[max(xs)]
