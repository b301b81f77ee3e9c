"""Which small expressions and conditions make sense at a place, best first?"""

from __future__ import annotations

from collections.abc import Iterator

from regreen.source import Node
from regreen.templates.model import Site
from regreen.templates.scope import incompatible, names_of

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
    ranked = sorted(usable, key=lambda name: (name not in here, -site.scope.uses.read[name]))
    found: dict[str, None] = {}
    for text in _borrowed(site, near):
        found.setdefault(text)
    for name in ranked[:6]:
        type_ = site.scope.types.get(name, "")
        for text in _about(name, type_):
            found.setdefault(text)
    for one in ranked[:5]:
        for other in ranked[:5]:
            types = site.scope.types.get(one, ""), site.scope.types.get(other, "")
            if one < other and not incompatible(*types):
                for operator in (
                    ("!=", "==", "<", ">") if types[0] not in {"list", "dict", "set"} else ("!=", "==")
                ):
                    found.setdefault(f"{one} {operator} {other}")
            if one != other and types[1] in {"list", "set", "dict", "str", "sized"}:
                found.setdefault(f"{one} not in {other}")
                found.setdefault(f"{one} in {other}")
    return [text for text in found if text != present][:_LIMIT]


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
    numbers = sorted({node.text for node in site.body.walk() if node.kind == "integer"})[:6]
    for node in site.body.walk():
        if node.kind != "comparison_operator" or (near is not None and near.start <= node.start < near.end):
            continue
        if names_of(node) <= bound | BUILTINS and len(node.text) < 60:
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
    for node in site.function.body.walk():
        if node.kind != "identifier" or node.start >= end or node.text in found:
            continue
        if node.text in scope.own and not _comprehension_only(node):
            found.append(node.text)
    return found


def _comprehension_only(node: Node) -> bool:
    return any(
        up.kind.endswith("_comprehension") or up.kind in {"generator_expression", "lambda"}
        for up in node.up()
    )


BUILTINS = frozenset(
    {"len", "abs", "sum", "min", "max", "any", "all", "int", "str", "isinstance", "set", "sorted"}
)
