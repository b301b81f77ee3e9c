"""A perturbed test asks for what cannot be, and changes nothing else of its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from regreen.source import ProjectSources
from regreen.validation.perturb import perturbed
from regreen.values import Failure, Frame

FILE = Path("/p/test_a.py")


def _perturbed(statement: str, *, head: str = "", line: int = 1) -> str | None:
    text = f"{head}def test_a(self):\n    {statement}\n    assert other == 1\n"
    frames = (Frame(FILE, line, "test_a", own=True), Frame(Path("/p/a.py"), 9, "f", own=True))
    failure = Failure("test_a.py::test_a", "call", "AssertionError", "", frames, FILE, 0)
    found = perturbed(failure, ProjectSources({FILE: text.encode()}, Path("/p")))
    if not found:
        return None
    new = found[FILE].decode()
    assert new.startswith(f"{head}def test_a(self):\n    ")
    assert new.endswith("\n    assert other == 1\n")
    return new[len(head) + len("def test_a(self):\n    ") : -len("\n    assert other == 1\n")]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("assert f(1) == 2", "assert f(1) == object()"),
        ("assert f(1) == [\n        2,\n    ], 'why'", "assert f(1) == object(), 'why'"),
        ("assert f(1)", "assert not (f(1))"),
        ("assert not f(1)", "assert not (not f(1))"),
        ("assert 1 < f(1) < 3", "assert not (1 < f(1) < 3)"),
        ("assert f(1) != 2", "assert not (f(1) != 2)"),
        ("assert a == b == c", "assert not (a == b == c)"),
        ("assert a in b, c", "assert not (a in b), c"),
        ("self.assertEqual(f(1), 2, 'why')", "self.assertEqual(f(1), object(), 'why')"),
        ("self.assertListEqual(f(1), [2])", "self.assertListEqual(f(1), object())"),
        ("self.assertTrue(f(1))", "self.assertFalse(f(1))"),
        ("self.assertFalse(f(1))", "self.assertTrue(f(1))"),
        ("self.assertNotEqual(f(1), 2)", None),
        ("self.assertEqual(*both)", None),
        ("f(1)", None),
        ("x = f(1)", None),
        ("with pytest.raises(KeyError): f(1)", None),
    ],
)
def test_the_assertion_that_failed_is_turned_around(statement: str, expected: str | None) -> None:
    assert _perturbed(statement) == expected


def test_other_assertions_of_the_test_stay() -> None:
    assert _perturbed("assert first == 2", head="# é 😀\n", line=2) == "assert first == object()"
