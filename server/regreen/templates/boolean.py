"""Conditions: and/or, negation, missing and needless operands, flipped constants."""

from __future__ import annotations

from collections.abc import Iterator

from regreen.source import Node
from regreen.templates.atoms import conditions
from regreen.templates.model import Change, Site
from regreen.templates.rewrite import arrow, atom, short, swap
from regreen.templates.scope import names_of
from regreen.values import TextEdit

_OTHER = {"and": "or", "or": "and"}
CONDITIONS = frozenset({
    "if_statement", "while_statement", "elif_clause", "conditional_expression", "if_clause", "return_statement",
    "assert_statement", "assignment", "not_operator", "boolean_operator",
})  # fmt: skip


def operator(site: Site) -> Iterator[Change]:
    """`and` ↔ `or`: each, and all of a chain at once."""
    for node in site.of("boolean_operator"):
        chain = list(_tokens(node))
        around = node.parent
        if len(chain) > 1 and (around is None or around.kind != "boolean_operator"):
            edits = tuple(swap(token, _OTHER[token.text]) for token in chain)
            yield Change(edits, f"every `{chain[0].text}` → `{_OTHER[chain[0].text]}`", 0.9)
        token = node.field("operator")
        if token is not None and token.text in _OTHER:
            yield Change((swap(token, _OTHER[token.text]),), arrow(token.text, _OTHER[token.text]))


def _tokens(node: Node) -> Iterator[Node]:
    for side in (node.field("left"), node.field("operator"), node.field("right")):
        if side is not None and side.kind == "boolean_operator":
            yield from _tokens(side)
        elif side is not None and side.text in _OTHER:
            yield side


def tested(site: Site) -> Iterator[Node]:
    """Yield the expressions whose truth is tested in the statement's header."""
    for node in site.nodes:
        if node.kind in {"if_statement", "while_statement", "elif_clause"}:
            condition = node.field("condition")
            if condition is not None:
                yield condition
        elif node.kind == "conditional_expression" and len(node.named) == 3:
            yield node.named[1]
        elif node.kind in {"if_clause", "assert_statement"} and node.named:
            yield node.named[0]


def negate(site: Site) -> Iterator[Change]:
    """`x` ↔ `not x` where truth is tested, returned or passed as a flag."""
    for node in site.of("not_operator"):
        argument = node.field("argument")
        if argument is not None:
            yield Change((swap(node, argument.text),), arrow(node.text, argument.text))
    branching = list(tested(site))
    found = [*branching]
    for node in site.of("return_statement", "keyword_argument"):
        value = node.field("value") if node.kind == "keyword_argument" else next(iter(node.named), None)
        if (
            value is not None
            and site.scope.type_of(value) in {"bool", ""}
            and value.kind not in {"lambda", "none"}
        ):
            found.append(value)
    for condition in found:
        if condition.kind in {"true", "false", "not_operator", "comparison_operator"}:
            continue  # other templates turn these round
        text = f"not {atom(condition)}"
        yield Change(
            (swap(condition, text),), arrow(condition.text, text), 1.0 if condition in branching else 0.6
        )


def drop_operand(site: Site) -> Iterator[Change]:
    """`a and b` → `a`, `b`."""
    for node in site.of("boolean_operator"):
        left, right = node.field("left"), node.field("right")
        if left is not None and right is not None:
            yield Change((TextEdit(left.end, right.end, ""),), arrow(node.text, left.text))
            yield Change((TextEdit(left.start, right.start, ""),), arrow(node.text, right.text))


def constant(site: Site) -> Iterator[Change]:
    """`True` ↔ `False`."""
    for node in site.of("true", "false"):
        new = "False" if node.kind == "true" else "True"
        yield Change((swap(node, new),), arrow(node.text, new))


def all_constants(site: Site) -> Iterator[Change]:
    """Every returned `True` ↔ `False` of a function, or of the statements nearest to each other."""
    returned = [
        value
        for node in site.body.walk()
        if node.kind == "return_statement"
        for value in node.named
        if value.kind in {"true", "false"}
    ]
    flips = [swap(node, "False" if node.kind == "true" else "True") for node in returned]
    if len(flips) > 1:
        yield Change(tuple(flips), "exchange the returned `True` and `False`")
    if len(flips) > 2:
        for low in range(len(flips) - 1):
            yield Change(tuple(flips[low : low + 2]), "exchange two returned `True` and `False`", 0.6)


