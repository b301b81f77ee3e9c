"""What the file does elsewhere is repeated only where a statement can stand."""

from __future__ import annotations

import ast
from pathlib import Path

from regreen import edits
from regreen.source import ProjectSources
from regreen.templates import candidates
from regreen.values import Failure, Frame, Suspect

CODE, TEST = Path("/p/shop.py"), Path("/p/tests/test_shop.py")
CART = """class Cart:
    def __init__(self):
        self.size = 0

    def add(self):
        self.size += 1

    @property
    def items(self):
        if self.size:
            return self.size
        else:
            return 0
"""


def test_no_counter_stands_between_a_decorator_and_its_function() -> None:
    frames = (Frame(TEST, 0, "test_f", own=True), Frame(CODE, 8, "items", own=True))
    failure = Failure("t", "call", "AssertionError", "", frames, TEST, 0)
    sources = ProjectSources({CODE: CART.encode(), TEST: b"def test_f():\n    assert f()\n"}, Path("/p"))
    suspects = [Suspect(CODE, line, 1.0) for line in range(7, 13)]
    found = list(candidates(failure, suspects, sources, lambda name: float(name == "statements.counter")))
    assert found
    for one in found:
        ast.parse(edits.apply_to_bytes(CART.encode(), one.edits[0]))
