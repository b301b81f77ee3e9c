"""Which projects does the server work on while it is measured?"""

from __future__ import annotations

import json
from pathlib import Path

FAILURES = 1000

SHOP = """\
# {note}


def total(prices):
    result = 0
    for price in prices:
        result {operator} price
    return result


def count(prices):
    return len(prices)
"""

SHOP_TESTS = """\
from shop import count, total


def test_total():
    assert total([1, 2, 3]) == 6


def test_count():
    assert count([1, 2, 3]) == 3
"""

RIDDLE = """\
def riddle(a, b, c):
    x = a + b * c
    y = x - b if x > c else b - x
    z = (y * 3 + x) // 2
    w = [z + i * x - y for i in range(a, b + c) if i % 2 == 0 or i < y]
    return sum(w) + max(w, default=0) * x - min(w, default=1) * y
"""

RIDDLE_TESTS = """\
import time

from riddle import riddle


def test_riddle():
    time.sleep(0.05)
    assert [riddle(1, 2, 3), riddle(3, 4, 5)] == ["no", "arithmetic gives words"]
"""

MANY = """\
def test_{n}():
    assert sum(range({n})) < 0


"""


def shop(folder: Path) -> tuple[Path, Path]:
    """A project with one function that is right until somebody breaks it; gives its module and its tests."""
    return _write(folder, "shop.py", shop_text("+=")), _write(folder, "test_shop.py", SHOP_TESTS)


def shop_text(operator: str, note: str = "a shop") -> str:
    """The module's text; a `note` of its own makes it one that the server has not seen before."""
    return SHOP.format(operator=operator, note=note)


def crowd(folder: Path) -> tuple[Path, Path]:
    """A project of 1,000 red tests, and one red test that no patch mends; gives the tests of both.

    The user's own last run is there as pytest leaves it, so that the failures are known when it is opened.
    """
    many = _write(folder, "test_many.py", "".join(MANY.format(n=n) for n in range(FAILURES)))
    _write(folder, "riddle.py", RIDDLE)
    riddle = _write(folder, "test_riddle.py", RIDDLE_TESTS)
    red = {f"test_many.py::test_{n}": True for n in range(FAILURES)}
    red["test_riddle.py::test_riddle"] = True
    cache = folder / ".pytest_cache" / "v" / "cache"
    cache.mkdir(parents=True)
    (cache / "lastfailed").write_text(json.dumps(red), encoding="utf-8")
    (cache / "nodeids").write_text(json.dumps(sorted(red)), encoding="utf-8")
    return many, riddle


def _write(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
