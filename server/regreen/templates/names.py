"""Names: misspelt ones, wrong ones, exchanged ones, and ones that are not there yet."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from regreen.source import Node, Role, role_of
from regreen.templates.atoms import names_at
from regreen.templates.guesses import SIZED
from regreen.templates.model import Change, Site
from regreen.templates.rewrite import arrow, before, exchange, stands_alone, swap

KINDS = frozenset({"identifier"})
MISSING_NAME = re.compile(r"name '(\w+)' is not defined|local variable '(\w+)'|free variable '(\w+)'")


def missing_name(site: Site) -> str:
    """Return the name that the failure says is not defined; empty when it says nothing."""
    hinted = site.evidence.failure.hints.get("name", "")
    match = MISSING_NAME.search(site.evidence.failure.message)
    return next((group for group in match.groups() if group), "") if match else hinted


def reads(site: Site, name: str = "") -> list[Node]:
    """Return the identifiers the statement's header reads (only those called `name`, if given)."""
    return [
        node
        for node in site.of("identifier")
        if role_of(node) in (Role.READ, Role.BOTH) and (not name or node.text == name)
    ]


def typo(site: Site) -> Iterator[Change]:
    """A name that does not exist → the nearest that does (in scope when it failed, or in the text)."""
    name = missing_name(site)
    hinted = [near.strip() for near in site.evidence.failure.hints.get("near", "").split(",") if near.strip()]
    known = [*site.scope.variables, *site.scope.callables]
    close = difflib.get_close_matches(name, [n for n in known if n != name], 4, 0.6)
    for node in reads(site, name) if name else ():
        for rank, new in enumerate(dict.fromkeys([*hinted, *close])):
            if new.isidentifier() and new != name:
                yield Change((swap(node, new),), arrow(name, new), 1 / (1 + 0.5 * rank))


def missing_self(site: Site) -> Iterator[Change]:
    """`total` → `self.total` for a name that only the class knows."""
    name, function = missing_name(site), site.function
    owner = site.file.class_named(function.owner) if function is not None and function.owner else None
    if owner is None or function is None or not function.parameters or not name:
        return
    receiver = function.parameters[0].name
    members = owner.attributes | {method.name for method in owner.methods}
    close = [name] if name in members else difflib.get_close_matches(name, sorted(members), 2, 0.75)
    for node in reads(site, name):
        for rank, member in enumerate(close):
            yield Change(
                (swap(node, f"{receiver}.{member}"),), arrow(name, f"{receiver}.{member}"), 1 / (1 + rank)
            )


def outer_declaration(site: Site) -> Iterator[Change]:
    """UnboundLocalError: `global x` or `nonlocal x` at the top of the function, if an outer x exists."""
    name, function = missing_name(site), site.function
    if function is None or not name or not function.body.named:
        return
    first = function.body.named[0]
    if first.kind == "expression_statement" and first.named and first.named[0].kind == "string":
        first = function.body.named[1] if len(function.body.named) > 1 else first
    if not stands_alone(site.file, first):
        return
    nested = [up for up in function.node.up() if up.kind == "function_definition"]
    if nested:
        yield Change((before(site.file, first, f"nonlocal {name}"),), f"declare `{name}` nonlocal")
    if name in site.file.defined:
        yield Change((before(site.file, first, f"global {name}"),), f"declare `{name}` global", 0.9)


def initialise(site: Site) -> Iterator[Change]:
    """UnboundLocalError: give the variable a first value before the loop or branch that sets it."""
    name, function = missing_name(site), site.function
    if function is None or not name:
        return
    setters = [
        node
        for node in function.body.named
        if any(n.kind == "identifier" and n.text == name and role_of(n) is not Role.READ for n in node.walk())
    ]
    if not setters or not stands_alone(site.file, setters[0]):
        return
    for rank, first in enumerate(_first_values(site, name)):
        code = f"{name} = {first}"
        yield Change((before(site.file, setters[0], code),), f"start with `{code}`", 1 / (1 + 0.4 * rank))


