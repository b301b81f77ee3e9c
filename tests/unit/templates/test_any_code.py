"""Whatever the code and the failure, candidates come without an error and are Python again."""

from __future__ import annotations

import ast
import random
from itertools import islice
from pathlib import Path

import pytest

import regreen.source
import regreen.templates
from regreen import edits
from regreen.source import ProjectSources
from regreen.templates import candidates
from regreen.values import Comparison, Failure, Frame, Local, Suspect

CODE, TEST = Path("/p/pkg/code.py"), Path("/p/tests/test_code.py")
FOLDERS = [Path(regreen.source.__file__).parent, Path(regreen.templates.__file__).parent]
FILES = sorted(path for folder in FOLDERS for path in folder.glob("*.py") if path.name != "__init__.py")[::3]
FAILURES = [
    ("AssertionError", "", Comparison("==", "3", "4", "int", "int")),
    ("AssertionError", "", Comparison("==", "'abc'", "'abd x'", "str", "str")),
    ("AssertionError", "", Comparison("==", "None", "[1, 2]", "NoneType", "list")),
    ("AttributeError", "'NoneType' object has no attribute 'text'", None),
    ("TypeError", "'NoneType' object is not subscriptable", None),
    ("TypeError", "f() missing 1 required positional argument: 'x'", None),
    ("TypeError", "a bytes-like object is required, not 'str'", None),
    ("KeyError", "'name'", None),
    ("IndexError", "list index out of range", None),
    ("ZeroDivisionError", "division by zero", None),
    ("NameError", "name 'nodes' is not defined", None),
    (
        "UnboundLocalError",
        "cannot access local variable 'node' where it is not associated with a value",
        None,
    ),
    ("Timeout", "", None),
    ("Failed", "DID NOT RAISE <class 'ValueError'>", None),
    ("RecursionError", "maximum recursion depth exceeded", None),
    ("ValueError", "too many values to unpack (expected 2)", None),
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_candidates_for_real_code_are_python(path: Path) -> None:
    dice = random.Random(path.name)
    data = path.read_bytes()
    sources = ProjectSources(
        {CODE: data, TEST: b"from pkg.code import f\n\ndef test_f():\n    assert f(1) == 3\n"}
    )
    parsed = sources.get(CODE)
    assert parsed is not None
    if not parsed.functions:
        return
    for exception, message, comparison in dice.sample(FAILURES, 3):
        function = dice.choice([f for f in parsed.functions if f.last_line - f.first_line < 40])
        lines = range(function.first_line, function.last_line + 1)
        suspects = [Suspect(CODE, line, dice.random()) for line in lines]
        frames = (
            Frame(TEST, 3, "test_f", own=True),
            Frame(CODE, dice.choice(lines), function.name, True, (Local("node", "NoneType", "None"),)),
        )
        failure = Failure("t", "call", exception, message, frames, TEST, 2, comparison, {"near": "file,line"})
        for candidate in islice(candidates(failure, suspects, sources), 0, 300, 6):
            (edit,) = candidate.edits
            text = edits.decode(edits.apply_to_bytes(data, edit)).text
            try:
                ast.parse(text)
            except SyntaxError as error:
                pytest.fail(f"{candidate.template}: {candidate.title}: {error}")
