"""The failing assertion is changed where it expects a literal, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from regreen import edits
from regreen.source import ProjectSources
from regreen.validation.expectation import rewritten, seen_instead
from regreen.values import Comparison, Expectation, Failure, Frame

PATH = Path("/p/test_a.py")


def failing(line: str, left: str, right: str, op: str = "==") -> tuple[Failure, ProjectSources]:
    text = f"from a import f\r\n\r\n\r\ndef test_a():\r\n    {line}  # why\r\n    assert True\r\n"
    failure = Failure(
        "test_a.py::test_a",
        "call",
        "AssertionError",
        "",
        (Frame(PATH, 4, "test_a", own=True),),
        PATH,
        3,
        Comparison(op, left, right),
    )
    return failure, ProjectSources({PATH: text.encode()}, Path("/p"))


def after(change: Expectation | None, sources: ProjectSources) -> str:
    """The failing line with the change, line end and comment included; "" without one."""
    data = sources.data(PATH)
    assert data is not None
    if change is None:
        return ""
    text = edits.apply_to_bytes(data, change.edit).decode()
    assert text.count("\r\n") == text.count("\n") == 6
    return text.splitlines()[4].strip()


@pytest.mark.parametrize(
    ("line", "left", "right", "expected"),
    [
        ("assert f(1) == 15", "10", "15", "assert f(1) == 10  # why"),
        ("assert 15 == f(1)", "15", "10", "assert 10 == f(1)  # why"),
        ("assert f(1) == -1, 'told'", "-2", "-1", "assert f(1) == -2, 'told'  # why"),
        ("assert f(1) == 'a'", "'b'", "'a'", "assert f(1) == 'b'  # why"),
        ("assert f(1) == [1, 2]", "[1]", "[1, 2]", "assert f(1) == [1]  # why"),
        ("assert f(1) == {'a': 1}", "{'a': 2}", "{'a': 1}", "assert f(1) == {'a': 2}  # why"),
        ("assert f(1) == None", "0", "None", "assert f(1) == 0  # why"),
        ("assert f(1) == True", "False", "True", "assert f(1) == False  # why"),
    ],
)
def test_the_literal_that_was_expected_is_what_was_seen(
    line: str, left: str, right: str, expected: str
) -> None:
    failure, sources = failing(line, left, right)
    assert after(seen_instead(failure, sources), sources) == expected


@pytest.mark.parametrize(
    ("line", "left", "right", "op"),
    [
        ("assert f(1) == g(2)", "1", "2", "=="),  # no literal
        ("assert f(1) is None", "0", "None", "is"),
        ("assert f(1) in [1]", "2", "[1]", "in"),
        ("assert f(1) == 15", "<object at 0x7f>", "15", "=="),  # cannot be written
        ("assert f(1) == [1]", "[1, 2, 3, ...]", "[1]", "=="),  # cut
        ("assert 1 < f(1) == 15", "10", "15", "=="),
        ("assert not f(1)", "1", "2", "=="),
        ("check(f(1), 15)", "10", "15", "=="),
    ],
)
def test_any_other_assertion_is_left_to_its_author(line: str, left: str, right: str, op: str) -> None:
    failure, sources = failing(line, left, right, op)
    assert seen_instead(failure, sources) is None


@pytest.mark.parametrize(
    ("proposed", "expected"),
    [
        ("assert f(1) == 10", "assert f(1) == 10  # why"),
        ("  assert f(2) > 3\n", "assert f(2) > 3  # why"),
        ("assert True", ""),  # asks for nothing
        ("assert f(1) == 15", ""),  # changes nothing
        ("pass", ""),
        ("assert f(1)\nimport os", ""),
        ("assert (", ""),
        ("", ""),
    ],
)
def test_what_somebody_proposes_must_be_one_assertion_that_asks_something(
    proposed: str, expected: str
) -> None:
    failure, sources = failing("assert f(1) == 15", "10", "15")
    assert after(rewritten(failure, sources, proposed), sources) == expected
