"""Arithmetic: operators, operands, off by one, grouping and signs."""

from __future__ import annotations

from collections.abc import Iterator

from regreen.source import Node
from regreen.templates.model import Change, Site
from regreen.templates.rewrite import arrow, atom, swap
from regreen.values import TextEdit

KINDS = frozenset({"binary_operator"})
_OPERATORS = {
    "+": {"-": 1.0, "*": 0.7, "//": 0.2, "|": 0.2},
    "-": {"+": 1.0, "%": 0.6, "*": 0.4, "//": 0.3},
    "*": {"**": 0.8, "+": 0.8, "/": 0.7, "//": 0.6},
    "/": {"//": 0.9, "*": 0.7, "%": 0.3},
    "//": {"/": 0.9, "%": 0.7, "*": 0.5, "-": 0.3},
    "%": {"//": 0.5, "/": 0.4, "*": 0.2},
    "**": {"*": 1.0},
    "&": {"|": 1.0, "^": 0.7},
    "|": {"&": 1.0, "^": 0.7, "+": 0.4},
    "^": {"&": 0.8, "|": 0.8, "**": 0.8},
    "<<": {">>": 1.0},
    ">>": {"<<": 1.0},
    "@": {"*": 1.0},
}
"""Operator → those it is mistaken for, and how readily."""
_LOOSE = {"+": 0, "-": 0, "*": 1, "/": 1, "//": 1, "%": 1, "**": 2}


def _sides(node: Node) -> tuple[Node, Node, Node] | None:
    left, token, right = node.field("left"), node.field("operator"), node.field("right")
    return (left, token, right) if left is not None and token is not None and right is not None else None


def operator(site: Site) -> Iterator[Change]:
    """Another arithmetic or bit operator; seldom `//` where the test expects a fraction."""
    for node in site.of("binary_operator"):
        sides = _sides(node)
        if sides is None or sides[0].kind == "string":
            continue  # `"…" % x` formats
        old = sides[1].text
        for new, factor in _OPERATORS.get(old, {}).items():
            unlikely = new == "//" and isinstance(site.evidence.expected_value, float)
            yield Change((swap(sides[1], new),), arrow(old, new), factor * (0.3 if unlikely else 1.0))


def augmented(site: Site) -> Iterator[Change]:
    """`+=` → `-=`, `*=`, `=` …, and `x = y` → `x += y` where x holds something already."""
    for node in site.of("augmented_assignment"):
        sides = _sides(node)
        if sides is None:
            continue
        old = sides[1].text
        for new, factor in {**_OPERATORS.get(old[:-1], {}), "": 0.4}.items():
            yield Change((swap(sides[1], f"{new}="),), arrow(old, f"{new}="), factor)
    for node in site.of("assignment"):
        left, right = node.field("left"), node.field("right")
        token = next((child for child in node.children if child.kind == "="), None)
        if left is None or right is None or token is None or node.field("type") is not None:
            continue
        if left.kind == "identifier" and _assigned_before(site, left.text, node.start):
            for rank, new in enumerate(("+=", "*=", "-=")):
                yield Change((swap(token, new),), arrow("=", new), 1 / (1 + 0.6 * rank))


def _assigned_before(site: Site, name: str, offset: int) -> bool:
    for node in site.body.walk():
        left = node.field("left") if node.kind == "assignment" else None
        if left is not None and left.text == name and node.start < offset:
            return True
    return False


def swap_operands(site: Site) -> Iterator[Change]:
    """`a - b` → `b - a`, where the order matters."""
    for node in site.of("binary_operator"):
        sides = _sides(node)
        if sides is None or sides[1].text in {"*", "&", "|", "^"}:
            continue
        left, token, right = sides
        if token.text == "+" and site.scope.type_of(node) in {"int", "float", "number"}:
            continue
        if left.kind == "string" and token.text == "%":
            continue
        edits = (swap(left, atom(right)), swap(right, atom(left)))
        yield Change(edits, arrow(node.text, f"{atom(right)} {token.text} {atom(left)}"))


def drop_operand(site: Site) -> Iterator[Change]:
    """`a + b` → `a`, `b`; also inside of a chain: `a - b + c` → `a + c`, `b + c`."""
    for node in site.of("binary_operator"):
        sides = _sides(node)
        if sides is None or sides[0].kind == "string":
            continue
        left, token, right = sides
        constant = right.kind in {"integer", "float"}
        yield Change(
            (TextEdit(left.end, right.end, ""),), arrow(node.text, left.text), 1.0 if constant else 0.8
        )
        yield Change((TextEdit(left.start, right.start, ""),), arrow(node.text, right.text), 0.7)
        inner = _sides(left) if left.kind == "binary_operator" else None
        if inner is not None:
            # (a ? b) ! c → a ! c: the operand in the middle goes, and its operator with it
            yield Change(
                (TextEdit(inner[0].end, left.end, ""),),
                arrow(node.text, f"{inner[0].text} {token.text} {right.text}"),
                0.6,
            )
            yield Change(
                (TextEdit(inner[1].start, token.start, ""),),
                arrow(node.text, f"{inner[0].text} {token.text} {right.text}"),
                0.5,
            )


