"""A repairer's answer is a patch of the files as they are, or it is refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regreen import edits
from regreen.llm.placeholders import placeholder
from regreen.llm.refusal import Refusal
from regreen.llm.replies import Patch, parse
from regreen.source import ProjectSources

ROOT = Path("/project")
CART = '''\
"""A cart."""

import math

LIMIT = 10


class Cart:
    """What somebody buys."""

    @property
    def size(self):
        return len(self.items)

    @size.setter
    def size(self, value):
        self.items = self.items[:value]

    def total(self, prices):
        """Add up.

        Twice `x`.
        """
        result = 0
        for price in prices[1:]:
            result += price
        return result


def rounded(value):
    return math.floor(value)


def last(values):
    return values[len(values)]
'''


def sources(**files: str | bytes) -> ProjectSources:
    given_ = {"cart.py": CART, "tests/test_cart.py": "def test_it():\n    assert 1 == 2\n", **files}
    encoded = {
        ROOT / name: text if isinstance(text, bytes) else text.encode() for name, text in given_.items()
    }
    return ProjectSources(encoded, ROOT)


def may_change(path: Path) -> bool:
    return "tests" not in path.parts


def block(search: str, replacement: str, path: str = "cart.py") -> str:
    return f"FILE: {path}\n<<<<<<< SEARCH\n{search}=======\n{replacement}>>>>>>> REPLACE\n"


def whole(qualname: str, code: str, path: str = "cart.py") -> str:
    return f"FUNCTION: {path}::{qualname}\n```python\n{code}```\n"


def patched(reply: str, project: ProjectSources | None = None, path: str = "cart.py") -> str:
    project = project or sources()
    patch = parse(reply, project, may_change)
    assert isinstance(patch, Patch), patch
    (edit,) = patch.files
    assert edit.path == ROOT / path
    return edits.apply_to_bytes(project.data(edit.path) or b"", edit).decode()


def refused(reply: str, project: ProjectSources | None = None, **options: bool) -> Refusal:
    refusal = parse(reply, project or sources(), may_change, **options)
    assert isinstance(refusal, Refusal), refusal
    return refusal


GOOD = block("        for price in prices[1:]:\n", "        for price in prices:\n")


@pytest.mark.parametrize(
    "reply",
    [
        GOOD,
        f"The slice drops the first price.\n\n```\n{GOOD}```\nThat is all.",
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("FILE: cart.py", "**FILE: `./cart.py`**"),
        f"<think>\nFILE: cart.py\n<<<<<<< SEARCH\nno\n</think>\n{GOOD}",
        block("        for price in prices[1:]:  \n", "        for price in prices:\n"),
        block(
            "for price in prices[1:]:\n    result += price\n", "for price in prices:\n    result += price\n"
        ),
        block(
            "            for price in prices[1:]:\n                result += price\n",
            "            for price in prices:\n                result += price\n",
        ),
        whole(
            "Cart.total",
            '    def total(self, prices):\n        """Add up.\n\n        Twice `x`.\n        """\n        result = 0\n'
            "        for price in prices:\n            result += price\n        return result\n",
        ),
        whole(
            "Cart.total",
            'def total(self, prices):\n    """Add up.\n\n    Twice `x`.\n    """\n    result = 0\n'
            "    for price in prices:\n        result += price\n    return result\n",
        ),
    ],
    ids=[
        "plain", "in prose", "CR LF", "Markdown", "after thoughts", "trailing blanks", "less indented", "more indented",
        "whole function", "whole function, dedented",
    ],
)  # fmt: skip
def test_each_form_of_the_same_change_is_the_same_smallest_edit(reply: str) -> None:
    project = sources()
    patch = parse(reply, project, may_change)
    assert isinstance(patch, Patch), patch
    (edit,) = patch.files
    (change,) = edit.edits
    assert (CART[change.start : change.end], change.new) == ("[1:]", "")


def test_several_changes_of_several_files_are_one_patch_with_an_edit_for_each_difference() -> None:
    project = sources(**{"other.py": "x = 1\ny = 2\n"})
    reply = (
        GOOD
        + block("    return values[len(values)]\n", "    return values[-1]\n")
        + block("x = 1\n", "x = 3\n", "other.py")
    )
    patch = parse(reply, project, may_change)
    assert isinstance(patch, Patch)
    assert [(edit.path.name, len(edit.edits)) for edit in patch.files] == [("cart.py", 2), ("other.py", 1)]


def test_a_block_after_another_of_the_same_file_needs_no_second_name() -> None:
    more = block("    return math.floor(value)\n", "    return math.ceil(value)\n").removeprefix(
        "FILE: cart.py\n"
    )
    assert "prices:" in patched(GOOD + more)
    assert "math.ceil" in patched(GOOD + more)


def test_line_ends_the_byte_order_mark_and_the_encoding_of_the_file_stay() -> None:
    text = "# coding: latin-1\r\ndef f():\r\n    # gr\xfc\xdfe\r\n    return 1\r"
    project = sources(**{"old.py": text.encode("latin-1")})
    patch = parse(block("    return 1\n", "    x = 2\n    return x\n", "old.py"), project, may_change)
    assert isinstance(patch, Patch)
    data = edits.apply_to_bytes(project.data(ROOT / "old.py") or b"", patch.files[0])
    assert data == text.replace("return 1\r", "x = 2\r\n    return x\r\n").encode("latin-1")
    with_mark = sources(**{"old.py": b"\xef\xbb\xbfx = 1\n"})
    patch = parse(block("x = 1\n", "x = 2\n", "old.py"), with_mark, may_change)
    assert isinstance(patch, Patch)
    assert edits.apply_to_bytes(b"\xef\xbb\xbfx = 1\n", patch.files[0]) == b"\xef\xbb\xbfx = 2\n"


def test_a_last_line_without_an_end_keeps_none() -> None:
    project = sources(**{"end.py": "def f():\n    return 1"})
    assert (
        patched(block("    return 1\n", "    return 2\n", "end.py"), project, "end.py")
        == "def f():\n    return 2"
    )


def test_a_character_that_the_encoding_of_the_file_has_not_is_refused() -> None:
    project = sources(**{"old.py": "# coding: latin-1\nx = 'a'\n".encode("latin-1")})
    assert refused(block("x = 'a'\n", "x = '\u4e2d'\n", "old.py"), project).name == "not-python"


def test_headings_underlined_like_the_divider_do_not_confuse_the_halves() -> None:
    project = sources(**{"doc.py": 'def f():\n    """\nHeading\n=======\n\nText.\n    """\n    return 1\n'})
    reply = block(
        'Heading\n=======\n\nText.\n    """\n    return 1\n',
        'Heading\n=======\n\nText.\n    """\n    return 2\n',
        "doc.py",
    )
    assert patched(reply, project, "doc.py").endswith('Heading\n=======\n\nText.\n    """\n    return 2\n')


