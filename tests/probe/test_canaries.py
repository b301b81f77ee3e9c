"""A canary stands where the patched statement is, is heard whatever the code catches, and breaks nothing else."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from .client import Copy, Probe, island, probe

locate = island("canary").locate


SHOP = '''\
"""A shop."""
from __future__ import annotations
LIMIT = 10


def swallows(n):
    """Never raises."""
    try:
        n += 1
    except BaseException:
        return "caught"
    return n


def branch(n):
    if n > LIMIT:
        return "many"
    # a comment

    return "few"


@property
def decorated(
    self,
):
    return 1


class Cart:
    size = 3

    def total(self): return self.size

    def deep(self, n):
        for i in range(n):
            with open("x") as f: pass
        else:
            n = [
                1,
                n,
            ]
        return n
'''
FILES = {
    "shop.py": SHOP,
    "test_it.py": (
        "import shop\n"
        "def test_swallows(): assert shop.swallows(1) == 2\n"
        "def test_branch(): assert shop.branch(1) == 'few'\n"
        "def test_many(): assert shop.branch(100) == 'many'\n"
        "def test_total(): assert shop.Cart().total() == 3\n"
        "def test_forked():\n"
        "    import multiprocessing\n"
        "    process = multiprocessing.get_context('fork').Process(target=shop.swallows, args=(1,))\n"
        "    process.start(); process.join()\n"
    ),
}


@pytest.mark.parametrize(
    ("line", "tests", "red"),
    [
        (9, ["test_swallows"], {"test_swallows"}),  # inside `except BaseException`
        (11, ["test_swallows"], set()),  # not reached
        (16, ["test_branch", "test_many"], {"test_branch", "test_many"}),  # a header
        (17, ["test_branch", "test_many"], {"test_many"}),
        (18, ["test_branch", "test_many"], {"test_branch"}),  # a comment: the next statement
        (33, ["test_total"], {"test_total"}),  # a one-line method
    ],
)
def test_the_tests_that_reach_the_line_are_the_ones_that_fail(
    python: Path, copied: Copy, line: int, tests: list[str], red: set[str]
) -> None:
    path = str(copied.root / "shop.py")
    with probe(python) as started:
        ran = started.run(
            copied, *(f"test_it.py::{name}" for name in tests), canaries=[{"path": path, "line": line}]
        )
    assert {name for name, outcome in ran.outcomes.items() if outcome != "passed"} == red
    arrivals = ran.of("canary")
    assert len(arrivals) == bool(red)
    if red:
        assert (arrivals[0]["path"], arrivals[0]["line"]) == (path, line)


def test_an_arrival_that_is_swallowed_counts(host: Probe, copied: Copy) -> None:
    point = {"path": str(copied.root / "shop.py"), "line": 9}
    ran = host.run(copied, "test_it.py::test_swallows", canaries=[point])
    assert len(ran.of("canary")) == 1
    assert ran.failure("test_swallows")["comparison"]["left"] == "'caught'"


def test_an_arrival_in_a_fork_of_the_test_counts(host: Probe, copied: Copy) -> None:
    point = {"path": str(copied.root / "shop.py"), "line": 9}
    ran = host.run(copied, "test_it.py::test_forked", canaries=[point])
    assert len(ran.of("canary")) == 1
    assert len(ran.of("test")) == 1


@pytest.mark.parametrize("line", [1, 2, 3, 24, 25, 30, 31])
def test_at_import_it_ends_the_import(host: Probe, copied: Copy, line: int) -> None:
    ran = host.run(copied, canaries=[{"path": str(copied.root / "shop.py"), "line": line}])
    assert len(ran.of("canary")) == 1
    assert ran.one("collect_error")["failure"]["exception"].endswith("Canary")
    assert not ran.of("test")


def test_with_markers_the_spectrum_goes_up_to_the_canary(host: Probe, copied: Copy) -> None:
    point = {"path": str(copied.root / "shop.py"), "line": 20}
    ran = host.run(copied, "test_it.py::test_branch", canaries=[point], spectrum=True)
    assert ran.lines("test_branch", "shop.py") == [16, 20]


@pytest.mark.parametrize(
    ("line", "before"),
    [(8, 8), (9, 9), (10, 8), (11, 11), (13, 15), (14, 15), (19, 20), (23, 24), (25, 24), (29, 30), (31, 31),
     (35, 35), (36, 36), (37, 37), (38, 39), (41, 39), (43, 43), (99, 43)],
)  # fmt: skip
def test_every_line_has_a_statement_to_stand_before(line: int, before: int) -> None:
    _, statement = locate(ast.parse(SHOP), line)
    assert statement is not None
    assert statement.lineno == before


def test_docstrings_and_future_imports_stay_first() -> None:
    tree = ast.parse(SHOP)
    assert locate(tree, 1)[1] is tree.body[2]
    function = tree.body[3]
    assert isinstance(function, ast.FunctionDef)
    assert locate(tree, 7) == (function.body, function.body[1])
    lonely = ast.parse('def f():\n    """Text."""\n')
    assert isinstance(lonely.body[0], ast.FunctionDef)
    assert locate(lonely, 2) == (lonely.body[0].body, None)


def test_a_canary_in_a_repr_does_not_end_the_run(host: Probe, tmp_path: Path) -> None:
    copy = Copy(
        tmp_path,
        {
            "shop.py": "class Cart:\n    def __repr__(self):\n        return 'Cart()'\n",
            "test_it.py": "import shop\ndef test_red():\n    cart = shop.Cart()\n    assert cart is None\ndef test_next(): pass\n",
        },
    )
    ran = host.run(copy, canaries=[{"path": str(copy.root / "shop.py"), "line": 3}])
    assert ran.outcomes == {"test_red": "failed", "test_next": "passed"}
    assert len(ran.of("canary")) == 1
