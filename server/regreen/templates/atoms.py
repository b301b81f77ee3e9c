"""Which small expressions and conditions make sense at a place, best first?"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from regreen.source import Node
from regreen.templates.guesses import incompatible
from regreen.templates.model import Site
from regreen.templates.scope import names_of

_LIMIT = 24


def conditions(site: Site, near: Node | None = None) -> list[str]:
    """List conditions over the names in scope, those about names used nearby first; at most `_LIMIT`.

    Args:
        site: the place.
        near: the condition to which an operand is added: what it says already is left out.
    """
    usable = names_at(site)
    here = names_of(near) if near is not None else names_of(site.statement)
    present = near.text if near is not None else ""
    latest = {name: -at for at, name in enumerate(usable)}
    ranked = sorted(usable, key=lambda name: (name not in here, -site.scope.uses.read[name], latest[name]))
    recent = [name for name in usable if name in _loop_names(site.statement)]
    pairs = [*_pairs(site, recent[-3:]), *_pairs(site, sorted(ranked[:5], key=usable.index))]
    single = [text for name in ranked[:6] for text in _about(name, site.scope.types.get(name, ""))]
    found = dict.fromkeys(itertools.islice(_borrowed(site, near), 10))
    for one, other in itertools.zip_longest(single, pairs, fillvalue=""):
        found |= dict.fromkeys((one, other))
    return [text for text in found if text and text != present][:_LIMIT]


def _pairs(site: Site, usable: list[str]) -> Iterator[str]:
    """Comparisons of two names whose types go together."""
    for one, other in itertools.combinations(usable, 2):
        types = site.scope.types.get(one, ""), site.scope.types.get(other, "")
        if incompatible(*types):
            continue
        ordered = types[0] not in {"list", "dict", "set", "bool"} and types[1] not in {
            "list",
            "dict",
            "set",
            "bool",
        }
        for operator in ("==", "!=", "<", ">") if ordered else ("==", "!="):
            yield f"{one} {operator} {other}"
    for one, other in itertools.permutations(usable, 2):
        if site.scope.types.get(other, "") in {"list", "set", "dict", "str", "sized"}:
            yield f"{one} not in {other}"
            yield f"{one} in {other}"


def _loop_names(statement: Node) -> set[str]:
    """Names bound by the loops around a statement."""
    found: set[str] = set()
    for up in statement.up():
        left = up.field("left") if up.kind == "for_statement" else None
        if left is not None:
            found |= {node.text for node in left.walk() if node.kind == "identifier"}
    return found


def _about(name: str, type_: str) -> Iterator[str]:
    """Conditions on one name, by its type."""
    if type_ in {"int", "float", "number", ""}:
        yield from (
            f"{name} > 0",
            f"{name} == 0",
            f"{name} < 0",
            f"{name} != 0",
            f"{name} > 1",
            f"{name} % 2 == 0",
        )
    if type_ == "str":
        yield from (f"{name}", f"not {name}", f"{name}.isdigit()", f"{name}.isalpha()", f"len({name}) > 1")
    if type_ in {"list", "tuple", "dict", "set", "sized"}:
        yield from (f"{name}", f"not {name}", f"len({name}) > 1")
    if type_ == "bool":
        yield from (name, f"not {name}")
    if not type_:
        yield from (name, f"not {name}", f"{name} is not None", f"{name} is None")


def _borrowed(site: Site, near: Node | None) -> Iterator[str]:
    """Conditions of the same function: as they are, negated, and with their number changed."""
    bound = set(names_at(site))
    numbers = [text for text in site.scope.facts.numbers if text.isdigit()][:6]
    for node in site.scope.facts.comparisons:
        if near is not None and near.start <= node.start < near.end:
            continue
        if names_of(node) <= bound | BUILTINS:
            yield node.text
            for inner in node.walk():
                if inner.kind == "integer":
                    for number in (*numbers, str(int(inner.text, 0) + 1)):
                        if number != inner.text:
                            low, high = inner.start - node.start, inner.end - node.start
                            yield node.text[:low] + number + node.text[high:]


def names_at(site: Site) -> list[str]:
    """List the values that exist at the statement: parameters, loop variables around, names bound before."""
    scope = site.scope
    if site.function is None:
        return [name for name in scope.variables if name in scope.own]
    found = [p.name for p in site.function.parameters if p.name not in {"self", "cls"}]
    end = site.statement.start
    return list(dict.fromkeys([*found, *(name for name, start in scope.first_seen if start < end)]))


def idle_at(site: Site) -> list[str]:
    """List the names that exist at the statement and that nothing puts to use: one may be missing here."""
    later = {name for name, start in site.scope.first_seen if start >= site.statement.start}
    later -= {p.name for p in site.function.parameters} if site.function is not None else set()
    return [name for name in site.scope.idle if name not in later]


BUILTINS = frozenset(
    {"len", "abs", "sum", "min", "max", "any", "all", "int", "str", "isinstance", "set", "sorted"}
)
