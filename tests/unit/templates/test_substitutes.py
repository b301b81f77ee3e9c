"""However many names are in scope, few of them count as much as another template's idea, and the likely ones do."""

from __future__ import annotations

from pathlib import Path

from regreen.source import ProjectSources
from regreen.templates import candidates
from regreen.values import Candidate, Failure, Frame, Local, Suspect

CODE, TEST = Path("/p/shop.py"), Path("/p/tests/test_shop.py")


def ideas(code: str, template: str, line: int, local: tuple[Local, ...] = ()) -> list[Candidate]:
    frames = (Frame(TEST, 0, "test_f", own=True), Frame(CODE, line, "f", True, local))
    failure = Failure("t", "call", "AssertionError", "", frames, TEST, 0)
    sources = ProjectSources({CODE: code.encode(), TEST: b"def test_f():\n    assert f()\n"}, Path("/p"))
    suspects = [Suspect(CODE, line, 1.0)]
    found = candidates(failure, suspects, sources, lambda name: float(name == template))
    return [one for one in found if one.suspect.line == line]


def best(found: list[Candidate]) -> list[str]:
    """Titles of what scores at least half as much as the first one."""
    return [one.title for one in found if one.score >= found[0].score / 2]


MANY = [f"name{number}" for number in range(30)]


def test_few_of_many_variables_count() -> None:
    code = f"def f({', '.join(MANY)}):\n    return {' + '.join(MANY[1:])}\n"
    found = ideas(code, "names.wrong_variable", 1)
    assert 5 <= len(found) <= 40
    assert len(best(found)) <= 5


def test_few_of_many_attributes_count() -> None:
    uses = "".join(f"    print(item.{name})\n" for name in MANY)
    found = ideas(
        f"def f(item):\n    return item.name1 + item.name2\n\n\ndef g(item):\n{uses}", "attributes.wrong", 1
    )
    assert 4 <= len(found) <= 40
    assert len(best(found)) <= 4


def test_what_nothing_reads_comes_first() -> None:
    found = ideas("def f(net, tax, discount):\n    return net + tax - tax\n", "names.wrong_variable", 1)
    assert found[0].title.endswith("→ `discount`")


def test_a_check_is_no_use_of_a_parameter() -> None:
    code = "def f(net, tax, limit=None):\n    if limit is None:\n        limit = 5\n    assert limit > 0\n    return net + tax - tax\n"
    assert ideas(code, "names.wrong_variable", 4)[0].title.endswith("→ `limit`")


def test_a_branch_is_a_use_of_a_parameter() -> None:
    code = "def f(net, tax, limit=None):\n    if limit is not None:\n        net = 5\n    return net + tax - tax\n"
    assert not ideas(code, "names.wrong_variable", 3)[0].title.endswith("→ `limit`")


def test_attributes_seen_on_the_object_come_first() -> None:
    code = (
        "def f(item):\n    return item.weight\n\n\ndef g(item):\n"
        "    return item.depth + item.height + item.weighted + item.length + item.size\n"
    )
    seen = (Local("item", "Box", "Box(weight=1, length=2)"),)
    assert ideas(code, "attributes.wrong", 1)[0].title == "`item.weight` → `item.weighted`"
    assert ideas(code, "attributes.wrong", 1, seen)[0].title == "`item.weight` → `item.length`"


def test_a_method_is_exchanged_for_a_method_that_takes_as_many_arguments() -> None:
    code = (
        "class Cart:\n    def __init__(self):\n        self.adding = 1\n\n    def add(self, item):\n        pass\n\n"
        "    def added(self):\n        pass\n\n    def take(self, item):\n        pass\n\n"
        "    def f(self, item):\n        self.add(item)\n"
    )
    assert best(ideas(code, "attributes.wrong", 14)) == ["`self.add` → `self.take`"]