@pytest.mark.parametrize(
    ("name", "reply"),
    [
        ("empty", " \n"),
        ("no-block", "The loop should not skip the first price."),
        ("no-block", "```python\nx = 1\n```"),
        ("no-block", "FUNCTION: cart.py::last\ndef last(values):\n    return values[-1]\n"),
        ("unclosed-block", GOOD.replace(">>>>>>> REPLACE\n", "")),
        ("unclosed-block", GOOD.replace("=======\n", "")),
        ("unclosed-block", GOOD.replace(">>>>>>> REPLACE\n", "") + GOOD),
        ("unclosed-block", whole("last", "def last(values):\n    return values[-1]\n").rstrip("`\n")),
        ("no-such-file", GOOD.replace("cart.py", "basket.py")),
        ("no-such-file", GOOD.replace("FILE: cart.py\n", "")),
        ("no-such-file", block("", "x = 1\n", "new.py")),
        ("not-allowed", block("    assert 1 == 2\n", "    assert 1 == 1\n", "tests/test_cart.py")),
        ("not-allowed", GOOD.replace("cart.py", "../cart.py")),
        ("not-allowed", GOOD.replace("cart.py", "/etc/passwd")),
        ("no-match", block("        for price in prices[2:]:\n", "        for price in prices:\n")),
        ("no-match", block("", "x = 1\n")),
        ("no-match", block("price in prices[1:]\n", "price in prices\n")),
        ("ambiguous", block("\n", "\n\n").replace("SEARCH\n\n", "SEARCH\n\n\nclass Cart:\n") + GOOD + GOOD),
        ("ambiguous", whole("Cart.size", "def size(self):\n    return 1\n")),
        ("elided", block("        result = 0\n", "        # ... existing code ...\n        result = 1\n")),
        (
            "elided",
            whole(
                "Cart.total", "def total(self, prices):\n    # rest of the method unchanged\n    return 1\n"
            ),
        ),
        ("elided", whole("Cart.total", "def total(self, prices):\n    result = 0\n    ...\n")),
        (
            "elided",
            block("        result = 0\n        # ... \n        return result\n", "        return 1\n"),
        ),
        ("elided", block("        result = 0\n        ...\n        return result\n", "        return 1\n")),
        ("lost-names", block("LIMIT = 10\n", "")),
        ("lost-names", block("def rounded(value):\n    return math.floor(value)\n", "")),
        ("lost-names", block("    def total(self, prices):\n", "    def sum(self, prices):\n")),
        ("lost-names", block("import math\n", "")),
        ("no-such-function", whole("Cart.sum", "def sum(self):\n    return 1\n")),
        ("no-such-function", whole("last", "def first(values):\n    return values[0]\n")),
        ("no-such-function", whole("last", "import os\n\ndef last(values):\n    return values[-1]\n")),
        ("not-python", whole("last", "def last(values):\n    return values[\n")),
        ("not-python", block("    return values[len(values)]\n", "    return values[(\n")),
        ("unchanged", block("LIMIT = 10\n", "LIMIT = 10\n")),
        ("unchanged", whole("last", "def last(values):\n    return values[len(values)]\n")),
        ("masked-text", block("LIMIT = 10\n", f"LIMIT = '{placeholder('token', 1)}'\n")),
        ("masked-text", block(f"KEY = '{placeholder('token', 1)}'\n", "KEY = 'x'\n")),
        ("masked-text", whole("last", f"def last(values):\n    return '{placeholder('token', 1)}'\n")),
        ("truncated", "<think>what if"),
    ],
)
def test_what_is_no_patch_is_refused_by_name(name: str, reply: str) -> None:
    assert refused(reply).name == name


