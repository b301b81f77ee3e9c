"""A hot run says what a run of its own would say, or that it cannot."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from .client import LIMIT, Copy, Probe, probe
from .environments import lacking

SHOP = '''\
from functools import lru_cache, wraps

seen = []


def total(prices):
    """Add up."""
    result = 0
    for price in prices:
        result -= price
    return result


def early(n):
    return n + 1


FIRST = early(0)


class Base:
    def name(self):
        return "base"


class Cart(Base):
    class Inner:
        def deep(self):
            return 1

    def __init__(self):
        self.__hidden = 1

    def name(self):
        return super().name() + str(self.__hidden)

    @property
    def hidden(self):
        return self.__hidden

    def each(self):
        yield 1

    async def later(self):
        return 1


def kept(function):
    @wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


@kept
def decorated(n):
    return n


@lru_cache
def cached(n):
    def inner(m):
        return m + n

    return inner(n)


def limited(n, most=10):
    return min(n, most)


if True:
    def conditional():
        return 1


def one_line(n): return n
'''
TESTS = """\
import asyncio, os, shop

def test_total(): assert shop.total([1, 2]) == 3
def test_counts():
    shop.seen.append(1)
    assert shop.seen == [1]
def test_values():
    cart = shop.Cart()
    values = [shop.FIRST, shop.early(1), cart.name(), cart.Inner().deep(), cart.hidden, list(cart.each()),
              asyncio.run(cart.later()), shop.decorated(1), shop.cached(2), shop.limited(20), shop.conditional(),
              shop.one_line(5)]
    assert " ".join(map(str, values)) == os.environ.get("VALUES", "1 2 base1 1 1 [1] 1 1 4 10 1 5")
