"""What the real probe says has exactly the shape of the golden records, which the server's tests read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .client import Copy, Record, probe
from .environments import environment, pythons

GOLDEN = Path(__file__).parents[1] / "golden" / "wire"
NAMED_BY_PROJECT = {"places", "phases", "hints", "lines"}
"""Objects whose keys are the project's, not the format's."""


OPTIONAL = {"lines"}
"""Fields that only some runs ask for."""


def golden(name: str) -> list[Record]:
    return [json.loads(line) for line in (GOLDEN / name).read_text("utf-8").splitlines()]


def shape(value: Any, name: str = "") -> Any:
    """A value without its contents."""
    if isinstance(value, dict):
        if name in NAMED_BY_PROJECT:
            return "an object"
        return {key: shape(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return "a list"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return "a number"
    return type(value).__name__


FILES = {
    "cart.py": "def total(n):\n    return n\n",
    "broken.py": "x = (\n",
    "test_broken.py": "def test_x(:\n",
    "test_cart.py": (
        "import pytest, time, cart\n"
        "def test_total():\n"
        "    n = 3\n"
        "    assert cart.total(n) == 2\n"
        "def test_canary():\n"
        "    cart.total(1)\n"
        "@pytest.mark.skip\n"
        "def test_later(): pass\n"
        "def test_hang():\n"
        "    while True: time.sleep(0.01)\n"
    ),
}


@pytest.fixture(scope="module", params=pythons(), ids=str)
def real(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Record]:
    """Records of every kind."""
    copy = Copy(tmp_path_factory.mktemp("golden"), FILES)
    cart = str(copy.root / "cart.py")
    with probe(environment(request.param)) as started:
        records = [started.hello]
        whole = ["test_broken.py", *(f"test_cart.py::test_{name}" for name in ("total", "later"))]
        watched = {"observe": [{"path": cart, "line": 2}], "observe_during": ["test_cart.py::test_total"]}
        records += started.run(copy, *whole, spectrum=True, **watched).records
        records += started.run(
            copy, "test_cart.py::test_canary", canaries=[{"path": cart, "line": 2}]
        ).records
        other = [{"path": cart, "text": FILES["cart.py"].replace("return n", "return n + 1")}]
        records += started.run(copy, "test_cart.py::test_total", spectrum=True, compare=other).records
        seen = [{"path": cart, "line": 2}]
        records += started.run(copy, "test_cart.py::test_total", synthesise=seen).records
        records += started.run(copy, overlaid=[str(copy.root / "broken.py")]).records
        number, parked = started.park(copy, "test_cart.py::test_total")
        records += [parked, *started.hot(copy, number, "test_cart.py", "").records]
        number = started.begin(copy, "test_cart.py::test_hang", spectrum=True)
        started.until(number, lambda r: r["ev"] == "begin")
        started.send({"op": "dump", "id": number})
        records += started.until(number, lambda r: r["ev"] == "stack")
        started.send({"op": "kill", "id": number})
        records += started.until(number, lambda r: r["ev"] == "ended")
    with probe(environment(request.param), "wait") as started:
        records += [started.hello, started.check()]
    return records


@pytest.mark.parametrize(
    "name", ["hello", "run", "hang", "uncompilable", "behaviour", "compared", "synthesis", "hot", "waiting"]
)
def test_every_golden_record_has_a_real_one_of_its_shape(real: list[Record], name: str) -> None:
    shapes: dict[str, list[Any]] = {}
    for record in real:
        shapes.setdefault(record["ev"], []).append(shape(record))
    for record in golden(f"{name}.jsonl"):
        if record["ev"] == "hello" and record["pytest"] is None:
            continue  # these environments have one
        wanted = shape(record)
        assert any(fits(wanted, real_one) for real_one in shapes[record["ev"]]), record


def fits(wanted: Any, found: Any) -> bool:
    """Whether a shape has everything wanted; fields that the server may do without are not in the golden files."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        keys = [k for k in wanted if k in found or k not in OPTIONAL]
        return all(k in found and fits(wanted[k], found[k]) for k in keys)
    return bool(wanted == found)


def test_every_kind_of_record_is_among_the_golden_ones(real: list[Record]) -> None:
    known = {r["ev"] for path in GOLDEN.glob("*.jsonl") for r in golden(path.name) if "ev" in r}
    assert {r["ev"] for r in real} == known


def test_the_probe_obeys_the_golden_request(tmp_path: Path) -> None:
    request = golden("request.jsonl")[0]
    assert set(request) == set(Copy(tmp_path, {}).request())
