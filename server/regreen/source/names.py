"""Which names does a piece of code read, and which does it bind?"""

from __future__ import annotations

import enum
from collections import Counter
from dataclasses import dataclass

from regreen.source.node import Node

_PATTERNS = frozenset({
    "pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern", "dictionary_splat_pattern",
    "as_pattern_target", "parenthesized_expression",
})  # fmt: skip
_BINDING_FIELDS = {
    "assignment": "left",
    "for_statement": "left",
    "for_in_clause": "left",
    "named_expression": "name",
    "function_definition": "name",
    "class_definition": "name",
    "default_parameter": "name",
    "typed_default_parameter": "name",
    "aliased_import": "alias",
}
_IMPORTS = frozenset({"import_statement", "import_from_statement", "future_import_statement"})


class Role(enum.Enum):
    """What an identifier does where it stands."""

    READ = "read"
    BOUND = "bound"
    BOTH = "both"  # `x += 1`
    LABEL = "label"  # an attribute, a keyword of a call, a part of a module's name
    OUTER = "outer"  # named by `global` or `nonlocal`


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a piece of code.

    Args:
        read: how often each name is read.
        bound: names it binds: targets, loop variables, `as`, imports, parameters, definitions.
        outer: names it declares `global` or `nonlocal`.
    """

    read: Counter[str]
    bound: frozenset[str]
    outer: frozenset[str]


def names(node: Node) -> Names:
    """Find the names at and below `node`, nested functions and classes included."""
    read: Counter[str] = Counter()
    bound: set[str] = set()
    outer: set[str] = set()
    for inner in node.walk():
        if inner.kind != "identifier":
            continue
        role = role_of(inner)
        if role in (Role.READ, Role.BOTH):
            read[inner.text] += 1
        if role in (Role.BOUND, Role.BOTH):
            bound.add(inner.text)
        if role is Role.OUTER:
            outer.add(inner.text)
    return Names(read, frozenset(bound), frozenset(outer))


def role_of(identifier: Node) -> Role:
    """Tell what an identifier does where it stands."""
    node, parent = identifier, identifier.parent
    while parent is not None and parent.kind in _PATTERNS:
        if parent.kind == "as_pattern_target":
            return Role.BOUND
        node, parent = parent, parent.parent
    if parent is None:
        return Role.READ
    kind = parent.kind
    if kind in {"tuple", "list"} and any(up.kind == "as_pattern_target" for up in parent.up()):
        return Role.BOUND  # `with a as (b, c)`: the grammar keeps a plain tuple here
    if kind in {"parameters", "lambda_parameters"}:
        return Role.BOUND
    if kind == "typed_parameter":
        return Role.BOUND if parent.named[0] == node else Role.READ
    if kind in _BINDING_FIELDS and parent.field(_BINDING_FIELDS[kind]) == node:
        return Role.BOUND
    if kind == "augmented_assignment" and parent.field("left") == node:
        return Role.BOTH
    if kind == "attribute" and parent.field("attribute") == node:
        return Role.LABEL
    if kind == "keyword_argument" and parent.field("name") == node:
        return Role.LABEL
    if kind in {"global_statement", "nonlocal_statement"}:
        return Role.OUTER
    if kind == "dotted_name":
        return _role_in_dotted_name(identifier, parent)
    return Role.READ


def _role_in_dotted_name(identifier: Node, dotted: Node) -> Role:
    """`import a.b` binds a, `from m import a` binds a, `case a` binds a; the rest are labels."""
    around = dotted.parent
    first = dotted.named[0] == identifier
    if around is not None and around.kind in _IMPORTS and first and dotted in around.fields("name"):
        return Role.BOUND
    if around is not None and around.kind == "case_pattern":
        if len(dotted.named) == 1:
            return Role.BOUND
        return Role.READ if first else Role.LABEL
    return Role.LABEL


def parameter_name(parameter: Node) -> str:
    """Return the name one child of a parameter list binds; empty for the `/` and `*` separators."""
    return next((n.text for n in parameter.walk() if n.kind == "identifier" and role_of(n) is Role.BOUND), "")