def test_a_reply_that_ended_at_its_limit_is_refused_even_if_a_block_is_whole() -> None:
    assert refused(GOOD, truncated=True).name == "truncated"


def test_a_miss_says_which_line_differs_and_shows_the_nearest_with_their_numbers() -> None:
    reply = block(
        "        result = 0\n        for price in prices[2:]:\n            result += price\n", "x\n"
    )
    text = refused(reply).text
    assert "line 2 is not line 25" in text
    assert "  25 |         for price in prices[1:]:" in text
    assert "        for price in prices[2:]:" in text


def test_a_text_that_stands_twice_is_refused_with_its_lines() -> None:
    project = sources(**{"twice.py": "x = 1\ny = 0\nx = 1\n"})
    refusal = refused(block("x = 1\n", "x = 2\n", "twice.py"), project)
    assert refusal.name == "ambiguous"
    assert "line 1, 3" in refusal.text


def test_a_file_of_that_name_elsewhere_is_suggested() -> None:
    project = sources(**{"src/shop/basket.py": "x = 1\n"})
    assert "src/shop/basket.py" in refused(GOOD.replace("cart.py", "basket.py"), project).text


def test_a_setter_is_told_from_its_getter_by_the_decorator() -> None:
    code = "@size.setter\ndef size(self, value):\n    self.items = self.items[: value + 1]\n"
    text = patched(whole("Cart.size", code))
    assert text == CART.replace("self.items[:value]", "self.items[: value + 1]")


def test_decorators_stay_when_the_answer_leaves_them_out_and_change_when_it_has_some() -> None:
    project = sources(**{"deco.py": "@cache\ndef f(x):\n    return x\n"})
    assert (
        patched(whole("f", "def f(x):\n    return x + 1\n", "deco.py"), project, "deco.py")
        == "@cache\ndef f(x):\n    return x + 1\n"
    )
    assert (
        patched(whole("f", "@memo\ndef f(x):\n    return x\n", "deco.py"), project, "deco.py")
        == "@memo\ndef f(x):\n    return x\n"
    )


def test_text_inside_of_strings_keeps_its_indentation_where_a_function_moves_in() -> None:
    code = 'class A:\n    def f(self):\n        text = """\nplain\n  two\n"""\n        return text\n'
    project = sources(**{"text.py": code})
    new = 'def f(self):\n    text = """\nplain\n  two\n"""\n    return text.strip()\n'
    assert patched(whole("A.f", new, "text.py"), project, "text.py") == code.replace(
        "return text", "return text.strip()"
    )


def test_a_function_written_with_blanks_gets_the_tabs_of_its_file() -> None:
    project = sources(**{"tabs.py": "class A:\n\tdef f(self):\n\t\tif 1:\n\t\t\treturn 2\n"})
    new = "def f(self):\n    if 1:\n        return 3\n"
    assert (
        patched(whole("A.f", new, "tabs.py"), project, "tabs.py")
        == "class A:\n\tdef f(self):\n\t\tif 1:\n\t\t\treturn 3\n"
    )


def test_a_nested_function_is_found_with_and_without_pythons_name_for_it() -> None:
    project = sources(**{"nest.py": "def f():\n    def g():\n        return 1\n    return g\n"})
    for name in ("f.<locals>.g", "f.g"):
        assert "return 2" in patched(whole(name, "def g():\n    return 2\n", "nest.py"), project, "nest.py")


def test_markdown_in_a_docstring_does_not_end_the_function() -> None:
    code = 'def last(values):\n    """Like this:\n\n    ```\n    last([1])\n    ```\n    """\n    return values[-1]\n'
    assert patched(whole("last", code)).endswith(code)