def sibling_operand(site: Site) -> Iterator[Change]:
    """Add an operand that is an existing one with its names permuted: `x+y==z or y+z==x` lacks `x+z==y`.

    Or with the text of another one: `"-" in word and not word.startswith("+")` lacks `not word.startswith("-")`.
    """
    for node in site.of("boolean_operator"):
        around = node.parent
        if around is not None and around.kind == "boolean_operator":
            continue
        parts = list(_operands(node))
        token = node.field("operator")
        present = {"".join(part.text.split()).strip("()") for part in parts}
        if token is None:
            continue
        for part in parts:
            for text in (*_permuted(part, sorted(names_of(node))), *_reworded(part, node)):
                if "".join(text.split()).strip("()") not in present:
                    added = f"{parts[-1].text} {token.text} {text}"
                    yield Change((swap(parts[-1], added),), f"add `{token.text} {short(text)}`")


def _reworded(part: Node, condition: Node) -> Iterator[str]:
    """Texts of an operand with its only literal replaced by the others of the condition."""
    own = [node for node in part.walk() if node.kind == "string"]
    others = dict.fromkeys(node.text for node in condition.walk() if node.kind == "string")
    for text in others if len(own) == 1 else ():
        if text != own[0].text:
            low, high = own[0].start - part.start, own[0].end - part.start
            yield part.text[:low] + text + part.text[high:]


def _operands(node: Node) -> Iterator[Node]:
    for side in (node.field("left"), node.field("right")):
        if side is not None and side.kind == "boolean_operator":
            yield from _operands(side)
        elif side is not None:
            yield side


def _permuted(part: Node, known: list[str]) -> Iterator[str]:
    """Texts of an expression with two of its names exchanged, or one replaced by another of the condition."""
    reads = [node for node in part.walk() if node.kind == "identifier"]
    own = sorted({node.text for node in reads})
    pairs = [
        (one, other) for one in own for other in known if one != other and (other not in own or one < other)
    ]
    for one, other in pairs:
        mapping = {one: other, other: one} if other in own else {one: other}
        text, shift = part.text, part.start
        for node in reversed(reads):
            if node.text in mapping:
                text = text[: node.start - shift] + mapping[node.text] + text[node.end - shift :]
        yield text


def add_operand(site: Site) -> Iterator[Change]:
    """`if a` → `if a and b`, `if a or b`, with b from conditions that make sense here."""
    for condition in tested(site):
        found = conditions(site, near=condition)
        for rank, text in enumerate(found):
            share = 1 / (1 + 0.12 * rank)
            for token in ("and", "or"):
                bare = condition.text if _joins(condition, token) else atom(condition)
                new = f"{bare} {token} {text}"
                yield Change((swap(condition, new),), f"add `{token} {short(text)}`", share)
                if rank < 6:
                    yield Change(
                        (swap(condition, f"{text} {token} {bare}"),),
                        f"add `{short(text)} {token}` before",
                        share * 0.6,
                    )


def _joins(condition: Node, word: str) -> bool:
    """Whether an operand may be added without parentheses."""
    if condition.kind == "boolean_operator":
        own = condition.field("operator")
        return own is not None and word in {own.text, "or"}
    return condition.kind not in {"lambda", "conditional_expression", "named_expression"}


def regroup(site: Site) -> Iterator[Change]:
    """`not a in b` → `a not in b`, `not a or b` → `not (a or b)`, `a and b or c` → `a and (b or c)`."""
    for node in site.of("not_operator"):
        around = node.parent
        argument = node.field("argument")
        if argument is None:
            continue
        if around is not None and around.kind == "boolean_operator" and around.field("left") == node:
            rest = around.text[argument.start - around.start :]
            yield Change((swap(around, f"not ({rest})"),), arrow(around.text, f"not ({rest})"))
        inner = argument.named[0] if argument.kind == "parenthesized_expression" and argument.named else None
        if inner is not None and inner.kind == "boolean_operator":
            yield Change((swap(argument, inner.text),), arrow(node.text, f"not {inner.text}"), 0.7)
    for node in site.of("boolean_operator"):
        left, token, right = node.field("left"), node.field("operator"), node.field("right")
        if left is None or token is None or right is None:
            continue
        if left.kind == "boolean_operator":
            one, inner_token, other = left.field("left"), left.field("operator"), left.field("right")
            if one and inner_token and other and inner_token.text != token.text:
                text = f"{one.text} {inner_token.text} ({other.text} {token.text} {right.text})"
                yield Change((swap(node, text),), arrow(node.text, text))
        if right.kind == "boolean_operator":
            one, inner_token, other = right.field("left"), right.field("operator"), right.field("right")
            if one and inner_token and other and inner_token.text != token.text:
                text = f"({left.text} {token.text} {one.text}) {inner_token.text} {other.text}"
                yield Change((swap(node, text),), arrow(node.text, text))