def _first_values(site: Site, name: str) -> list[str]:
    by_type = {
        "int": "0",
        "number": "0",
        "float": "0.0",
        "str": '""',
        "list": "[]",
        "dict": "{}",
        "bool": "False",
    }
    guess = by_type.get(site.scope.types.get(name, ""), "0")
    return list(dict.fromkeys([guess, "0", "None", "[]", '""', "1", "False", "{}"]))


def bound_around(node: Node) -> list[str]:
    """List the names bound by the comprehensions and lambdas around a node."""
    found: list[str] = []
    for up in node.up():
        if up.kind.endswith("_comprehension") or up.kind == "generator_expression":
            for clause in up.named:
                left = clause.field("left") if clause.kind == "for_in_clause" else None
                found += [n.text for n in left.walk() if n.kind == "identifier"] if left is not None else []
        elif up.kind == "lambda":
            listed = up.field("parameters")
            found += [n.text for n in listed.walk() if n.kind == "identifier"] if listed is not None else []
        elif up.kind == "block":
            break
    return found


def wrong_target(site: Site) -> Iterator[Change]:
    """`x += 1` → `y += 1`: another variable is assigned."""
    for node in site.of("assignment", "augmented_assignment"):
        left = node.field("left")
        if left is None or left.kind != "identifier":
            continue
        for new in names_at(site):
            weight = site.scope.similar(left.text, new) if new != left.text else 0.0
            if weight:
                yield Change((swap(left, new),), arrow(f"{left.text} =", f"{new} ="), weight)


def exchanged(site: Site) -> Iterator[Change]:
    """Two names of one statement exchanged, targets included: `b, a = f()` → `a, b = f()`."""
    for node in site.of(
        "pattern_list", "tuple_pattern", "expression_list", "tuple", "list", "binary_operator"
    ):
        parts = [part for part in node.named if part.kind not in {"comment", "integer", "float"}]
        for low, one in enumerate(parts):
            for other in parts[low + 1 :]:
                if one.text != other.text and len(parts) <= 4:
                    yield Change(exchange(one, other), f"exchange `{one.text}` and `{other.text}`")
    found = [node for node in site.of("identifier") if role_of(node) is not Role.LABEL]
    by_name: dict[str, list[Node]] = {}
    for node in found:
        by_name.setdefault(node.text, []).append(node)
    named = [name for name in by_name if name in site.scope.own or name in _bound_anywhere(found)]
    for low, first in enumerate(named):
        for second in named[low + 1 :]:
            edits = [swap(n, second) for n in by_name[first]] + [swap(n, first) for n in by_name[second]]
            yield Change(tuple(sorted(edits)), f"exchange `{first}` and `{second}`", 0.5)


def _bound_anywhere(nodes: list[Node]) -> set[str]:
    return {node.text for node in nodes if role_of(node) is Role.BOUND}


def to_length(site: Site) -> Iterator[Change]:
    """A variable → `len(…)` of a collection in scope."""
    sized = [n for n in names_at(site) if site.scope.types.get(n, "") in SIZED | {"sized"}]
    for node in site.of("identifier", "integer", "call"):
        if node.kind == "identifier" and (role_of(node) is not Role.READ or node.text not in site.scope.own):
            continue
        around = node.parent
        if around is None or around.kind not in {
            "binary_operator", "return_statement", "comparison_operator", "argument_list", "assignment", "slice",
        }:  # fmt: skip
            continue
        for name in sized:
            if node.text == name and around.kind == "argument_list":
                continue  # `f(xs)` → `f(len(xs))` is a wrapped call
            new = f"len({name})"
            if node.text != new:
                yield Change(
                    (swap(node, new),), arrow(node.text, new), 0.6 if node.kind == "identifier" else 0.3
                )
