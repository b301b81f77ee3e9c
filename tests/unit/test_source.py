"""Project text is understood with code point offsets, whatever state it is in."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regreen.errors import UnreadableText
from regreen.source import Names, ProjectSources, SourceFile, names, parse

PATH = Path("/p/shop/cart.py")

CART = '''\
"""Cart."""
import os.path
from decimal import Decimal as D, ROUND_UP
from . import prices as p

RATE: float = 0.2
A, (B, *C) = 1, (2, 3)


class Cart(Base, metaclass=Meta):
    limit = 10

    def __init__(self, owner: str, *items, size=3, **extra):
        self.owner = owner
        self.items, self.size = list(items), size

    @property
    @cached
    def total(self):
        def add(a, b):
            return a + b
        with open("x") as handle:
            pass
        for i, item in enumerate(self.items):
            if item.price > RATE:
                add(i, item.price)
            elif item:
                total = [x for x in item]
        return total


async def fetch(url, /, *, retries: int = 2):
    global A
    A += 1
    try:
        return await get(url, timeout=retries)
    except (OSError, ValueError) as error:
        raise Oops from error
'''


def file(text: str) -> SourceFile:
    return parse(PATH, text.encode())


def test_functions_have_their_qualified_names_spans_and_parameters() -> None:
    cart = file(CART)
    assert [f.qualname for f in cart.functions] == [
        "Cart.__init__",
        "Cart.total",
        "Cart.total.<locals>.add",
        "fetch",
    ]
    init, total, add, fetch = cart.functions
    assert [(p.name, p.kind, p.annotation) for p in init.parameters] == [
        ("self", "plain", ""),
        ("owner", "plain", "str"),
        ("items", "*", ""),
        ("size", "plain", ""),
        ("extra", "**", ""),
    ]
    assert [(p.name, p.default.text if p.default else "") for p in fetch.parameters] == [
        ("url", ""),
        ("retries", "2"),
    ]
    assert (init.owner, total.owner, add.owner, fetch.owner) == ("Cart", "Cart", "", "")
    assert fetch.is_async
    assert not total.is_async
    assert [d.text for d in total.decorators] == ["@property", "@cached"]
    assert cart.text[slice(*total.span)].startswith("@property")
    assert total.body.text.startswith("def add")


def test_the_innermost_function_and_statement_of_a_line_are_found() -> None:
    cart = file(CART)
    line = {text: number for number, text in enumerate(CART.splitlines())}
    at = cart.function_at(line["            return a + b"])
    assert at is not None
    assert at.qualname == "Cart.total.<locals>.add"
    assert cart.function_at(line["    @cached"]) == cart.function_named("Cart.total")
    assert cart.function_at(line["RATE: float = 0.2"]) is None
    kinds = [
        ("                add(i, item.price)", "expression_statement"),
        ("            if item.price > RATE:", "if_statement"),
        ("            elif item:", "elif_clause"),
        ('        with open("x") as handle:', "with_statement"),
        ("    except (OSError, ValueError) as error:", "except_clause"),
        ("RATE: float = 0.2", "expression_statement"),
        ("    @cached", "decorated_definition"),
    ]
    for text, kind in kinds:
        statement = cart.statement_at(line[text])
        assert statement is not None
        assert statement.kind == kind, text
    around = cart.statements_around(line["                add(i, item.price)"])
    assert [s.kind for s in around] == [
        "class_definition",
        "decorated_definition",
        "function_definition",
        "for_statement",
        "if_statement",
        "expression_statement",
    ]


def test_classes_know_their_bases_methods_and_attributes() -> None:
    (cart,) = file(CART).classes
    assert (cart.name, cart.bases) == ("Cart", ("Base",))
    assert [m.name for m in cart.methods] == ["__init__", "total"]
    assert cart.attributes == {"limit", "owner", "items", "size"}


def test_imports_and_top_level_definitions_are_listed() -> None:
    cart = file(CART)
    assert [(i.module, i.name, i.bound) for i in cart.imports] == [
        ("os.path", "", "os"),
        ("decimal", "Decimal", "D"),
        ("decimal", "ROUND_UP", "ROUND_UP"),
        (".", "prices", "p"),
    ]
    assert cart.defined == {"os", "D", "ROUND_UP", "p", "RATE", "A", "B", "C", "Cart", "fetch"}


def test_names_that_are_read_bound_and_outer_are_told_apart() -> None:
    fetch = file(CART).function_named("fetch")
    assert fetch is not None
    found = fetch.names()
    assert set(found.read) == {"int", "A", "get", "url", "retries", "OSError", "ValueError", "Oops", "error"}
    assert found.bound == {"fetch", "url", "retries", "error", "A"}
    assert found.outer == {"A"}


@pytest.mark.parametrize(
    ("code", "read", "bound"),
    [
        ("a.b = c.d", {"a", "c"}, set()),
        ("a[i] = b", {"a", "i", "b"}, set()),
        ("(a, [b, *c]) = d", {"d"}, {"a", "b", "c"}),
        ("f(key=value)", {"f", "value"}, set()),
        ("x = lambda y, *z, w=v: y", {"y", "v"}, {"x", "y", "z", "w"}),
        ("[a for a, b in c if (d := a)]", {"a", "c"}, {"a", "b", "d"}),
        ("with a as b, c as (d, e): pass", {"a", "c"}, {"b", "d", "e"}),
        ("import a.b, c as d\nfrom e import f, g as h", set(), {"a", "d", "f", "h"}),
        ("match a:\n    case [b, c.d]: e", {"a", "c", "e"}, {"b"}),
    ],
)
def test_binding_forms(code: str, read: set[str], bound: set[str]) -> None:
    found: Names = names(file(code).root)
    assert (set(found.read), set(found.bound)) == (read, bound)


@pytest.mark.parametrize(
    "text", ["def f(:\n    return 1\n", "x = (1,\n", "if a\n    b\n", "class\n", "x = 'a\n"]
)
def test_broken_text_gives_a_tree_with_error_spans(text: str) -> None:
    broken = file(text)
    assert broken.has_errors
    assert broken.errors
    assert all(
        0 <= e.start <= e.end <= len(text) and 0 <= e.line < broken.lines.line_count for e in broken.errors
    )


def test_what_is_whole_is_found_beside_what_is_broken() -> None:
    broken = file("def good(a):\n    return a\n\ndef bad(b:\n    return b\n\ndef last(c):\n    return c\n")
    assert broken.has_errors
    assert broken.functions[0].qualname == "good"


WORDS = st.sampled_from(["é", "中", "😀", "a", " ", "\t", "\x0c"])


@given(st.lists(WORDS, max_size=700).map("".join), st.sampled_from(["\n", "\r\n", "\r"]))
def test_offsets_are_code_points_whatever_stands_before(comment: str, newline: str) -> None:
    text = f"x = 1{newline}# {comment}{newline}def größe(π):{newline}    return π + 'é😀'{newline}"
    found = file(text)
    function = found.functions[0]
    assert (function.name, function.parameters[0].name) == ("größe", "π")
    assert function.first_line == 2
    binary = next(node for node in function.body.walk() if node.kind == "binary_operator")
    assert text[binary.start : binary.end] == binary.text == "π + 'é😀'"
    assert not found.has_errors


CODE = st.sampled_from(
    [
        "😀",
        " ",
        "x",
        "\n",
        "\n    ",
        "\n        ",
        "(",
        ")",
        ":",
        ",",
        '"',
        '"""',
        "#",
        "if x:",
        "pass",
        "@x\n",
        "\\",
    ]
)


