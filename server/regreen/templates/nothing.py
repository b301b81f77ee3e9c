"""None where a value was expected: a default, a check in the condition, a way out before the statement."""

from __future__ import annotations

import re
from collections.abc import Iterator

from regreen.source import Node
from regreen.templates.exits import can_precede, exits, guard
from regreen.templates.model import Change, Site
from regreen.templates.rewrite import arrow, atom, swap


def none_holders(site: Site) -> list[str]:
    """List the expressions of the statement that may have been None: those an attribute or item is taken of."""
    missing = re.search(r"has no attribute '(\w+)'", site.evidence.failure.message)
    found: dict[str, None] = {}
    for node in site.nodes:
        holder: Node | None = None
        if node.kind == "attribute":
            name = node.field("attribute")
            if missing is None or (name is not None and name.text == missing.group(1)):
                holder = node.field("object")
        elif node.kind in {"subscript", "for_statement", "for_in_clause"} and missing is None:
            holder = node.field("value") or node.field("right")
        elif node.kind == "binary_operator" and missing is None:
            for side in (node.field("left"), node.field("right")):
                if side is not None and side.kind in {"identifier", "attribute"}:
                    found.setdefault(side.text)
        if (
            holder is not None
            and holder.kind in {"identifier", "attribute", "subscript", "call"}
            and holder.text != "self"
        ):
            found.setdefault(holder.text)
    seen_none = {name for name, local in site.locals.items() if local.value == "None"}
    return sorted(found, key=lambda text: text not in seen_none)


def none_exit(site: Site) -> Iterator[Change]:
    """`x` was None: `if x is None: return …` (or `continue`) before the statement."""
    if not can_precede(site):
        return
    for low, holder in enumerate(none_holders(site)[:3]):
        if "(" in holder:
            continue
        for rank, way_out in enumerate(exits(site)[:6]):
            yield guard(site, f"{holder} is None", way_out, 1 / (1 + low + 0.3 * rank))


def none_default(site: Site) -> Iterator[Change]:
    """`for x in xs` → `for x in xs or []`; `name.lower()` → `(name or "").lower()`."""
    missing = re.search(r"has no attribute '(\w+)'", site.evidence.failure.message)
    for node in site.nodes:
        if node.kind in {"for_statement", "for_in_clause"}:
            right = node.field("right")
            if right is not None:
                yield Change((swap(right, f"{atom(right)} or []"),), arrow(right.text, f"{right.text} or []"))
        holder = node.field("object") if node.kind == "attribute" else None
        holder = node.field("value") if node.kind == "subscript" else holder
        if holder is None or holder.text in {"self", "cls"} or holder.kind == "string":
            continue
        name = node.field("attribute")
        if missing is not None and name is not None and name.text != missing.group(1):
            continue
        texts = {"lower", "upper", "strip", "split", "startswith", "endswith", "replace", "encode"}
        default = '""' if name is not None and name.text in texts else "{}" if name is not None else "[]"
        yield Change(
            (swap(holder, f"({holder.text} or {default})"),),
            arrow(holder.text, f"{holder.text} or {default}"),
            0.8,
        )
        whole = _outermost(node)
        if whole is not None and holder.kind in {"identifier", "attribute"}:
            for value in ("None", '""', "0"):
                new = f"{whole.text} if {holder.text} is not None else {value}"
                yield Change((swap(whole, new),), arrow(whole.text, new), 0.5)
    for node in site.of("identifier"):
        around, seen = node.parent, site.locals.get(node.text)
        if around is None or around.kind not in {"binary_operator", "argument_list"}:
            continue
        for default in ("0", '""', "[]") if seen is not None and seen.value == "None" else ():
            new = f"({node.text} or {default})"
            yield Change((swap(node, new),), arrow(node.text, new), 0.5)


def _outermost(node: Node) -> Node | None:
    """The value of the return or assignment that a node is part of, if it is that value's head."""
    current = node
    while current.parent is not None:
        around = current.parent
        if around.kind == "return_statement" or (
            around.kind == "assignment" and around.field("right") == current
        ):
            return current
        if around.kind not in {"call", "attribute", "subscript"}:
            return None
        current = around
    return None


def none_condition(site: Site) -> Iterator[Change]:
    """`if x.ok` → `if x is not None and x.ok`, `if x and x.ok`."""
    for node in site.of(
        "if_statement", "while_statement", "elif_clause", "if_clause", "conditional_expression"
    ):
        condition = node.field("condition")
        if condition is None:
            condition = (
                node.named[0] if node.kind == "if_clause" else node.named[1] if len(node.named) == 3 else None
            )
        if condition is None:
            continue
        inner = (
            atom(condition)
            if condition.kind in {"conditional_expression", "lambda"} or " or " in condition.text
            else condition.text
        )
        for rank, holder in enumerate(none_holders(site)[:3]):
            if "(" in holder or holder not in condition.text:
                continue
            for new in (
                f"{holder} is not None and {inner}",
                f"{holder} and {inner}",
                f"{holder} is None or {inner}",
            ):
                yield Change((swap(condition, new),), arrow(condition.text, new), 1 / (1 + rank))
