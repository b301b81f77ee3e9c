"""A failure is told with what is needed to understand it, and with nothing that it should not have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .client import Copy, Probe, Ran, probe
from .environments import edges, environment

SHOP = """\
import functools

class Cart:
    def __init__(self, items, price=0):
        self.items = items
        self.table = {"price": 1, "name": 2}

    def total(self, discount=0):
        return self.itms

    def look(self):
        return self.table["pirce"]

    @property
    def explosive(self):
        raise SystemExit

class Unprintable:
    def __repr__(self):
        raise RuntimeError("no")

class Huge:
    def __repr__(self):
        return "x" * 100_000

def area(width, height):
    return width * heigth

def root(n):
    return sqrt(n)

def counted():
    return Counter()

def called(n):
    return called(n + 1)

def apply(function):
    return function()

def unbound():
    if False:
        valeu = 1
    return valeu

class Oops(ValueError):
    pass
"""
TESTS = '''\
import functools, json, socket, unittest, urllib.request
from unittest import mock
import pytest
import shop

def test_attribute(): shop.Cart([1]).total()
def test_key(): shop.Cart([1]).look()
def test_plain_key():
    prices = {"apple": 1, "pear": 2}
    return prices["aple"]
def test_name(): shop.area(1, 2)
def test_standard(): shop.root(4)
def test_counter(): shop.counted()
def test_unbound(): shop.unbound()
def test_keyword(): shop.Cart([], pric=3)
def test_method_keyword(): shop.Cart([]).total(discont=3)
def test_missing(): shop.area(1)
def test_module(): shop.arae
def test_none():
    nothing = None
    nothing.strip()
def test_class(): shop.Cart.totl
def test_import_name():
    from shop import aera
def test_import_module():
    import shopp
def test_explosive(): shop.Cart([]).explosve
def test_not_none_subscript(): return None[0]

def test_in():
    x = 3
    assert x in [1, 2]
def test_bare():
    empty = []
    assert empty
def test_not():
    full = [1]
    assert not full
def test_call():
    assert isinstance(1, str)
def test_approx(): assert 1.0 == pytest.approx(2)
def test_earlier_caught():
    try:
        assert 1 == 2
    except AssertionError:
        pass
    raise AssertionError("other")
def test_earlier_caught_then_another():
    try:
        assert 1 == 2
    except AssertionError:
        pass
    assert "a" == "b"
def test_partly():
    a, b = 1, 2
    assert a == 1 and b == 3
def test_chain():
    assert 1 < 5 < 3
def test_message():
    assert [1] == [2], "the lists differ"
def must_be_two(value):
    assert value == 2
def test_in_another(): must_be_two(1)
class TestUnit(unittest.TestCase):
    def test_equal(self): self.assertEqual([1], [2])
    def test_true(self): self.assertTrue(0)
    def test_unit_in(self): self.assertIn(1, (2,))
    def test_is_none(self): self.assertIsNone(5)
    def test_dict(self): self.assertDictEqual({"a": 1}, {"a": 2})
    def test_almost(self): self.assertAlmostEqual(1.0, 1.5)
    def test_raises(self):
        with self.assertRaises(ValueError): pass

def test_secrets():
    api_key, password, db_token, plain = "k", "p", "t", "shown"
    assert plain == ""
def test_unprintable():
    bad = shop.Unprintable()
    assert not bad
def test_huge():
    big, long, many = shop.Huge(), list(range(100_000)), {n: n for n in range(10_000)}
    assert big is None
def test_deep(): shop.called(0)
def test_connect(): socket.create_connection(("127.0.0.1", 1))
def test_connect_behind():
    with mock.patch("urllib.request.getproxies", dict): urllib.request.urlopen("http://127.0.0.1:1/")
def test_foreign_code(): json.loads("{")
def test_own_below_foreign(): functools.reduce(lambda a, b: shop.area(1, 2), [1, 2, 3])
def test_qualified(): raise shop.Oops("it\\u00e9")
def test_cause():
    try:
        raise KeyError("inner")
    except KeyError as e:
        raise shop.Oops("outer") from e
def test_prints():
    print("x" * 10_000 + "the end")
    assert 0
def test_raises_nothing():
    with pytest.raises(ValueError): pass
def test_fail(): pytest.fail("given up")
def test_long(): raise ValueError("m" * 10_000)
def test_many_locals():
    exec("\\n".join(f"v{n} = {n}" for n in range(100)))
    """ + "".join(f"w{n} = {n}; " for n in range(50)) + """
    assert 0
'''.replace(
    '""" + "".join(f"w{n} = {n}; " for n in range(50)) + """', "; ".join(f"w{n} = {n}" for n in range(50))
)
FILES = {"shop.py": SHOP, "test_it.py": TESTS}


@pytest.fixture(scope="module", params=edges(), ids=str)
def ran(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    copy = Copy(tmp_path_factory.mktemp("failures"), FILES)
    with probe(environment(request.param)) as started:
        return started.run(copy)


@pytest.mark.parametrize(
    ("name", "exception", "hints"),
    [
        ("test_attribute", "AttributeError", {"name": "itms", "near": "items", "type": "shop.Cart"}),
        ("test_key", "KeyError", {"name": "pirce", "near": "price"}),
        ("test_plain_key", "KeyError", {"name": "aple", "near": "apple"}),
        ("test_name", "NameError", {"name": "heigth", "near": "height,exit"}),
        ("test_standard", "NameError", {"name": "sqrt", "import": "math:sqrt", "near": "sorted"}),
        (
            "test_counter",
            "NameError",
            {"name": "Counter", "near": "counted", "import": "collections:Counter"},
        ),
        (
            "test_keyword",
            "TypeError",
            {"name": "pric", "near": "price", "signature": "(self, items, price=0)"},
        ),
        (
            "test_method_keyword",
            "TypeError",
            {"name": "discont", "near": "discount", "signature": "(self, discount=0)"},
        ),
        ("test_missing", "TypeError", {"signature": "(width, height)"}),
        (
            "test_module",
            "AttributeError",
            {"name": "arae", "near": "area", "type": "module", "module": "shop"},
        ),
        ("test_none", "AttributeError", {"name": "strip", "type": "NoneType"}),
        ("test_class", "AttributeError", {"name": "totl", "near": "total", "type": "type[shop.Cart]"}),
        ("test_import_name", "ImportError", {"name": "aera", "near": "area"}),
        ("test_not_none_subscript", "TypeError", {"type": "NoneType"}),
        ("test_connect", "ConnectionRefusedError", {"address": "127.0.0.1 1"}),
        ("test_connect_behind", "urllib.error.URLError", {"address": "127.0.0.1 1"}),
    ],
)
def test_live_objects_give_hints(ran: Ran, name: str, exception: str, hints: dict[str, str]) -> None:
    failure = ran.failure(name)
    assert failure["exception"] == exception
    assert failure["hints"] == hints


def test_hints_never_run_the_project_s_properties(ran: Ran) -> None:
    assert ran.failure("test_explosive")["hints"]["near"] == "explosive"


def test_a_missing_module_is_near_the_project_s(ran: Ran) -> None:
    hints = ran.failure("test_import_module")["hints"]
    assert hints["name"] == "shopp"
    assert hints["near"].split(",")[0] == "shop"


def test_an_unbound_local_is_near_no_other_name(ran: Ran) -> None:
    failure = ran.failure("test_unbound")
    assert failure["exception"] == "UnboundLocalError"
    assert failure["hints"]["name"] == "valeu"
    assert "import" not in failure["hints"]


@pytest.mark.parametrize(
    ("name", "comparison"),
    [
        ("test_in", ("in", "3", "[1, 2]")),
        ("test_bare", ("==", "[]", "True")),
        ("test_not", ("==", "[1]", "False")),
        ("test_call", ("==", "False", "True")),
        ("test_earlier_caught", None),
        ("test_earlier_caught_then_another", ("==", "'a'", "'b'")),
        ("test_partly", ("==", "2", "3")),
        ("test_chain", ("<", "5", "3")),
        ("test_message", ("==", "[1]", "[2]")),
        ("test_in_another", ("==", "1", "2")),
        ("test_equal", ("==", "[1]", "[2]")),
        ("test_true", ("==", "0", "True")),
        ("test_unit_in", ("in", "1", "(2,)")),
        ("test_is_none", ("is", "5", "None")),
        ("test_dict", ("==", "{'a': 1}", "{'a': 2}")),
        ("test_almost", ("==", "1.0", "1.5")),
        ("test_raises", None),
        ("test_fail", None),
        ("test_raises_nothing", None),
        ("test_qualified", None),
    ],
)
def test_the_two_sides_are_those_of_the_comparison_that_failed(
    ran: Ran, name: str, comparison: tuple[str, str, str] | None
) -> None:
    found = ran.failure(name)["comparison"]
    shown = None if found is None else (found["op"], found["left"], found["right"])
    assert shown == comparison


def test_an_approximate_side_is_shown_as_pytest_shows_it(ran: Ran) -> None:
    comparison = ran.failure("test_approx")["comparison"]
    assert comparison["left"] == "1.0"
    assert comparison["right"].startswith("2 ± ")
    assert "Approx" in comparison["right_type"]


def _locals(failure: dict[str, Any]) -> dict[str, str]:
    return {name: value for name, _, value in failure["frames"][-1]["locals"]}


def test_secrets_are_hidden(ran: Ran) -> None:
    hidden = dict.fromkeys(["api_key", "password", "db_token"], "<hidden>")
    assert _locals(ran.failure("test_secrets")) == {**hidden, "plain": "'shown'"}


def test_reprs_that_fail_or_are_too_long_are_bounded(ran: Ran) -> None:
    assert _locals(ran.failure("test_unprintable")) == {"bad": "<unprintable Unprintable>"}
    values = _locals(ran.failure("test_huge"))
    assert set(values) == {"big", "long", "many"}
    assert all(len(value) <= 400 for value in values.values())
    assert len(ran.failure("test_long")["message"]) <= 2000
    assert len(ran.failure("test_many_locals")["frames"][-1]["locals"]) == 30


def test_a_deep_recursion_keeps_both_ends(ran: Ran) -> None:
    failure = ran.failure("test_deep")
    assert failure["exception"] == "RecursionError"
    assert len(failure["frames"]) == 40
    assert failure["frames"][0]["function"] == "test_deep"
    assert failure["frames"][-1]["function"] == "called"


def test_frames_of_others_have_no_locals_and_nothing_stands_before_the_test(ran: Ran) -> None:
    frames = ran.failure("test_foreign_code")["frames"]
    assert [f["own"] for f in frames][:2] == [True, False]
    assert all(not f["locals"] for f in frames if not f["own"])
    own = [f["function"].rpartition(".")[2] for f in ran.failure("test_own_below_foreign")["frames"]]
    assert own == ["test_own_below_foreign", "<lambda>", "area"]


def test_the_exception_has_its_full_name_and_message(ran: Ran) -> None:
    failure = ran.failure("test_qualified")
    assert (failure["exception"], failure["message"]) == ("shop.Oops", "it\u00e9")
    assert ran.failure("test_cause")["message"] == "outer"
    assert ran.failure("test_raises_nothing")["exception"] == "Failed"


def test_the_output_is_its_end(ran: Ran) -> None:
    output = ran.failure("test_prints")["output"]
    assert len(output) == 4000
    assert output.rstrip().endswith("the end")


# --------------------------------------------------------------------------- collection

BROKEN = {
    "shop.py": "def f():\n    return 1\n",
    "test_syntax.py": "import shop\n\ndef test_a()\n    pass\n",
    "test_syntax_inside.py": "import broken\n",
    "broken.py": "x = 1\nif x:\nprint(x)\n",
    "test_import.py": "import shpo\n",
    "test_import_name.py": "from shop import g\n",
    "test_name.py": "import shop\nvalue = shpo.f()\n",
    "test_inside.py": "import raising\n",
    "raising.py": "def make():\n    return 1 / 0\nmake()\n",
    "test_fine.py": "def test_fine(): pass\n",
}


def test_what_cannot_be_collected_is_a_failure_and_the_rest_runs(python: Path, tmp_path: Path) -> None:
    copy = Copy(tmp_path, BROKEN)
    with probe(python) as started:
        ran = started.run(copy)
    errors = {Path(r["nodeid"]).name: r["failure"] for r in ran.of("collect_error")}

    assert ran.outcomes == {"test_fine": "passed"}
    places = {
        name: (Path(f["frames"][-1]["path"]).name, f["frames"][-1]["line"]) for name, f in errors.items()
    }
    names = {name: f["exception"] for name, f in errors.items()}
    assert names == {
        "test_syntax.py": "SyntaxError",
        "test_syntax_inside.py": "IndentationError",
        "test_import.py": "ModuleNotFoundError",
        "test_import_name.py": "ImportError",
        "test_name.py": "NameError",
        "test_inside.py": "ZeroDivisionError",
    }
    assert places == {
        "test_syntax.py": ("test_syntax.py", 3),
        "test_syntax_inside.py": ("broken.py", 3),
        "test_import.py": ("test_import.py", 1),
        "test_import_name.py": ("test_import_name.py", 1),
        "test_name.py": ("test_name.py", 2),
        "test_inside.py": ("raising.py", 2),
    }
    assert all(f["phase"] == "collect" and f["frames"][-1]["own"] for f in errors.values())
    assert errors["test_import.py"]["hints"]["near"].split(",")[0] == "shop"
    assert errors["test_name.py"]["hints"]["near"].split(",")[0] == "shop"
    assert [f["function"] for f in errors["test_inside.py"]["frames"] if f["own"]][-2:] == [
        "<module>",
        "make",
    ]


def test_a_conftest_further_down_is_named_itself(host: Probe, tmp_path: Path) -> None:
    copy = Copy(
        tmp_path,
        {
            "test_it.py": "def test_it(): pass\n",
            "deep/conftest.py": "import nothing_like_it\n",
            "deep/test_below.py": "def test_below(): pass\n",
        },
    )
    (error,) = host.run(copy).of("collect_error")
    assert error["nodeid"] == "deep/conftest.py"
    assert error["failure"]["exception"] == "ModuleNotFoundError"
    assert error["failure"]["frames"][-1]["path"] == str(copy.root / "deep/conftest.py")


def test_a_conftest_at_the_top_that_cannot_be_imported_is_a_failure(host: Probe, tmp_path: Path) -> None:
    copy = Copy(tmp_path, {"conftest.py": "x = 1\nimport shpo\n", "test_it.py": "def test_it(): pass\n"})
    ran = host.run(copy)
    (error,) = ran.of("collect_error")
    assert error["nodeid"] == "conftest.py"
    assert error["failure"]["exception"] == "ModuleNotFoundError"
    assert error["failure"]["frames"][-1]["line"] == 2
    assert ran.one("finished")["exit"] == 4


def test_a_patch_that_does_not_compile_is_told_and_nothing_runs(host: Probe, tmp_path: Path) -> None:
    copy = Copy(
        tmp_path, {"shop.py": "x = 1\ny = (\n", "data.txt": "(", "test_it.py": "def test_it(): pass\n"}
    )
    ran = host.run(copy, overlaid=[str(copy.root / "shop.py"), str(copy.root / "data.txt")])
    record = ran.one("uncompilable")
    assert (record["path"], record["line"]) == (str(copy.root / "shop.py"), 2)
    assert record["message"]
    assert [r["ev"] for r in ran.records] == ["started", "uncompilable", "ended"]


def test_of_a_group_of_exceptions_the_first_leaf_is_told(tmp_path: Path) -> None:
    newest = edges()[-1]
    assert newest.version >= (3, 11)
    copy = Copy(
        tmp_path,
        {
            "test_it.py": (
                "def leaf(): raise KeyError('a')\n"
                "def test_group():\n"
                "    try: leaf()\n"
                "    except KeyError as e: inner = e\n"
                "    raise ExceptionGroup('many', [ExceptionGroup('some', [inner, ValueError(2)]), TypeError(3)])\n"
            )
        },
    )
    with probe(environment(newest)) as started:
        failure = started.run(copy).failure("test_group")
    assert (failure["exception"], failure["message"]) == ("KeyError", "'a'")
    assert failure["frames"][-1]["function"] == "leaf"


def test_without_details_only_the_exception_is_told(host: Probe, copied: Copy) -> None:
    failure = host.run(copied, "test_it.py::test_in", details=False).failure("test_in")
    assert failure["exception"] == "AssertionError"
    assert failure["frames"] == []
    assert failure["comparison"] is None


def test_only_who_wants_details_waits_for_the_diff_of_large_values(host: Probe, tmp_path: Path) -> None:
    test = (
        "import unittest\n"
        "class Many(unittest.TestCase):\n"
        "    def test_list(self): self.assertEqual(list(range(30)), list(range(1, 31)))\n"
        "    def test_text(self): self.assertEqual('a\\nb\\n', 'a\\nc\\n')\n"
    )
    copy = Copy(tmp_path, {"test_it.py": test})
    wanted, spared = (host.run(copy, details=details) for details in (True, False))
    assert wanted.outcomes == spared.outcomes == {"test_list": "failed", "test_text": "failed"}
    for name, line in (("test_list", "- [0"), ("test_text", "- b")):
        assert line in wanted.failure(name)["message"]
        assert line not in spared.failure(name)["message"]
        assert spared.failure(name)["exception"] == "AssertionError"
