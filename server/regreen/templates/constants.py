"""Numbers: off by one, other usual values, values the function uses, and all equal ones together."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from regreen.source import Node
from regreen.templates.model import Change, Site
from regreen.templates.rewrite import arrow, swap

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
        for rank, new in enumerate(_near(node, old)):
            yield Change((swap(node, new),), arrow(node.text, new), 1 / (1 + 0.35 * rank))


def _near(node: Node, old: float) -> list[str]:
    around = node.parent
    negative = around is not None and around.kind == "unary_operator" and around.text.startswith("-")
    found: list[object] = [old + 1, old - 1]
    if isinstance(old, int):
        found += [0, 1, 2, -1, old + 2, 10, old * 10, old // 10, old * 2, old // 2, 100]
    else:
        found += [old * 10, old / 10, 0.0, 1.0, 0.5, old * 2, old / 2]
    found.append(-old)
    texts = dict.fromkeys(repr(one) for one in found if one != old)
    return [text for text in texts if not (negative and text.startswith("-"))]


def used_elsewhere(site: Site) -> Iterator[Change]:
    """A number → another number of the same function."""
    known = site.scope.facts.numbers
    for node in site.of("integer", "float"):
        for new in known:
            if new != node.text:
                yield Change((swap(node, new),), arrow(node.text, new), 1 / (1 + 0.2 * len(known)))


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
        for rank, new in enumerate(_near(nodes[0], old)[:9]):
            edits = tuple(swap(node, new) for node in nodes)
            yield Change(edits, f"every {arrow(text, new)}", 1 / (1 + rank))
