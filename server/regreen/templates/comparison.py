"""Comparisons: the boundary, the direction, identity instead of equality, and the two sides."""

from __future__ import annotations

from collections.abc import Iterator

from regreen.source import Node
from regreen.templates.model import Change, Site
from regreen.templates.rewrite import arrow, atom, swap
from regreen.templates.scope import names_of

KINDS = frozenset({"comparison_operator"})
_BOUNDARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_OTHERS = {
    "<": {">": 1.0, ">=": 0.7, "==": 0.3, "!=": 0.2},
    "<=": {">=": 1.0, ">": 0.7, "==": 0.3, "!=": 0.2},
    ">": {"<": 1.0, "<=": 0.7, "==": 0.3, "!=": 0.2},
    ">=": {"<=": 1.0, "<": 0.7, "==": 0.3, "!=": 0.2},
    "==": {"!=": 1.0, "<=": 0.4, ">=": 0.4, "<": 0.25, ">": 0.25, "in": 0.3},
    "!=": {"==": 1.0, "<": 0.3, ">": 0.3, "not in": 0.3},
    "<>": {"!=": 1.0},
    "in": {"not in": 1.0, "==": 0.4},
    "not in": {"in": 1.0, "!=": 0.4},
    "is": {"is not": 1.0, "==": 0.6},
    "is not": {"is": 1.0, "!=": 0.6},
}
"""Operator → those it is mistaken for, and how readily: the opposite, then the same kind, then another kind."""
_UP, _DOWN = frozenset({"<", "<="}), frozenset({">", ">="})


def operators(comparison: Node) -> list[tuple[Node, str]]:
    """Return the operator tokens of a comparison (chained ones have several) with blanks made single."""
    return [(token, " ".join(token.text.split())) for token in comparison.fields("operators")]


def boundary(site: Site) -> Iterator[Change]:
    """`<` ↔ `<=`, `>` ↔ `>=`."""
    for comparison in site.of("comparison_operator"):
        for token, operator in operators(comparison):
            if operator in _BOUNDARY:
                new = _BOUNDARY[operator]
                yield Change((swap(token, new),), arrow(operator, new))


def operator(site: Site) -> Iterator[Change]:
    """Another comparison operator: first the opposite, then the rest.

    Seldom one that would let a chain like `0 <= n < 10` point both ways.
    """
    for comparison in site.of("comparison_operator"):
        found = operators(comparison)
        for token, old in found:
            others = {operator for other, operator in found if other != token}
            for new, factor in _OTHERS.get(old, {}).items():
                torn = (new in _UP and others & _DOWN) or (new in _DOWN and others & _UP)
                yield Change((swap(token, new),), arrow(old, new), factor * (0.3 if torn else 1.0))


def identity(site: Site) -> Iterator[Change]:
    """`x is "a"` → `x == "a"`, `x == None` → `x is None`."""
    for comparison in site.of("comparison_operator"):
        sides = comparison.named
        for (token, old), side in zip(operators(comparison), sides[1:], strict=False):
            constant = side.kind in {"string", "integer", "float", "tuple", "list", "dictionary"}
            if old in {"is", "is not"} and constant:
                new = "==" if old == "is" else "!="
            elif old in {"==", "!="} and side.kind == "none":
                new = "is" if old == "==" else "is not"
            else:
                continue
            yield Change((swap(token, new),), arrow(f"{old} {side.text}", f"{new} {side.text}"))


def offset(site: Site) -> Iterator[Change]:
    """`a < b` → `a < b + 1`, `a < b - 1`."""
    for comparison in site.of("comparison_operator"):
        for (_, old), side in zip(operators(comparison), comparison.named[1:], strict=False):
            if old not in {"in", "not in", "is", "is not"} and side.kind in {
                "identifier",
                "attribute",
                "call",
            }:
                if site.scope.type_of(side) in {"str", "list", "dict", "set", "bool"}:
                    continue
                for sign in "+-":
                    yield Change(
                        (swap(side, f"{side.text} {sign} 1"),), arrow(side.text, f"{side.text} {sign} 1")
                    )


def both_sides(site: Site) -> Iterator[Change]:
    """`a == b` → `set(a) == set(b)`, `a.lower() == b.lower()` …: both sides, the same way."""
    for comparison in site.of("comparison_operator"):
        sides = comparison.named
        if len(sides) != 2 or operators(comparison)[0][1] not in {"==", "!=", "<", ">", "<=", ">="}:
            continue
        left, right = sides
        if not (names_of(left) and names_of(right)):
            continue
        kinds = {site.scope.type_of(left), site.scope.type_of(right)}
        for name, wanted in (("set", "sized"), ("sorted", "sized"), ("len", "sized"), ("abs", "number"),
                             ("str", ""), ("int", "str")):  # fmt: skip
            if wanted == "sized" and kinds & {"int", "float", "number", "bool"}:
                continue
            if wanted == "number" and kinds & {"str", "list", "tuple", "dict", "set"}:
                continue
            new = f"{name}({left.text})", f"{name}({right.text})"
            yield Change((swap(left, new[0]), swap(right, new[1])), f"compare `{name}(…)` of both sides")
        if kinds <= {"str", ""}:
            for method in ("lower", "strip"):
                new = f"{atom(left)}.{method}()", f"{atom(right)}.{method}()"
                yield Change(
                    (swap(left, new[0]), swap(right, new[1])), f"compare `.{method}()` of both sides"
                )
