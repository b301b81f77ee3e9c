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


def _digest(python: Path, base: Path, source: str, mode: str = "host", line: int = 9, **fields: Any) -> Any:
    copy = Copy(base, {"shop.py": source, "test_it.py": TEST})
    with probe(python, mode) as started:
        ran = started.run(copy, observe=[{"path": str(copy.root / "shop.py"), "line": line}], **fields)
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
    ran = host.run(copy, observe=[{"path": str(copy.root / "shop.py"), "line": 4}])
    assert ran.outcomes == {"test_it": "passed"}
    assert ran.one("behaviour")["calls"] == 1


def test_nothing_observed_is_nothing_said(host: Probe, tmp_path: Path) -> None:
    copy = Copy(tmp_path, {"shop.py": BASE, "test_it.py": TEST})
    assert host.run(copy).of("behaviour") == []
