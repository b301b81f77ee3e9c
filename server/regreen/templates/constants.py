"""Numbers: off by one, other usual values, values the function uses, and all equal ones together."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from regreen.source import Node
from regreen.templates.model import Change, Site
from regreen.templates.rewrite import arrow, siblings, swap

KINDS = frozenset({"integer", "float"})


def value(node: Node) -> int | float | None:
    """Return the number a literal stands for; None when it is none Python knows."""
    try:
        found = ast.literal_eval(node.text)
    except (ValueError, SyntaxError):
        return None
    return found if isinstance(found, (int, float)) and not isinstance(found, bool) else None


def number(site: Site) -> Iterator[Change]:
    """A number → one more, one less, 0, 1, -1, 2, ten times, twice …, and its negative."""
    for node in site.of("integer", "float"):
        old = value(node)
        if old is None:
            continue
        around = node.parent
        negative = around is not None and around.kind == "unary_operator" and around.text.startswith("-")
        whole = around if negative and around is not None else node
        for rank, new in enumerate(_near(-old if negative else old)):
            yield Change((swap(whole, new),), arrow(whole.text, new), 1 / (1 + 0.35 * rank))


def _near(old: float) -> list[str]:
    found: list[object] = [old + 1, old - 1]
    if isinstance(old, int):
        found += [0, 1, 2, -1, old + 2, 10, old * 10, old // 10, old * 2, old // 2, 100]
    else:
        found += [old * 10, old / 10, 0.0, 1.0, 0.5, old * 2, old / 2]
    found.append(-old)
    return list(dict.fromkeys(repr(one) for one in found if one != old))


def used_elsewhere(site: Site) -> Iterator[Change]:
    """A number → another number of the same function or of its docstring, those of the neighbouring statements first."""
    known = (*site.scope.facts.numbers, *sorted(word for word in site.scope.spoken_of if word.isdecimal()))
    found = site.of("integer", "float")
    beside = _beside(site) if found else []
    for node in found:
        for rank, new in enumerate(dict.fromkeys([*beside, *known])):
            if new != node.text:
                likeness = 1 / (1 + 0.3 * rank) if new in beside else 0.4 / (1 + 0.2 * len(known))
                yield Change((swap(node, new),), arrow(node.text, new), likeness)


def _beside(site: Site) -> list[str]:
    """The numbers of the statements beside this one that are about the same names, nearest first."""
    near = siblings(site.statement)
    at = near.index(site.statement) if site.statement in near else 0
    here = {node.text for node in site.nodes if node.kind == "identifier"}
    found: dict[str, None] = {}
    for step in (1, -1, 2, -2):
        other = near[at + step] if 0 <= at + step < len(near) else site.statement
        inside = list(other.walk(into_blocks=False))
        if here & {node.text for node in inside if node.kind == "identifier"}:
            found |= dict.fromkeys(node.text for node in inside if node.kind in KINDS)
    return list(found)


_UNITS: dict[str, tuple[str, ...]] = {
    # a unit → those it is taken for: neighbours on the same scale, and other scales of nearly the same size
    "60": ("24", "3600", "1000"),  # seconds, minutes; hours of a day; seconds of an hour
    "3600": ("60", "86400", "1000"),
    "24": ("60", "12", "7"),  # hours of a day, of a dial; days of a week
    "86400": ("3600", "1440"),
    "1440": ("86400", "60"),
    "12": ("24", "60", "7"),  # months, hours of a dial
    "7": ("24", "30", "5"),  # days of a week, of a month, of a working week
    "30": ("31", "28", "7"),
    "31": ("30", "28"),
    "365": ("366", "12", "360"),  # days of a year, of a leap year, of a bank's year
    "366": ("365",),
    "52": ("53", "12"),  # weeks, months of a year
    "4": ("400", "100"),  # leap years
    "100": ("1000", "400", "60"),  # per cent; per mille; leap years
    "400": ("100", "4"),
    "1000": ("1024", "100", "1000000"),  # decimal and binary prefixes
    "1024": ("1000", "8", "1048576"),
    "1000000": ("1000", "1000000000"),
    "8": ("1024", "16", "10"),  # bits of a byte; bases
    "16": ("8", "2", "10"),
    "10": ("2", "16", "8"),
    "180": ("360", "90"),  # degrees
    "360": ("180", "365", "90"),
    "90": ("180", "360"),
    "255": ("256", "127"),  # values of a byte
    "256": ("255", "128"),
}


def unit(site: Site) -> Iterator[Change]:
    """`t % 60` → `t % 24`: a number that counts, in a product or a remainder, is taken for its neighbour."""
    for node in site.of("integer"):
        around = node.parent
        token = around.field("operator") if around is not None else None
        if token is None or token.text.rstrip("=") not in {"%", "//", "/", "*"}:
            divided = around is not None and around.kind == "argument_list" and "divmod" in _called(around)
            if not divided:
                continue
        for rank, new in enumerate(_UNITS.get(node.text, ())):
            yield Change((swap(node, new),), arrow(node.text, new), 1 / (1 + 0.5 * rank))


def _called(listed: Node) -> str:
    function = listed.parent.field("function") if listed.parent is not None else None
    return function.text if function is not None else ""


def expected(site: Site) -> Iterator[Change]:
    """A number → the one that makes up the difference between expected and actual."""
    wanted, got = site.evidence.expected_value, site.evidence.actual_value
    if isinstance(wanted, bool) or isinstance(got, bool):
        return
    if not isinstance(wanted, (int, float)) or not isinstance(got, (int, float)):
        return
    for node in site.of("integer", "float"):
        old = value(node)
        if old is None:
            continue
        found: list[float] = [old + wanted - got, old - wanted + got]
        if got and wanted:
            found += [old * wanted / got, old * got / wanted]
        for rank, new in enumerate(found):
            whole = int(new) if isinstance(old, int) and float(new).is_integer() else round(new, 10)
            if whole != old:
                yield Change((swap(node, repr(whole)),), arrow(node.text, repr(whole)), 1 / (1 + rank))


def everywhere(site: Site) -> Iterator[Change]:
    """All equal literals of a function changed the same way."""
    by_text: dict[str, list[Node]] = {}
    for node in site.body.walk():
        if node.kind == "integer":
            by_text.setdefault(node.text, []).append(node)
    for text, nodes in by_text.items():
        old = value(nodes[0])
        if len(nodes) < 2 or old is None:
            continue
        for rank, new in enumerate(_near(old)[:9]):
            edits = tuple(swap(node, new) for node in nodes)
            yield Change(edits, f"every {arrow(text, new)}", 1 / (1 + rank))
