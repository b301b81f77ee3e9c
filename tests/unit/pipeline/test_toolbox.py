"""A look at a value stands where a statement may stand, just before the line that fails."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from regreen.pipeline.consulting.toolbox import _begin, _with_look
from regreen.source import parse

TEXTS = {
    "plain": ("def f(x):\n    y = x\n    return y / 0\n", 2, 2),
    "inside of a long statement": ("def f(x):\n    return g(\n        x,\n        1 / 0,\n    )\n", 3, 1),
    "a condition": ("def f(x):\n    if x / 0:\n        return 1\n    return 2\n", 1, 1),
    "a second condition": (
        "def f(x):\n    if x:\n        return 1\n    elif x / 0:\n        return 2\n",
        3,
        1,
    ),
    "the head of a loop": ("def f(x):\n    for y in x[1:]:\n        pass\n", 1, 1),
    "in a loop": ("def f(x):\n    for y in x:\n        z = y\n        y / 0\n", 3, 3),
    "other line ends": ("def f(x):\r\n    y = x\r\n    return y / 0\r\n", 2, 2),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_look_is_valid_where_it_stands(name: str) -> None:
    text, line, expected = TEXTS[name]
    source = parse(Path("a.py"), text.encode())
    assert _begin(source, line) == expected
    looking = _with_look(text, _begin(source, line), "x")
    ast.parse(looking)
    assert "raise AssertionError" in looking.splitlines()[expected]
    assert looking.count("\r\n") in (0, looking.count("\n"))
