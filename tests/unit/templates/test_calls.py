"""A function that is called already is not called once more with its own result."""

from __future__ import annotations

from pathlib import Path

import pytest

from regreen import edits
from regreen.source import ProjectSources
from regreen.templates import candidates
from regreen.values import Failure, Frame, Suspect

CODE, TEST = Path("/p/shop.py"), Path("/p/test_shop.py")


@pytest.mark.parametrize("template", ["calls.wrap", "calls.confusable"])
@pytest.mark.parametrize(
    "expression",
    ["sorted(set(items))", "list(sorted(items))", "sum(abs(i) for i in items)", "str(len(items))"],
)
def test_no_function_is_applied_to_its_own_result(template: str, expression: str) -> None:
    code = f"def f(items):\n    return {expression}\n"
    frames = (Frame(TEST, 0, "test_f", own=True), Frame(CODE, 1, "f", own=True))
    failure = Failure("test_shop.py::test_f", "call", "AssertionError", "", frames, TEST, 0)
    sources = ProjectSources({CODE: code.encode()}, Path("/p"))
    found = candidates(failure, [Suspect(CODE, 1, 1.0)], sources, lambda name: float(name == template))
    texts = [edits.apply(code, one.edits[0].edits) for one in found]
    assert texts
    for name in ("sorted", "set", "list", "str", "abs", "sum", "len", "reversed"):
        assert not any(f"{name}({name}(" in text for text in texts)
