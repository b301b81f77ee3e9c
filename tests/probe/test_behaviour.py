"""The digest of a function's calls is equal exactly when its visible behaviour is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .client import Copy, Probe, probe

TEST = (
    "import shop\n"
    "class Thing: pass\n"
    "def test_it():\n"
    "    thing = Thing()\n"
    "    thing.names = {'b', 'a', 'c'}\n"
    "    for n in range(4):\n"
    "        try: shop.outer(n, thing, extra={'x': object()})\n"
    "        except Exception: pass\n"
    "    shop.unseen(1)\n"
)
BASE = (
    "def lower(n):\n"
    "    return n + 1\n"
    "\n"
    "def outer(n, *things, **more):\n"
    "    if n == 3:\n"
    "        raise KeyError(n)\n"
    "    if n == 2:\n"
    "        return None\n"
    "    return lower(n)\n"
    "\n"
    "def unseen(n):\n"
    "    return n\n"
)


def _watching(copy: Copy, line: int, *tests: str) -> dict[str, Any]:
    point = {"path": str(copy.root / "shop.py"), "line": line}
    return {"observe": [point], "observe_during": tests or ["test_it.py::test_it"]}


def _digest(python: Path, base: Path, source: str, mode: str = "host", line: int = 9, **fields: Any) -> Any:
    copy = Copy(base, {"shop.py": source, "test_it.py": TEST})
    with probe(python, mode) as started:
        ran = started.run(copy, **_watching(copy, line), **fields)
    assert ran.outcomes == {"test_it": "passed"}
    record = ran.one("behaviour")
    assert ran.records.index(record) < ran.records.index(ran.one("finished"))
    return record["digest"], record["calls"]


def test_the_same_behaviour_has_the_same_digest_in_every_process(python: Path, tmp_path: Path) -> None:
    same = BASE.replace("return lower(n)", "n += 1\n    return n")
    found = {
        _digest(python, tmp_path / "0", BASE),
        _digest(python, tmp_path / "1", BASE),
        _digest(python, tmp_path / "2", BASE, mode="run"),
        _digest(python, tmp_path / "3", BASE, spectrum=True),
        _digest(python, tmp_path / "4", same),
        _digest(python, tmp_path / "5", BASE.replace("return n\n", "return -n\n"), line=5),
    }
    assert len(found) == 1
    ((digest, calls),) = found
    assert (len(digest), calls) == (64, 4)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return n + 1", "return n + 2"),
        ("return n + 1", "return str(n + 1)"),
        ("raise KeyError(n)", "raise IndexError(n)"),
        ("raise KeyError(n)", "return None"),
        ("return None", "raise ValueError"),
        ("    return lower(n)\n", "    things[0].names.add('d')\n    return lower(n)\n"),
    ],
)
def test_another_behaviour_has_another_digest(python: Path, tmp_path: Path, old: str, new: str) -> None:
    before = _digest(python, tmp_path / "0", BASE)
    assert _digest(python, tmp_path / "1", BASE.replace(old, new)) != before


def test_reprs_that_fail_do_not_matter(host: Probe, tmp_path: Path) -> None:
    copy = Copy(
        tmp_path,
        {
            "shop.py": "class Bad:\n    def __repr__(self): raise OSError\ndef f(x):\n    return x\n",
            "test_it.py": "import shop\ndef test_it(): shop.f(shop.Bad())\n",
        },
    )
    ran = host.run(copy, **_watching(copy, 4))
    assert ran.outcomes == {"test_it": "passed"}
    assert ran.one("behaviour")["calls"] == 1


def test_only_the_calls_of_the_observed_tests_count(host: Probe, tmp_path: Path) -> None:
    files = {
        "shop.py": "import sys\ndef f(x):\n    return x\ndef traced():\n    return sys.gettrace() is not None\n",
        "test_it.py": (
            "import shop\n"
            "def test_one():\n    shop.f(1); assert not shop.traced()\n"
            "def test_two():\n    shop.f(1); shop.f(1); assert shop.traced()\n"
            "def test_three():\n    shop.f(1); assert not shop.traced()\n"
        ),
    }
    copy = Copy(tmp_path, files)
    ran = host.run(copy, **_watching(copy, 3, "test_it.py::test_two"))
    assert set(ran.outcomes.values()) == {"passed"}
    assert ran.one("behaviour")["calls"] == 2


def test_a_function_called_without_end_is_watched_for_its_first_calls(host: Probe, tmp_path: Path) -> None:
    """The digest stays the same for what comes later; a call that is still going on does not disturb."""
    shop = "def f(x):\n    return x if x != {} else -x\n" + "def g(n):\n    return n and 1 + g(n - 1)\n"
    test = "import shop\ndef test_it():\n    for n in range(600): shop.f(n)\n"
    deep = test + "def test_deep(): assert shop.g(600) == 600\n"

    def record(name: str, patched: int, line: int) -> Any:
        copy = Copy(tmp_path / name, {"shop.py": shop.format(patched), "test_it.py": deep})
        ran = host.run(copy, **_watching(copy, line, "test_it.py::test_it", "test_it.py::test_deep"))
        assert set(ran.outcomes.values()) == {"passed"}
        return ran.one("behaviour")

    whole = record("0", 7000, 2)
    assert whole["calls"] == 500
    assert record("1", 550, 2)["digest"] == whole["digest"]
    assert record("2", 450, 2)["digest"] != whole["digest"]
    assert record("3", 7000, 4)["calls"] == 500


def test_nothing_observed_is_nothing_said(host: Probe, tmp_path: Path) -> None:
    copy = Copy(tmp_path, {"shop.py": BASE, "test_it.py": TEST})
    assert host.run(copy).of("behaviour") == []