def off_by_one(site: Site) -> Iterator[Change]:
    """`± 1` on what counts: arguments of range, indexes, slice bounds, `len(…)`, and returned numbers."""
    for node in _counted(site):
        for sign in _signs(site):
            yield Change(
                (swap(node, f"{_operand(node)} {sign} 1"),), arrow(node.text, f"{node.text} {sign} 1")
            )


def _counted(site: Site) -> Iterator[Node]:
    seen: set[int] = set()
    for node in site.nodes:
        found: list[Node] = []
        if node.kind == "call":
            function, listed = node.field("function"), node.field("arguments")
            if function is not None and listed is not None and function.text in {"range", "xrange"}:
                found = listed.named[:2]
            elif function is not None and function.text == "len":
                found = [node]
        elif node.kind == "subscript":
            indexes = node.fields("subscript")
            if site.scope.type_of(node.named[0]) != "dict":
                found = [index for index in indexes if index.kind not in {"slice", "string"}]
        elif node.kind == "slice":
            found = node.named
        elif node.kind in {"return_statement", "yield"} and node.named:
            found = [node.named[0]] if site.scope.type_of(node.named[0]) in _COUNTING else []
        elif node.kind == "assignment":
            right = node.field("right")
            single = right is not None and right.kind != "assignment"  # `a = b = 0` nests
            found = [right] if right and single and site.scope.type_of(right) in _COUNTING else []
        for one in found:
            if one.start not in seen and not _is_literal(one) and one.text:
                seen.add(one.start)
                yield one


def _is_literal(node: Node) -> bool:
    argument = node.field("argument") if node.kind == "unary_operator" else None
    return (argument or node).kind in {"integer", "float", "string"}


_COUNTING = frozenset({"int", "number", "float", ""})


def _signs(site: Site) -> str:
    """`+` first, unless the result was one too large."""
    expected, actual = site.evidence.expected_value, site.evidence.actual_value
    if isinstance(expected, (int, float)) and isinstance(actual, (int, float)) and actual > expected:
        return "-+"
    return "-+" if site.evidence.exception == "IndexError" else "+-"


def _operand(node: Node) -> str:
    return node.text if node.kind in {"binary_operator", "unary_operator"} else atom(node)


def regroup(site: Site) -> Iterator[Change]:
    """`a + b * c` → `(a + b) * c`; `(a + b) * c` → `a + b * c`."""
    for node in site.of("binary_operator"):
        sides = _sides(node)
        if sides is None:
            continue
        left, token, right = sides
        inner = _sides(right) if right.kind == "binary_operator" else None
        if inner is not None:
            text = f"({left.text} {token.text} {inner[0].text}) {inner[1].text} {inner[2].text}"
            yield Change((swap(node, text),), arrow(node.text, text))
        inner = _sides(left) if left.kind == "binary_operator" else None
        if inner is not None:
            text = f"{inner[0].text} {inner[1].text} ({inner[2].text} {token.text} {right.text})"
            yield Change((swap(node, text),), arrow(node.text, text))
    for node in site.of("parenthesized_expression"):
        around = node.parent
        outside = around is not None and around.kind in {
            "binary_operator",
            "unary_operator",
            "comparison_operator",
        }
        if outside and node.named and node.named[0].kind == "binary_operator":
            inner_text = node.named[0].text
            yield Change((swap(node, inner_text),), arrow(node.text, inner_text), 0.8)


def sign(site: Site) -> Iterator[Change]:
    """`-x` → `x`, `x` → `-x` where a number is returned, assigned, compared or passed."""
    for node in site.of("unary_operator"):
        argument = node.field("argument")
        if argument is not None:
            yield Change((swap(node, argument.text),), arrow(node.text, argument.text))
    for node in site.of("identifier", "call", "subscript", "attribute", "integer"):
        around = node.parent
        if around is None or around.kind not in {
            "return_statement", "assignment", "argument_list", "binary_operator", "comparison_operator", "expression_list",
        }:  # fmt: skip
            continue
        if around.kind == "assignment" and around.field("left") == node:
            continue
        if site.scope.type_of(node) in {"str", "list", "dict", "set", "tuple", "bool", "callable"}:
            continue
        if node.kind == "integer" and node.text == "0":
            continue
        yield Change((swap(node, f"-{node.text}"),), arrow(node.text, f"-{node.text}"), 0.4)
