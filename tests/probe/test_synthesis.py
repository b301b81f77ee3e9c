"""From what functions saw while real tests ran, the probe tells expressions that give what the red test asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from .client import Copy, Ran, probe
from .environments import environment, pythons


def ran(python: Path, base: Path, source: str, test: str, line: int = 2) -> Ran:
    copy = Copy(base, {"shop.py": source, "test_it.py": "from shop import *\n" + test})
    with probe(python) as started:
        return started.run(copy, synthesise=[{"path": str(copy.root / "shop.py"), "line": line}])


def told(run: Ran, kind: str, *, fits: bool = True) -> list[str]:
    return [r["text"] for r in run.of("expression") if (r["kind"], r["fits"]) == (kind, fits)]


@pytest.fixture(params=pythons(), ids=str)
def each(request: pytest.FixtureRequest) -> Path:
    return environment(request.param)


def test_a_returned_value_is_what_the_test_compared_it_with(each: Path, tmp_path: Path) -> None:
    source = "def area(width, height, border):\n    return width + height\n"
    test = "def test_a(): assert area(7, 3, 5) == 26\ndef test_b(): assert 23 == area(2, 11, 1)\n"
    run = ran(each, tmp_path, source, test)
    (place,) = {
        (r["line"], r["column"], r["end_line"], r["end_column"]) for r in run.of("expression") if r["fits"]
    }
    assert place == (2, 11, 2, 25)
    assert {"border + width * height", "width * height + border"} & set(told(run, "value"))


def test_what_green_tests_got_stays(python: Path, tmp_path: Path) -> None:
    source = "def double(n):\n    return n + 2\n"
    test = "def test_a(): assert double(5) == 10\ndef test_b():\n    assert double(2) == 4\n    assert double(3) == 5\n"
    assert (
        told(ran(python, tmp_path, source, test), "value") == []
    )  # 2 → 4, 3 → 5 and 5 → 10 is no small thing


def test_a_condition_is_forced_until_the_test_is_green(each: Path, tmp_path: Path) -> None:
    source = "def above(prices, limit):\n    return [price for price in prices if price > 0]\n"
    test = "def test_a(): assert above([5, 12, 7], 6) == [12, 7]\ndef test_b(): assert above([4], 3) == [4]\n"
    assert "price > limit" in told(ran(each, tmp_path, source, test), "condition")


def test_a_guard_that_is_missing_is_found_where_skipping_helps(each: Path, tmp_path: Path) -> None:
    source = "def kept(numbers, skip):\n    out = []\n    for number in numbers:\n        out.append(number)\n    return out\n"
    test = (
        "def test_a(): assert kept([1, 5, 7], 5) == [1, 7]\ndef test_b(): assert kept([5, 3], 4) == [5, 3]\n"
    )
    run = ran(each, tmp_path, source, test)
    assert told(run, "continue")[0] == "number == skip"
    assert {(r["line"], r["column"]) for r in run.of("expression") if r["kind"] == "continue"} == {(4, 8)}


def test_a_loop_without_end_is_looked_into_too(python: Path, tmp_path: Path) -> None:
    source = "def steps(n, most):\n    done = 0\n    while n > 0:\n        done += 1\n    return done\n"
    test = "def test_a(): assert steps(9, 3) == 3\ndef test_b(): assert steps(0, 0) == 0\n"
    run = ran(python, tmp_path, source, test)
    assert run.outcomes["test_a"] == "failed"
    assert {"done < most", "most > done"} & set(told(run, "condition"))


def test_a_key_brings_things_in_another_order(each: Path, tmp_path: Path) -> None:
    source = "def ordered(names):\n    return sorted(names)\n"
    test = "def test_a(): assert ordered(['fig', 'melon', 'kiwi', 'apple']) == ['apple', 'melon', 'kiwi', 'fig']\n"
    keys = told(ran(each, tmp_path, source, test), "order", fits=False)
    assert ", key=len" in keys
    assert ", key=lambda x: (-len(x), x)" in keys


def test_columns_are_characters(python: Path, tmp_path: Path) -> None:
    source = "def f(n):\n    return ('é' * 0 + 'ü', n)[1]\n"
    run = ran(python, tmp_path, source, "def test_a(): assert f(3) == -3\n")
    spans = {r["text"]: (r["column"], r["end_column"]) for r in run.of("expression") if r["fits"]}
    assert spans["-n"] == (11, 32)


def test_forced_runs_are_not_told(python: Path, tmp_path: Path) -> None:
    source = "def f(n):\n    if n > 3:\n        return 1\n    return 2\n"
    run = ran(python, tmp_path, source, "def test_a(): assert f(3) == 1\ndef test_b(): assert f(9) == 1\n")
    assert told(run, "condition")
    assert [r["nodeid"] for r in run.of("test")] == ["test_it.py::test_a", "test_it.py::test_b"]
    assert run.outcomes == {"test_a": "failed", "test_b": "passed"}


def test_nothing_red_is_nothing_to_look_for(python: Path, tmp_path: Path) -> None:
    run = ran(python, tmp_path, "def f(n):\n    return n\n", "def test_a(): assert f(3) == 3\n")
    assert run.of("expression") == []
