"""What a patch newly adds or takes away is flagged in words; what it leaves alone, or only lays out anew, is not."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regreen import edits
from regreen.source import ProjectSources
from regreen.validation.gate import Gate, Ruling
from regreen.validation.literals import Value
from regreen.values import Candidate, Suspect

FILE = Path("/project/shop.py")
TEST = frozenset[Value]({42, "'fast'", 1, "''", 7})


def ruling(before: str, after: str, *, origin: str = "template") -> Ruling:
    data = before.encode()
    gate = Gate(ProjectSources({FILE: data}, Path("/project")), lambda _: "", TEST)
    edit = edits.file_edit(FILE, data, after)
    candidate = Candidate((edit,), "t", "t", 1.0, Suspect(FILE, 0, 1.0), origin=origin)
    return gate.examine(candidate, {FILE: after.encode()})


def flags(before: str, after: str) -> list[str]:
    found = ruling(before, after)
    assert found.refusal == ""
    return [flag.text for flag in found.flags]


def function(body: str) -> str:
    return "def total(items, n):\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n"


ROWS = [  # before, after, what is said
    # exits
    ("return n", "import os\nreturn os._exit(0)", ["adds an exit: os._exit"]),
    ("return n", "import sys\nsys.exit(0)", ["adds an exit: sys.exit"]),
    ("return n", "from sys import exit as leave\nleave()", ["adds an exit: sys.exit"]),
    ("return n", "quit()", ["adds an exit: quit"]),
    ("return n", "raise SystemExit(0)", ["adds an exit: SystemExit"]),
    ("return n", "raise KeyboardInterrupt", ["adds an exit: KeyboardInterrupt"]),
    # what judges tests
    ("return n", "import pytest\nreturn n", ["reaches into what judges tests: pytest"]),
    ("return n", "return pytest.skip(n)", ["reaches into what judges tests: pytest.skip"]),
    ("return n", "from _pytest.runner import x\nreturn n", ["reaches into what judges tests: _pytest.runner"]),
    ("return n", "import pluggy as p\nreturn n", ["reaches into what judges tests: pluggy"]),
    ("return n", "return unittest.mock", ["reaches into what judges tests: unittest.mock"]),
    # the interpreter
    ("return n", "return gc.get_objects()", ["reaches into the interpreter: gc.get_objects"]),
    ("return n", "import ctypes\nreturn n", ["reaches into the interpreter: ctypes"]),
    ("return n", "return inspect.stack()", ["reaches into the interpreter: inspect.stack"]),
    ("return n", "return sys._getframe(1)", ["reaches into the interpreter: sys._getframe"]),
    ("return n.f_back", "return n.f_back.f_back.f_locals", [
        "reaches into the interpreter: .f_back", "reaches into the interpreter: .f_locals",
    ]),
    ("return n", "return total.__code__", ["reaches into the interpreter: total.__code__"]),
    ("return n", "sys.settrace(n)", ["reaches into the interpreter: sys.settrace"]),
    ("return n", "return sys.modules", ["reaches into the interpreter: sys.modules"]),
    # what other code sees
    ("return n", "setattr(items, 'x', n)", ["may change what other code sees: setattr"]),
    ("return n", "return os.environ", ["may change what other code sees: os.environ"]),
    ("return n", "import subprocess\nreturn n", ["imports a module with much power: subprocess"]),
    # swallowing
    ("return n", "try:\n    return n\nexcept:\n    return 1", ["catches every exception: except without a type"]),
    (
        "try:\n    return n\nexcept ValueError:\n    return 1",
        "try:\n    return n\nexcept Exception:\n    return 1",
        ["catches every exception: except Exception"],
    ),
    (
        "try:\n    n()\nexcept ValueError:\n    return 1",
        "try:\n    n()\nexcept ValueError:\n    pass",
        ["ignores an exception: except ValueError"],
    ),
    ("n()", "with suppress(Exception):\n    n()", ["ignores every exception"]),
    ("n()", "with suppress(KeyError):\n    n()", []),
    ("n()", "try:\n    n()\nexcept KeyError:\n    return None", []),
    (
        "try:\n    n()\nexcept KeyError:\n    return 1",
        "try:\n    n()\nexcept (KeyError, IndexError):\n    return 1",
        [],
    ),
    # what is taken away
    ("assert n\nreturn n", "return n", ["removes an assert"]),
    ("assert n\nreturn n", "# assert n\nreturn n", ["removes an assert"]),
    ("n()\nassert n\nassert items\nreturn n", 'n()\n"""\nassert n\nassert items\n"""\nreturn n', ["removes an assert"]),
    ("if n < 0:\n    raise ValueError\nreturn n", "return n", ["removes a raise"]),
    ("raise ValueError(n)", "raise KeyError(n)", []),
    ("if not items:\n    return 0\nreturn n", "return n", ["removes a check that returns early"]),
    ("if not items:\n    return 0\nreturn n", "if not n:\n    return 0\nreturn n", []),
    # literals of the test: 42, 'fast', 7, and the trivial 1 and ''
    ("return n - 1", "return 42", ["returns a literal of the test: 42"]),
    ("return n - 1", "return 42.0", ["returns a literal of the test: 42.0"]),
    ("return n - 1", "return n or 42", ["returns a literal of the test: 42"]),
    ("return n - 1", "return [n, 42]", ["returns a literal of the test: 42"]),
    ("return n - 1", "return Decimal(42)", ["returns a literal of the test: 42"]),
    ("return n - 1", "n = 42\nreturn n", ["returns a literal of the test: 42"]),
    ("return n - 1", "yield 42", ["returns a literal of the test: 42"]),
    ("return n - 1", 'return "fast"', ['returns a literal of the test: "fast"']),
    ("return n - 1", "return 8 if n == 42 else n", ["compares with a literal of the test: 42"]),
    ("return n - 1", "return n in ('slow', 'fast')", ["compares with a literal of the test: 'fast'"]),
    ("return n - 1", "return {42: 8}[n]", ["compares with a literal of the test: 42"]),
    ("return n - 1", "match n:\n    case 42:\n        return 8", ["compares with a literal of the test: 42"]),
    ("return n - 1", "return n - 42", []),
    ("return n - 1", "return round(n, 7)", []),
    ("return n - 1", "return items[42]", []),
    ("return n - 1", "return n > 42", []),
    ("return n - 1", "return 1", []),
    ("return n - 1", "return ''", []),
    ("return n - 1", "return 8", []),
    ("return n - 42", "return 42", []),
    ("return n - 1", "return lambda x: x + 42", []),
    ("return n - 1", "return lambda x: n + 42", []),
    ("return n - 1", "return lambda x: 42", ["returns a literal of the test: 42"]),
    ("return 'fsat'", "return 'fast'", []),
    ("return 'slow'", "return 'fast'", ["returns a literal of the test: 'fast'"]),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "said"), ROWS)
def test_in_a_function(before: str, after: str, said: list[str]) -> None:
    assert flags(function(before), function(after)) == said


CLASS_ROWS = [
    ("return self.x == other.x", "return True", ["makes __eq__ return the same for everything: True"]),
    ('"""Equal."""\n        return self.x', '"""Equal."""\n        return True', [
        "makes __eq__ return the same for everything: True"
    ]),
    ("return self.x", "return self.y", []),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "said"), CLASS_ROWS)
def test_a_comparison_that_no_longer_compares(before: str, after: str, said: list[str]) -> None:
    head = "class A:\n    def __eq__(self, other):\n        "
    assert flags(head + before + "\n", head + after + "\n") == said
    assert flags(head + before + "\n\nx = 1\n", head + before + "\n\nx = 2\n") == []


@pytest.mark.parametrize("name", ["__ne__", "__bool__", "__hash__"])
def test_other_verdicts_may_not_become_constant_either(name: str) -> None:
    head = f"class A:\n    def {name}(self):\n        return "
    assert len(flags(head + "self.x\n", head + "7\n")) >= 1
    assert len(flags("class A:\n    x = 1\n", f"class A:\n    x = 1\n    {name} = lambda self: True\n")) == 1


EXIT = "class A:\n    def __exit__(self, kind, error, trace):\n        self.close()\n"


@pytest.mark.parametrize("value", ["kind", "True", "self.close()", "kind is not None"])
@pytest.mark.parametrize("name", ["__exit__", "__aexit__"])
def test_a_with_block_that_begins_to_swallow_exceptions(name: str, value: str) -> None:
    before = EXIT.replace("__exit__", name)
    assert flags(before, before + f"        return {value}\n") == ["ignores what a with block raises"]


@pytest.mark.parametrize("value", ["False", "None"])
def test_a_with_block_may_let_exceptions_through(value: str) -> None:
    assert flags(EXIT, EXIT + f"        return {value}\n") == []


def test_a_with_block_that_swallowed_already_may_be_repaired_elsewhere() -> None:
    before = EXIT + "        return True\n"
    assert flags(before, before.replace("self.close()", "self.shut()")) == []


DECORATED = "@cached\n@login(1)\ndef view():\n    return 3\n"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("@login(1)\n", "", ["removes the decorator @login"]),
        ("@cached\n@login(1)\n", "", ["removes the decorator @cached", "removes the decorator @login"]),
        ("@login(1)", "@anybody", ["removes the decorator @login"]),
        ("@login(1)", "@login(2)", []),
        ("return 3", "return 4", []),
    ],
)
def test_removed_decorators(old: str, new: str, said: list[str]) -> None:
    assert flags(DECORATED, DECORATED.replace(old, new)) == said


def test_what_was_there_already_does_not_count() -> None:
    before = "import sys\n\ndef go(n):\n    try:\n        sys.exit(n - 1)\n    except:\n        pass\n"
    assert flags(before, before.replace(" - 1", "")) == []


def test_of_two_alike_the_new_one_counts() -> None:
    before = "def go(n):\n    assert n\n    sys.exit(n)\n"
    assert flags(before, before + "    sys.exit(n)\n") == ["adds an exit: sys.exit"]
    before += "    assert n\n"
    assert flags(before, before.replace("    assert n\n", "", 1)) == ["removes an assert"]


def test_an_assert_that_moves_within_the_function_is_not_removed() -> None:
    before = function("assert n\nn += 1\nreturn n")
    assert flags(before, function("n += 1\nassert n\nreturn n")) == []


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("def go(n)\n    sys.exit(n)\n", "def go(n):\n    sys.exit(n)\n", []),
        ("assert 1\nx = (\n", "x = ()\n", ["removes an assert"]),
        ("def go(n)\n    return n\n", "def go(n): sys.exit(n)\n", ["adds an exit: sys.exit"]),
        ("def go(n)\n    return n\n", "def go(n):\n    return 42\n", ["returns a literal of the test: 42"]),
        ("def go(n)\n    return 42\n", "def go(n):\n    return 42\n", []),
    ],
)
def test_of_a_text_that_was_no_python_only_what_changes_counts(
    before: str, after: str, said: list[str]
) -> None:
    assert flags(before, after) == said


def test_a_flag_of_a_models_patch_refuses_it_in_the_same_words() -> None:
    before = function("assert n\nreturn n - 1")
    found = ruling(before, function("return 42"), origin="model")
    assert found.refusal == "shop.py: removes an assert; returns a literal of the test: 42"
    assert ruling(before, function("assert n\nreturn n"), origin="model") == Ruling()


TEXT = '''@cached
def total(items, n):  # the sum
    """Adds up."""
    assert items, "nothing"
    if not items:
        return 0
    try:
        return sum(items, n) - 1
    except (ValueError, Exception):
        pass
    except KeyError as error:
        raise SystemExit(
            n,
            42,
        ) from None


class Money:
    def __eq__(self, other):
        return self.cents == other.cents
'''
LINES = TEXT.splitlines(keepends=True)


@st.composite
def laid_out_anew(draw: st.DrawFn) -> str:
    """The same code with other comments, blank lines, blanks and line breaks."""
    text = ""
    for line in LINES:
        text += draw(st.sampled_from(["", "\n", "# assert False\n", "    # return 42\n"]))
        text += line.rstrip("\n").replace(", ", draw(st.sampled_from([", ", ",  ", ","])))
        text += draw(st.sampled_from(["", "  ", "  # raise SystemExit", "  # os._exit(0)"])) + "\n"
    return text


@given(laid_out_anew(), st.sampled_from(["template", "model"]))
def test_what_changes_nothing_in_the_tree_has_no_flags(after: str, origin: str) -> None:
    assert ast.dump(ast.parse(after)) == ast.dump(ast.parse(TEXT))
    same = Ruling("shop.py: changes nothing")
    assert ruling(TEXT, after, origin=origin) == (same if after == TEXT else Ruling())