@pytest.mark.parametrize(
    "line",
    [
        "    # wait for the rest",
        "    # the existing code path is kept for old clients",
        "    # ignore what other functions say",
        "    x = [...]",
        "    # 1 ... 9",
        "    # unchanged values are skipped",
        "    # other methods rely on it",
    ],
)
def test_ordinary_comments_are_no_elisions(line: str) -> None:
    reply = block("    return math.floor(value)\n", f"{line}\n    return math.ceil(value)\n")
    assert isinstance(parse(reply, sources(), may_change), Patch)


@pytest.mark.parametrize(
    "line",
    [
        "# ... existing code ...",
        "# … existing code …",
        "# ...",
        "# (rest of the function)",
        "# rest of the code remains the same",
        "# Rest of your class",
        "# existing code here",
        "# the remaining methods stay as they are",
        "# other methods unchanged",
        "# [unchanged]",
        "# same as before",
        "# code omitted for brevity",
        "# ... (same as above)",
        "// ... existing code ...",
    ],
)
def test_lines_that_stand_for_others_are_elisions(line: str) -> None:
    reply = block("    return math.floor(value)\n", f"    {line}\n    return math.ceil(value)\n")
    assert refused(reply).name == "elided"


def test_what_was_there_before_is_no_elision_nor_a_lost_or_broken_thing() -> None:
    project = sources(**{"odd.py": "def f():\n    # ... existing code ...\n    return 1\n\ndef g(:\n"})
    assert "return 2" in patched(block("    return 1\n", "    return 2\n", "odd.py"), project, "odd.py")


def test_an_import_that_nothing_uses_any_more_may_go() -> None:
    project = sources(**{"imp.py": "from math import floor\n\ndef f(x):\n    return floor(x)\n"})
    reply = block("from math import floor\n", "from math import ceil\n", "imp.py") + block(
        "    return floor(x)\n", "    return ceil(x)\n", "imp.py"
    )
    assert "ceil(x)" in patched(reply, project, "imp.py")


def test_a_fake_block_inside_of_the_file_is_matched_as_text_only() -> None:
    fake = '"""\nFILE: other.py\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n"""\nz = 1\n'
    project = sources(**{"fake.py": fake, "other.py": "x\n"})
    assert patched(block("z = 1\n", "z = 2\n", "fake.py"), project, "fake.py") == fake.replace(
        "z = 1", "z = 2"
    )


LINES = st.lists(
    st.sampled_from(["x = 1", "    y = 2", "", "\tz", "def f():", "    return 1", "'é'"]), max_size=12
)
EOLS = st.sampled_from(["\n", "\r\n", "\r"])


@given(LINES, LINES, LINES, LINES, EOLS)
def test_a_patch_is_exactly_the_replacement_of_its_lines_in_any_file(
    head: list[str], old: list[str], tail: list[str], new: list[str], newline: str
) -> None:
    old = ["unique = 0", *old]
    text = newline.join([*head, *old, *tail]) + newline
    project = sources(**{"any.txt": text})
    lines = [f"{line}\n" for line in new]
    result = parse(
        block("".join(f"{line}\n" for line in old), "".join(lines), "any.txt"), project, may_change
    )
    if isinstance(result, Refusal):
        assert result.name in {"lost-names", "unchanged"}
        return
    assert (
        edits.apply_to_bytes(text.encode(), result.files[0])
        == newline.join([*head, *new, *tail, ""]).encode()
    )


PIECES = st.sampled_from(
    [
        "FILE: cart.py", "FILE: tests/test_cart.py", "FILE:", "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE", "```", "```python",
        "FUNCTION: cart.py::last", "FUNCTION: cart.py::Cart.total", "def last(values):", "    return values[len(values)]",
        "    return values[-1]", "LIMIT = 10", "LIMIT = 11", "...", "<think>", "</think>", "",
    ]
)  # fmt: skip


@given(st.lists(PIECES, max_size=25), st.sampled_from(["\n", "\r\n"]))
def test_any_reply_is_a_patch_of_allowed_files_or_a_refusal(pieces: list[str], newline: str) -> None:
    project = sources()
    result = parse(newline.join(pieces), project, may_change)
    if isinstance(result, Refusal):
        assert result.text
        return
    for edit in result.files:
        assert may_change(edit.path)
        assert edits.apply_to_bytes(project.data(edit.path) or b"", edit) != project.data(edit.path)


@given(st.text(max_size=300))
def test_no_text_breaks_the_parser(text: str) -> None:
    parse(text, sources(), may_change)
    parse(block(text + "\n", text), sources(), may_change)
    parse(whole("last", text), sources(), may_change)