"""
FIXED = SHOP.replace("-=", "+=")


@pytest.fixture
def shop(tmp_path: Path) -> Copy:
    return Copy(tmp_path, {"shop.py": SHOP, "test_shop.py": TESTS})


@pytest.fixture
def parked(every_python: Path, shop: Copy) -> Iterator[tuple[Probe, int]]:
    with probe(every_python) as started:
        number, record = started.park(shop)
        assert record == {"id": number, "ev": "parked", "unfit": ""}
        yield started, number


def test_every_hot_run_starts_from_the_same_state(parked: tuple[Probe, int], shop: Copy) -> None:
    started, park = parked
    red = {"test_total": "failed", "test_counts": "passed", "test_values": "passed"}
    green = {**red, "test_total": "passed"}
    for name, text, expected in (("", "", red), ("shop.py", FIXED, green), ("", "", red)):
        ran = started.hot(shop, park, name, text)
        assert ran.outcomes == expected
        assert ran.one("finished")["exit"] == int(expected is red)
        assert ran.one("finished")["origins"] == ([str(shop.root / name)] if name else [])
        assert ran.one("ended")["code"] == 0
        assert len(ran.one("collected")["ids"]) == 3
    assert (shop.root / "shop.py").read_text() == SHOP


UNPATCHED = "1 2 base1 1 1 [1] 1 1 4 10 1 5"


@pytest.mark.parametrize(
    ("old", "new", "values"),
    [
        ("        result -= price\n", "        pass\n", UNPATCHED),
        ("    result = 0\n", "    result = 0\n    # a\n\n    result += 0\n", UNPATCHED),
        ("    return result\n", "    return result\n    return None\n", UNPATCHED),
        ("str(self.__hidden)", "str(self.__hidden + 1)", "1 2 base2 1 1 [1] 1 1 4 10 1 5"),
        ("            return 1\n", "            return 7\n", "1 2 base1 7 1 [1] 1 1 4 10 1 5"),
        ("        return self.__hidden\n", "        return 9\n", "1 2 base1 1 9 [1] 1 1 4 10 1 5"),
        ("yield 1", "yield from (3, 4)", "1 2 base1 1 1 [3, 4] 1 1 4 10 1 5"),
        (
            "async def later(self):\n        return 1",
            "async def later(self):\n        return 2",
            "1 2 base1 1 1 [1] 2 1 4 10 1 5",
        ),
        (
            "def decorated(n):\n    return n",
            "def decorated(n):\n    return -n",
            "1 2 base1 1 1 [1] 1 -1 4 10 1 5",
        ),
        ("return m + n", "return m * n * 3", "1 2 base1 1 1 [1] 1 1 12 10 1 5"),
        ("min(n, most)", "max(n, most)", "1 2 base1 1 1 [1] 1 1 4 20 1 5"),
        ("def one_line(n): return n\n", "def one_line(n): return n + 1\n", "1 2 base1 1 1 [1] 1 1 4 10 1 6"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_swapped_code_is_what_the_whole_file_would_give(
    host: Probe, shop: Copy, old: str, new: str, values: str, newline: str
) -> None:
    text = SHOP.replace(old, new, 1)
    assert text != SHOP
    park, _ = host.park(shop, env={"VALUES": values})
    ran = host.hot(shop, park, "shop.py", text.replace("\n", newline))
    assert [r["reason"] for r in ran.of("unswappable")] == []
    assert ran.outcomes["test_values"] == "passed"
    (shop.root / "shop.py").write_text(text)
    assert host.run(shop, env={"VALUES": values}).outcomes["test_values"] == "passed"
    host.send({"op": "kill", "id": park})
    host.until(park, lambda r: r["ev"] == "ended")


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("seen = []", "seen = [1]", "more than the body"),
        ("def limited(n, most=10)", "def limited(n, most=11)", "more than the body"),
        (
            "def limited(n, most=10):\n    return min",
            "def limited(n, most=11):\n    return max",
            "more than the body",
        ),
        ("@lru_cache\n", "", "more than the body"),
        ('"""Add up."""', '"""Sum."""', "docstring"),
        ("return n + 1", "return n + 2", "`early` ran while the tests were imported"),
        ("yield 1", "return [1]", "another kind of function"),
        ("        return self.__hidden\n", "        return super().x\n", "closes over other names"),
        ("        return 1\n\n\ndef one_line", "        return 2\n\n\ndef one_line", "more than the body"),
        ("    return result\n", "    return (\n", "cannot be compiled alone"),
        ("    return result\n", "    return result\n\n\ndef other():\n    pass\n", "more than"),
        ("def one_line(n): return n", "def one_line(m): return m", "signature"),
        ("return function(*args)", "return None", "`kept` ran while"),
    ],
)
def test_what_cannot_be_swapped_says_why(host: Probe, shop: Copy, old: str, new: str, reason: str) -> None:
    text = SHOP.replace(old, new, 1)
    assert text != SHOP
    park, _ = host.park(shop)
    ran = host.hot(shop, park, "shop.py", text)
    assert reason in ran.one("unswappable")["reason"]
    assert ran.of("test") == []
    host.send({"op": "kill", "id": park})
    host.until(park, lambda r: r["ev"] == "ended")


def test_files_that_pytest_rewrites_are_not_swapped(host: Probe, shop: Copy) -> None:
    park, _ = host.park(shop)
    ran = host.hot(shop, park, "test_shop.py", TESTS.replace("== 3", "== -3"))
    assert "not imported" in ran.one("unswappable")["reason"]


@pytest.mark.parametrize(
    ("top", "reason"),
    [
        (
            "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n",
            "thread",
        ),
        ("import subprocess\nchild = subprocess.Popen(['sleep', '60'])\n", "process"),
        ("import socket\nopened = socket.socket()\n", "socket"),
        ("raise OSError\n", "collected"),
    ],
)
def test_what_forks_would_share_keeps_a_run_from_being_parked(
    host: Probe, tmp_path: Path, top: str, reason: str
) -> None:
    copy = Copy(tmp_path, {"test_it.py": top + "def test_it(): pass\n"})
    number, record = host.park(copy)
    assert reason in record["unfit"]
    host.until(number, lambda r: r["ev"] == "ended")
    assert host.hot(copy, number).records[-1]["ev"] == "ended"


def test_a_hot_run_writes_only_to_its_own_temporary_folder(host: Probe, tmp_path: Path) -> None:
    if host.hello["isolation"]["level"] == "none":
        lacking("a kernel with Landlock (Linux 5.13)")
    test = "def test_copy(): open('new', 'w')\ndef test_temp(tmp_path): (tmp_path / 'new').write_text('x')\n"
    copy = Copy(tmp_path, {"test_it.py": test})
    park, _ = host.park(copy)
    ran = host.hot(copy, park)
    assert ran.outcomes == {"test_copy": "failed", "test_temp": "passed"}
    assert ran.failure("test_copy")["exception"] == "PermissionError"
    assert ran.one("started")["isolation"] == "partial"
    assert [path.name for path in copy.root.iterdir()] == ["test_it.py"]


HANGS = "import time\ndef wait():\n    time.sleep(0.01)\ndef test_it():\n    while True: wait()\n"


def test_a_hot_run_that_hangs_says_where_and_ends_alone(host: Probe, tmp_path: Path) -> None:
    copy = Copy(tmp_path, {"test_it.py": HANGS})
    park, _ = host.park(copy)
    number = host.ask_hot(copy, park)
    host.until(number, lambda r: r["ev"] == "begin")
    host.send({"op": "dump", "id": number})
    stack = host.until(number, lambda r: r["ev"] == "stack")[-1]
    assert stack["nodeid"] == "test_it.py::test_it"
    host.send({"op": "kill", "id": number})
    assert host.until(number, lambda r: r["ev"] == "ended")[-1]["signal"] == 9
    again = host.ask_hot(copy, park)
    host.until(again, lambda r: r["ev"] == "begin")


@pytest.mark.parametrize("how", ["kill", "leave"])
def test_hot_runs_end_with_the_parked_run_and_with_the_probe(
    every_python: Path, tmp_path: Path, how: str
) -> None:
    copy = Copy(tmp_path, {"test_it.py": HANGS})
    with probe(every_python) as started:
        park, _ = started.park(copy)
        numbers = {started.ask_hot(copy, park) for _ in range(2)}
        pids: list[int] = []
        while len(pids) < 2:
            record = started.record()
            pids += [record["pid"]] if record["ev"] == "started" else []
        if how == "kill":
            started.send({"op": "kill", "id": park})
            left = {park, *numbers}
            while left:
                record = started.record()
                left -= {record["id"]} if record["ev"] == "ended" else set()
    deadline = time.monotonic() + LIMIT
    while any(map(psutil.pid_exists, pids)):
        assert time.monotonic() < deadline
        time.sleep(0.01)
