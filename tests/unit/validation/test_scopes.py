"""Comparing only the part around an edit finds what comparing the whole files finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from regreen.edits import apply
from regreen.source import Node, parse
from regreen.validation.flags import protective, suspicious
from regreen.validation.hazards import harmful
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
        assert self.items
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
        "raise x",
        "@x\n",
        '"""',
        "#",
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


def counts(parts: Sequence[Node]) -> tuple[Counter[object], ...]:
    nodes = [node for part in parts for node in part.walk()]
    return Counter(harmful(nodes)), Counter(suspicious(nodes)), Counter(protective(nodes))


@given(edited())
def test_the_parts_around_an_edit_have_every_difference(change: tuple[TextEdit, ...]) -> None:
    old, new = parse(PATH, TEXT.encode()), parse(PATH, apply(TEXT, change).encode())
    parts = around(old, new, FileEdit(PATH, old.digest, change))
    for before, after, was, now in zip(
        *map(counts, parts), counts([old.root]), counts([new.root]), strict=True
    ):
        assert (after - before, before - after) == (now - was, was - now)


def test_an_edit_in_a_method_is_compared_within_the_method() -> None:
    at = TEXT.index("self.size > LIMIT")
    change = (TextEdit(at, at + 9, "len(self.items)"),)
    old, new = parse(PATH, TEXT.encode()), parse(PATH, apply(TEXT, change).encode())
    [was], [now] = around(old, new, FileEdit(PATH, old.digest, change))
    assert was.text.startswith("def total(self)")
    assert now.text == was.text.replace("self.size", "len(self.items)", 1)


def test_a_new_import_is_compared_with_its_neighbours() -> None:
    change = (TextEdit(9, 9, "\nimport re"),)
    old, new = parse(PATH, TEXT.encode()), parse(PATH, apply(TEXT, change).encode())
    was, now = around(old, new, FileEdit(PATH, old.digest, change))
    assert [node.text for node in was] == ["import os"]
    assert [node.text for node in now] == ["import os", "import re"]