@given(st.integers(0, len(CART)), st.integers(0, 40), st.lists(CODE, max_size=6).map("".join))
def test_a_text_that_is_parsed_from_one_like_it_gives_the_same_tree(start: int, cut: int, new: str) -> None:
    data = (CART[:start] + new + CART[start + cut :]).encode()
    alone, beside = parse(PATH, data), parse(PATH, data, parse(PATH, CART.encode()))
    assert beside.has_errors == alone.has_errors
    if not alone.has_errors:
        assert [(n.kind, n.span, n.text) for n in beside.root.walk()] == [
            (n.kind, n.span, n.text) for n in alone.root.walk()
        ]


def test_every_node_spans_the_text_that_pythons_own_parser_gives() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    ours = {(f.name, f.node.line + 1, f.last_line + 1) for f in file(text).functions}
    theirs = {
        (node.name, node.lineno, node.end_lineno)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
    }
    assert ours == theirs
    assert ours


def test_code_nested_deeper_than_the_recursion_limit_is_walked() -> None:
    deep = file("x = " + " + ".join(["y"] * 5000))
    assert names(deep.root).read["y"] == 5000
    assert file("x = " + "(" * 3000).has_errors


def test_a_file_that_is_not_text_is_refused() -> None:
    with pytest.raises(UnreadableText):
        parse(PATH, b"x = '\xff'\n")


FILES = {
    Path("/p/src/shop/__init__.py"): b"",
    Path("/p/src/shop/cart.py"): b"class Cart:\n    def total(self): return self.items\nRATE = 'eur'\n",
    Path("/p/src/shop/prices.py"): b"async def total(): pass\nLIMIT: int = 3\nif x == 1: pass\n",
    Path("/p/tests/test_cart.py"): b"from shop.cart import Cart\n",
    Path("/p/data.json"): b"{}",
    Path("/p/bad.py"): b"x = '\xff'\n",
}


def test_the_project_knows_who_defines_a_name() -> None:
    project = ProjectSources(FILES)
    assert project.root == Path("/p")
    assert project.defining("Cart") == (Path("/p/src/shop/cart.py"),)
    assert project.defining("total") == (Path("/p/src/shop/prices.py"),)
    assert project.defining("LIMIT") == (Path("/p/src/shop/prices.py"),)
    assert project.defining("x") == ()
    assert project.attributes["items"] == 1
    assert project.strings == {"eur": 1}


def test_the_project_maps_modules_and_files() -> None:
    project = ProjectSources(FILES)
    cart = Path("/p/src/shop/cart.py")
    assert project.module_name(cart) == "shop.cart"
    assert project.module_name(Path("/p/src/shop/__init__.py")) == "shop"
    assert project.module_file("shop.cart") == cart
    assert project.module_file(".prices", cart) == Path("/p/src/shop/prices.py")
    assert project.module_file(".", cart) == Path("/p/src/shop/__init__.py")
    assert project.module_file("nowhere") is None


def test_unreadable_and_foreign_files_are_absent_instead_of_fatal() -> None:
    project = ProjectSources(FILES)
    assert project.get(Path("/p/bad.py")) is None
    assert project.get(Path("/elsewhere.py")) is None
    first = project.get(Path("/p/src/shop/cart.py"))
    assert first is not None
    assert project.get(Path("/p/src/shop/cart.py")) is first
