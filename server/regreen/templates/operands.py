"""Operands of comparisons and sums that are not there: a term in scope, or the bound that a value is kept to."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from regreen.source import Node
from regreen.templates.atoms import idle_at, names_at
from regreen.templates.comparison import operators
from regreen.templates.guesses import NUMBERS, SIZED
from regreen.templates.model import Change, Site
from regreen.templates.rewrite import arrow, swap
from regreen.templates.scope import names_of

_NUMERIC = NUMBERS | {"number"}
_ORDERED = frozenset({"<", "<=", ">", ">=", "==", "!="})
_TERMS = frozenset(
    {"identifier", "attribute", "call", "subscript", "binary_operator", "parenthesized_expression"}
)
_TIGHT = frozenset({"+", "-", "*", "/", "//", "%", "**", "@"})
_MOST = 2  # names that are offered as a term or a length


def add_operand(site: Site) -> Iterator[Change]:
    """`len(s) <= length` → `len(s) <= length + leeway`: a number in scope that is hardly used."""
    terms = _idle_numbers(site) if site.statement.kind != "assert_statement" else []
    for node, share in itertools.chain(_compared(site), _computed(site)) if terms else ():
        if site.scope.type_of(node) not in _NUMERIC | {""} or not _takes_a_term(node):
            continue
        for (name, weight), sign in itertools.product(terms, "+-"):
            if name not in names_of(node.parent or node):
                new = f"{node.text} {sign} {name}"
                likeness = share * weight * (1.0 if sign == "+" else 0.7)
                yield Change((swap(node, new),), arrow(node.text, new), likeness)


def _idle_numbers(site: Site) -> list[tuple[str, float]]:
    """Numbers in scope with their likelihood: what nothing uses, else a parameter that is used once."""
    idle = [name for name in idle_at(site) if _may_be_a_number(site, name)]
    if idle or site.function is None:
        return [(name, 1.0) for name in idle[:_MOST]]
    read = site.scope.uses.read
    once = [p.name for p in site.function.parameters if read[p.name] == 1 and p.kind == "plain"]
    return [(name, 0.1) for name in once if site.scope.types.get(name, "") in _NUMERIC][:1]


def _may_be_a_number(site: Site, name: str) -> bool:
    """Whether a name holds a number, or nothing says what it holds."""
    parameters = site.function.parameters if site.function is not None else ()
    annotation = next((p.annotation for p in parameters if p.name == name and p.kind == "plain"), "")
    if annotation:
        return bool(re.search(r"\b(?:int|float|complex|Decimal|Fraction)\b", annotation))
    if any(p.name == name and p.kind != "plain" for p in parameters):
        return False
    return site.scope.types.get(name, "") in _NUMERIC | {"", "NoneType"}


def _compared(site: Site) -> Iterator[tuple[Node, float]]:
    """The sides of comparisons by size; the right one is where a tolerance is written."""
    for comparison in site.of("comparison_operator"):
        if all(operator in _ORDERED for _, operator in operators(comparison)):
            for at, side in enumerate(comparison.named):
                yield side, 1.0 if at else 0.5


def _computed(site: Site) -> Iterator[tuple[Node, float]]:
    """The values that are returned, assigned, counted to, or cut at."""
    for node in site.of(*_TERMS):
        around = node.parent
        if around is None or around.kind not in {
            "return_statement",
            "assignment",
            "augmented_assignment",
            "slice",
        }:
            continue
        if around.field("left") != node and (node.kind == "binary_operator" or site.scope.type_of(node)):
            yield node, 0.5


def _takes_a_term(node: Node) -> bool:
    """Whether `… + x` behind an expression adds to the whole of it."""
    if node.kind == "binary_operator":
        token = node.field("operator")
        return token is not None and token.text in _TIGHT
    return node.kind in _TERMS | {"integer", "float"}


def clamp(site: Site) -> Iterator[Change]:
    """`f(a - b)` → `f(max(a - b, 0))`, `xs[i + 1]` → `xs[min(i + 1, len(xs) - 1)]`: kept inside of its bounds."""
    for node in site.of("binary_operator"):
        token, around = node.field("operator"), node.parent
        if token is None or token.text not in {"+", "-"} or around is None:
            continue
        if around.kind not in {"argument_list", "subscript", "slice", "return_statement", "keyword_argument"}:
            continue
        if site.scope.type_of(node) not in _NUMERIC | {""} or (around.kind != "subscript" and _is_text(node)):
            continue
        call = around.parent if around.kind == "argument_list" else None
        called = call.field("function") if call is not None else None
        if called is not None and called.text in {"max", "min", "len", "str", "print"}:
            continue
        for rank, new in enumerate(_bounded(site, node, token.text)):
            yield Change((swap(node, new),), arrow(node.text, new), 1 / (1 + 0.7 * rank))


def _is_text(node: Node) -> bool:
    return any(part.kind in {"string", "list", "tuple"} for part in node.walk())


def _bounded(site: Site, node: Node, sign: str) -> list[str]:
    """What keeps a sum inside its bounds: below, and above by what is subscripted or measured here."""
    around = node.parent
    low = [f"max({node.text}, 0)"]
    indexed = around.field("value") if around is not None and around.kind == "subscript" else None
    if indexed is not None:
        high = [f"min({node.text}, len({indexed.text}) - 1)"]
    else:
        high = [f"min({node.text}, len({name}))" for name in _measured(site) if name not in names_of(node)][
            :1
        ]
    return [*low, *high] if sign == "-" or not high or indexed is None else [*high, *low]


def _measured(site: Site) -> list[str]:
    """Collections of the function whose length or items it looks at, and its parameters first."""
    found: dict[str, None] = {}
    for node in site.body.walk():
        value = node.field("value") if node.kind == "subscript" else None
        function, listed = node.field("function"), node.field("arguments")
        if function is not None and listed is not None and function.text == "len" and len(listed.named) == 1:
            value = listed.named[0]
        if value is not None and value.kind == "identifier":
            found.setdefault(value.text)
    known = names_at(site)
    return [
        name for name in found if name in known and site.scope.types.get(name, "") in SIZED | {"sized", ""}
    ]
