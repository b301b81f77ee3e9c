"""Is a look at a value put where it can stand, and is only what may run taken for an expression?"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import regreen
from regreen.pipeline.consulting.looking import MARK, one_expression, refusal, with_look
from regreen.source import SourceFile, parse

ROOT = Path(regreen.__file__).parent
FILES = sorted([*ROOT.glob("engine/*.py"), *ROOT.glob("templates/*.py"), *ROOT.glob("lsp/*.py")])


def source(text: str) -> SourceFile:
    return parse(Path("a.py"), text.encode())


@given(data=st.data())
def test_a_file_with_a_look_is_still_python_and_the_rest_of_it_stays(data: st.DataObject) -> None:
    file = parse(Path("a.py"), data.draw(st.sampled_from(FILES)).read_bytes())
    line = data.draw(st.integers(0, file.lines.line_count - 1))
    newline = data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    file = source(file.text.replace("\n", newline))
    text = with_look(file, line, "x")
    if not text:
        return
    if "from __future__" not in text.split(MARK, 1)[1]:
        compile(text.encode(), "a.py", "exec")
    assert text.count(MARK) == 1
    looked = source(text)
    at = text.index(MARK)
    began = looked.statement_at(looked.lines.line_at(at))
    assert began is not None
    assert len(text) - len(file.text) < 120
    assert set(text.splitlines(keepends=True)) >= set(file.text.splitlines(keepends=True)[: began.line])


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("x = (\n    1\n)\n", 1, "LOOK; x = (\n    1\n)\n"),
        ("if a:\r\n    b()\r\n", 0, "LOOK\r\nif a:\r\n    b()\r\n"),
        ("if a: b()\n", 0, "if a: LOOK; b()\n"),
        ("if a:\n\tb()\nelif c:\n\td()\n", 2, "LOOK\nif a:\n\tb()\nelif c:\n\td()\n"),
        ("@one\n@two\ndef f():\n    pass\n", 2, "LOOK\n@one\n@two\ndef f():\n    pass\n"),
        ("def f():\n    for x in y:\n        z()\n", 1, "def f():\n    LOOK\n    for x in y:\n        z()\n"),
        ("try:\n    a()\nexcept B:\n    c()\n", 2, "LOOK\ntry:\n    a()\nexcept B:\n    c()\n"),
        ("match a:\n    case 1:\n        b()\n", 1, "LOOK\nmatch a:\n    case 1:\n        b()\n"),
        ("é = 1; y = 2\n", 0, "é = 1; LOOK; y = 2\n"),
        ("# nothing\n\nx = 1\n", 0, ""),
    ],
)
def test_a_look_stands_before_the_statement_of_the_line(text: str, line: int, expected: str) -> None:
    looked = with_look(source(text), line, "q")
    look = f'raise type("RegreenSaw", (BaseException,), {{}})("{MARK}" + repr((q)))'
    assert looked == expected.replace("LOOK", look)


@pytest.mark.parametrize(
    "text", ["x", "f(a)[0]", "lambda: 1", "[a for a in b]", "x == 1", "await x", "(a := 1)", "'a\\n'"]
)
def test_one_expression_is_taken(text: str) -> None:
    assert one_expression(f" {text}  # why") == text


@pytest.mark.parametrize(
    "text",
    ["", "#", "x = 1", "x += 1", "x; y", "x\ny", "del x", "yield", "x)+(y", "x))", "import a", "'''\n'''"],
)
def test_anything_else_is_none(text: str) -> None:
    assert one_expression(text) == ""


@given(st.text(st.sampled_from("ab1 ()[]{},.:=+#;\n\r'\"\\é\ud800"), max_size=20))
def test_what_is_taken_is_an_expression_to_python_too(text: str) -> None:
    if taken := one_expression(text):
        try:
            ast.parse(f"repr(({taken}))")
        except SyntaxError:
            # the grammar is a little wider than Python; a look with such a thing does not compile, and is told so
            assert isinstance(refusal(taken), str)


@pytest.mark.parametrize(
    "code", ["print(shop.price('tea'))", "import json\nprint(json.dumps({'a': 1}))", "opened = 1"]
)
def test_harmless_code_runs(code: str) -> None:
    assert refusal(code) == ""


def test_text_that_cannot_be_written_is_told() -> None:
    assert refusal("x = '\ud800'").startswith("This is not text")
