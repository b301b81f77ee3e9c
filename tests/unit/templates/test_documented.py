"""What a docstring, a comment or a name speaks of makes a patch that uses it likelier than its equals."""

from __future__ import annotations

from pathlib import Path

import pytest

from regreen.source import ProjectSources
from regreen.templates import candidates
from regreen.values import Failure, Frame, Suspect

CODE, TEST = Path("/p/shop.py"), Path("/p/test_shop.py")


def titles(code: str, template: str, test: str = "test_it") -> list[str]:
    """The ideas of one template for a function, the likeliest first."""
    frames = (Frame(TEST, 0, test, own=True), Frame(CODE, 1, "f", own=True))
    failure = Failure(f"test_shop.py::{test}", "call", "AssertionError", "", frames, TEST, 0)
    sources = ProjectSources({CODE: code.encode()}, Path("/p"))
    last = code.rstrip("\n").count("\n")
    found = candidates(failure, [Suspect(CODE, last, 1.0)], sources, lambda name: float(name == template))
    return [one.title for one in found]


PLAIN = "def f(items):\n    return max(items)\n"


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ('"""The total of some prices."""', "`max` → `sum`"),
        ('"""The smallest price."""', "`max` → `min`"),
        ("# the smallest one", "`max` → `min`"),
        ('"""The middle one.\n\n    Returns the total.\n    """', "`max` → `sum`"),
    ],
)
def test_the_function_that_the_words_speak_of_comes_first(words: str, first: str) -> None:
    assert titles(PLAIN.replace("    return", f"    {words}\n    return"), "calls.confusable")[0] == first


def test_the_names_of_the_function_and_of_the_test_speak_too() -> None:
    assert titles(PLAIN.replace("def f", "def smallest_price"), "calls.confusable")[0] == "`max` → `min`"
    assert titles(PLAIN, "calls.confusable", "test_sum_of_all")[0] == "`max` → `sum`"


def test_a_number_that_is_spoken_of_is_tried_where_another_one_stands() -> None:
    code = 'def f(n):\n    """Whether somebody is older than 65."""\n    return n > 60\n'
    assert titles(code, "constants.used_elsewhere") == ["`60` → `65`"]


@pytest.mark.parametrize("example", [">>> f(min(2, 3))\n    6", "f(min(2, 3)) == 2", "f(1, 2) => min"])
def test_examples_with_values_are_no_words(example: str) -> None:
    plain = titles(PLAIN, "calls.confusable")
    code = PLAIN.replace("    return", f'    """It does.\n\n    {example}\n    """\n    return')
    assert titles(code, "calls.confusable") == plain


def test_the_name_of_a_variable_is_spoken_of_everywhere_and_says_nothing() -> None:
    code = 'def f(first, second):\n    """Add first to {}."""\n    return first + first\n'
    spoken, silent = (titles(code.format(what), "names.wrong_variable") for what in ("second", "it"))
    assert spoken == silent
