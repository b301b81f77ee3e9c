"""Comparing only the part around an edit finds what comparing the whole files finds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from regreen.edits import apply
from regreen.source import parse
from regreen.validation.hazards import hazards
from regreen.validation.scopes import around
from regreen.values import FileEdit, TextEdit

PATH = Path("/shop/cart.py")
TEXT = '''import os

LIMIT = eval("3")


class Cart:
    """Holds items. 🛒"""

    size = 0

    @property
    def total(self):
        if self.size > LIMIT:
            return exec("0")
        for item in self.items:
            def inner():
                return globals()
            inner()
        return sum(self.items)

    def close(self):
        os._exit(0)


def after():
    return vars()
'''
PIECES = st.sampled_from(
    [
        "eval(x)",
        "exit()",
        "\n",
        "\n    ",
        "\n        ",
        "def f():",
        "x",
        "class A:",
        "return",
        "(",
        ")",
        ":",
        "if x:",
    ]
)


@st.composite
def edited(draw: st.DrawFn) -> tuple[TextEdit, ...]:
    places = sorted(
        draw(
            st.lists(st.integers(0, len(TEXT)), min_size=2, max_size=4, unique=True).filter(
                lambda x: len(x) % 2 == 0
            )
        )
    )
    pairs = zip(places[::2], places[1::2], strict=True)
    return tuple(TextEdit(low, high, "".join(draw(st.lists(PIECES, max_size=3)))) for low, high in pairs)


@given(edited())
def test_the_part_around_an_edit_has_every_difference(change: tuple[TextEdit, ...]) -> None:
    old, new = parse(PATH, TEXT.encode()), parse(PATH, apply(TEXT, change).encode())
    was, now = around(old, new, FileEdit(PATH, old.digest, change))
    inside = Counter(hazards(now)) - Counter(hazards(was))
    assert inside == Counter(hazards(new.root)) - Counter(hazards(old.root))


def test_an_edit_in_a_method_is_compared_within_the_method() -> None:
    at = TEXT.index("self.size > LIMIT")
    change = (TextEdit(at, at + 9, "len(self.items)"),)
    old, new = parse(PATH, TEXT.encode()), parse(PATH, apply(TEXT, change).encode())
    was, now = around(old, new, FileEdit(PATH, old.digest, change))
    assert was.text.startswith("def total(self)")
    assert now.text == was.text.replace("self.size", "len(self.items)", 1)
