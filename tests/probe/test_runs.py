"""A run, warm or cold, tells all about its tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .client import Copy, Probe, probe

FILES = {
    "src/shop/__init__.py": "",
    "src/shop/cart.py": (
        "def total(prices):\n"
        "    result = 0\n"
        "    for price in prices:\n"
        "        result -= price\n"
        "    return result\n"
        "\n"
        "def untouched():\n"
        "    return 1\n"
    ),
    "conftest.py": "import sys, os\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), 'src'))\n",
    "tests/test_cart.py": (
        "import unittest\n"
        "import pytest\n"
        "from shop import cart\n"
        "\n"
        "def test_total():\n"
        "    prices = [1, 2]\n"
        "    print('adding up')\n"
        "    assert cart.total(prices) == 3\n"
        "\n"
        "@pytest.mark.slow\n"
        "@pytest.mark.parametrize('n', [0, 1])\n"
        "def test_empty(n):\n"
        "    assert cart.total([0] * n) == 0\n"
        "\n"
        "@pytest.fixture\n"
        "def broken():\n"
        "    raise RuntimeError('no database')\n"
        "\n"
        "@pytest.fixture\n"
        "def leaking():\n"
        "    yield\n"
        "    raise OSError('not closed')\n"
        "\n"
        "def test_setup(broken): pass\n"
        "def test_teardown(leaking): pass\n"
        "def test_skipped(): pytest.skip('not today')\n"
        "@pytest.mark.xfail\n"
        "def test_expected(): assert 0\n"
        "@pytest.mark.xfail\n"
        "def test_unexpected(): pass\n"
        "@pytest.mark.xfail(strict=True)\n"
        "def test_strict(): pass\n"
        "\n"
        "class TestCase(unittest.TestCase):\n"
        "    def test_unit(self): self.assertEqual(cart.total([1]), 1)\n"
        "    @unittest.expectedFailure\n"
        "    def test_unit_expected(self): self.fail('yes')\n"
        "    def test_parts(self):\n"
        "        for i in range(3):\n"
        "            with self.subTest(i=i):\n"
        "                self.assertLess(i, 1)\n"
        "    def test_unit_skipped(self): self.skipTest('no')\n"
    ),
    "pytest.ini": "[pytest]\nmarkers = slow\n",
}
OUTCOMES = {
    "test_total": "failed",
    "test_empty[0]": "passed",
    "test_empty[1]": "passed",
    "test_setup": "error",
    "test_teardown": "error",
    "test_skipped": "skipped",
    "test_expected": "xfailed",
    "test_unexpected": "xpassed",
    "test_strict": "failed",
    "test_unit": "failed",
    "test_unit_expected": "xfailed",
    "test_parts": "failed",
    "test_unit_skipped": "skipped",
}


@pytest.mark.parametrize("mode", ["host", "run"])
@pytest.mark.parametrize("details", [True, False])
def test_every_outcome_of_a_suite_is_told_in_order(
    every_python: Path, copied: Copy, mode: str, details: bool
) -> None:
    with probe(every_python, mode) as started:
        ran = started.run(copied, details=details)

    assert ran.outcomes == OUTCOMES
    collected = ran.one("collected")
    assert collected["ids"] == [r["nodeid"] for r in ran.of("test")] == [r["nodeid"] for r in ran.of("begin")]
    assert collected["places"]["tests/test_cart.py::test_total"] == [str(ran.copy / "tests/test_cart.py"), 5]
    assert ran.one("finished")["exit"] == 1
    assert ran.one("ended") == {"id": 1, "ev": "ended", "code": 0, "signal": None}
    assert ran.tests["tests/test_cart.py::test_empty[0]"]["markers"] == ["parametrize", "slow"]
    phases = ran.tests["tests/test_cart.py::test_teardown"]["phases"]
    assert phases == {"setup": "passed", "call": "passed", "teardown": "failed"}
    for nodeid, test in ran.tests.items():
        red = test["outcome"] in ("failed", "error")
        assert (test["failure"] is not None) == red, nodeid


def test_a_failure_says_where_what_and_with_which_values(every_python: Path, copied: Copy) -> None:
    with probe(every_python) as started:
        ran = started.run(copied)
    failure = ran.failure("test_total")

    assert (failure["phase"], failure["exception"]) == ("call", "AssertionError")
    assert failure["message"].startswith("assert -3 == 3")
    assert "adding up" in failure["output"]
    assert failure["comparison"] == {
        "op": "==", "left": "-3", "right": "3", "left_type": "int", "right_type": "int"
    }  # fmt: skip
    frame = failure["frames"][-1]
    assert (frame["path"], frame["line"], frame["own"]) == (str(ran.copy / "tests/test_cart.py"), 8, True)
    assert frame["locals"] == [["prices", "list", "[1, 2]"]]
    setup = ran.failure("test_setup")
    assert (setup["phase"], setup["exception"], setup["message"]) == ("setup", "RuntimeError", "no database")
    assert setup["frames"][-1]["function"] == "broken"
    assert ran.failure("test_teardown")["phase"] == "teardown"
    assert ran.failure("test_parts")["comparison"]["left"] == "1"


def test_the_spectrum_has_the_lines_of_each_test_and_no_import(every_python: Path, copied: Copy) -> None:
    with probe(every_python) as started:
        ran = started.run(copied, spectrum=True)

    assert ran.lines("test_total", "src/shop/cart.py") == [2, 3, 4, 5]
    assert ran.lines("test_empty[0]", "src/shop/cart.py") == [2, 3, 5]
    assert ran.lines("test_skipped", "src/shop/cart.py") == []


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"args": ["tests/test_cart.py::test_empty[1]"]}, ["test_empty[1]"]),
        ({"stop_first": True}, ["test_total"]),
        ({"collect_only": True}, []),
    ],
    ids=["one test", "first failure", "collection"],
)
def test_only_what_was_asked_for_runs(
    host: Probe, copied: Copy, fields: dict[str, Any], names: list[str]
) -> None:
    ran = host.run(copied, **fields)

    assert list(ran.outcomes) == names
    assert ran.one("collected")["ids"]


def test_what_is_left_out_does_not_run(host: Probe, copied: Copy) -> None:
    asked = ("tests/test_cart.py::test_total", "tests/test_cart.py::test_empty")
    ran = host.run(copied, *asked, leave_out=["tests/test_cart.py::test_empty[0]", asked[0]])
    assert ran.outcomes == {"test_empty[1]": "passed"}
    assert ran.one("collected")["ids"] == ["tests/test_cart.py::test_empty[1]"]


def test_one_zygote_serves_many_runs_also_at_once(host: Probe, copied: Copy) -> None:
    numbers = [host.begin(copied, f"tests/test_cart.py::test_empty[{n}]") for n in (0, 1)]
    seen: dict[int, list[str]] = {n: [] for n in numbers}
    while any("ended" not in events for events in seen.values()):
        record = host.record()
        seen[record["id"]].append(record["ev"])

    usual = ["started", "collected", "begin", "test", "finished", "ended"]
    assert list(seen.values()) == [usual, usual]
    assert host.run(copied, "tests/test_cart.py::TestCase::test_unit").outcomes == {"test_unit": "failed"}


def test_without_fork_the_host_says_so_and_waits(python: Path) -> None:
    with probe(python, REGREEN_NO_FORK="1") as started:
        assert started.hello["fork"] is False
        started.send({"op": "precompile", "files": []})


def test_the_hello_knows_the_interpreter(every_python: Path) -> None:
    with probe(every_python) as started:
        hello = started.hello
    assert hello["v"] == 1
    assert hello["pytest"][0] in "789"
    assert Path(hello["prefix"]) == every_python.parents[1]
    assert Path(hello["executable"]) == every_python
    assert hello["roots"] == []
