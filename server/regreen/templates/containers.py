"""Lists, dicts and slices: keys, items, parts, and elements too many or too few."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from regreen.source import Node
from regreen.templates.atoms import names_at
from regreen.templates.calls import values
from regreen.templates.evidence import literal
from regreen.templates.facts import plain
from regreen.templates.model import Change, Site
from regreen.templates.rewrite import arrow, atom, exchange, swap
from regreen.templates.strings import refilled
from regreen.values import TextEdit

_DEFAULTS = ("None", "0", '""', "[]", "{}", "False")


def key_typo(site: Site) -> Iterator[Change]:
    """KeyError: a key that does not exist → the nearest that does, in the mapping or in the text."""
    key = literal(site.evidence.failure.message)
    if not isinstance(key, str):
        key = site.evidence.failure.hints.get("name", "")
    near = [one.strip() for one in site.evidence.failure.hints.get("near", "").split(",") if one.strip()]
    near += difflib.get_close_matches(key, [t for t in site.sources.strings if t != key], 3, 0.7)
    for node in site.of("string"):
        if plain(node) != key or not key:
            continue
        for rank, new in enumerate(dict.fromkeys(near)):
            if "\\" not in new and new.isprintable() and not set(new) & set("\"'"):
                yield refilled(node, new, 1 / (1 + 0.5 * rank))


def _reads(site: Site) -> Iterator[tuple[Node, Node, Node]]:
    """Yield (subscript, value, key) where an item is read with a single key."""
    for node in site.of("subscript"):
        value, keys = node.field("value"), node.fields("subscript")
        around = node.parent
        if value is None or len(keys) != 1 or keys[0].kind == "slice" or around is None:
            continue
        if (
            around.kind in {"assignment", "augmented_assignment", "delete_statement"}
            and around.field("right") != node
        ):
            continue
        yield node, value, keys[0]


def get(site: Site) -> Iterator[Change]:
    """`d[k]` → `d.get(k)`, `d.get(k, default)`."""
    for node, value, key in _reads(site):
        for rank, default in enumerate(_DEFAULTS):
            text = key.text if default == "None" else f"{key.text}, {default}"
            new = f"{value.text}.get({text})"
            yield Change((swap(node, new),), arrow(node.text, new), 1 / (1 + 0.3 * rank))


def first_value(site: Site) -> Iterator[Change]:
    """`d[k] += x` → `d[k] = d.get(k, 0) + x`, `d[k].append(x)` → `d.setdefault(k, []).append(x)`."""
    for node in site.of("augmented_assignment"):
        left, operator, right = node.field("left"), node.field("operator"), node.field("right")
        if left is None or operator is None or right is None or left.kind != "subscript":
            continue
        value, keys = left.field("value"), left.fields("subscript")
        if value is None or len(keys) != 1:
            continue
        for rank, default in enumerate(("0", "1", '""', "[]") if operator.text != "*=" else ("1",)):
            new = f"{left.text} = {value.text}.get({keys[0].text}, {default}) {operator.text[:-1]} {atom(right)}"
            yield Change((swap(node, new),), arrow(node.text, new), 1 / (1 + 0.5 * rank))
    for node in site.of("attribute"):
        holder, name = node.field("object"), node.field("attribute")
        if holder is None or name is None or holder.kind != "subscript":
            continue
        value, keys = holder.field("value"), holder.fields("subscript")
        start = {"append": "[]", "extend": "[]", "add": "set()", "update": "{}"}.get(name.text)
        if value is not None and len(keys) == 1 and start is not None:
            new = f"{value.text}.setdefault({keys[0].text}, {start})"
            yield Change((swap(holder, new),), arrow(holder.text, new))


def part(site: Site) -> Iterator[Change]:
    """`xs` → `xs[1:]`, `xs[:-1]`, `xs[::-1]`, `xs[n:]`, `xs[:n]`."""
    numbers = [n for n in names_at(site) if site.scope.types.get(n, "") in {"int", "number"}]
    parameters = [p.name for p in site.function.parameters] if site.function is not None else []
    numbers.sort(key=lambda name: name not in parameters)
    for node in (*values(site), *site.of("list_comprehension")):
        type_ = site.scope.type_of(node)
        if type_ in {"int", "float", "number", "bool", "dict", "set", "callable"}:
            continue
        if node.kind not in {"identifier", "call", "attribute", "subscript", "list_comprehension", "string"}:
            continue
        if node.kind == "string" or (node.kind == "call" and not type_):
            continue
        known = 1.0 if type_ in {"list", "str", "tuple", "sized"} else 0.5
        bounds = ["1:", ":-1", "::-1"]
        bounds += [
            form for number in numbers[:3] if number != node.text for form in (f"{number}:", f":{number}")
        ]
        for rank, bound in enumerate(bounds):
            new = f"{atom(node)}[{bound}]"
            yield Change((swap(node, new),), arrow(node.text, new), known / (1 + 0.15 * rank))
    for node in site.of("subscript"):
        value = node.field("value")
        if value is not None and any(index.kind == "slice" for index in node.fields("subscript")):
            yield Change((TextEdit(value.end, node.end, ""),), arrow(node.text, value.text), 0.8)


def bounds(site: Site) -> Iterator[Change]:
    """`xs[a:b]` → `xs[a:]`, `xs[:b]`, `xs[:a]`, `xs[b:]`, `xs[i]` → `xs[i:]`."""
    for node in site.of("subscript"):
        value, keys = node.field("value"), node.fields("subscript")
        if value is None or len(keys) != 1:
            continue
        inner = keys[0]
        found: list[str] = []
        if inner.kind == "slice" and inner.text.count(":") == 1:
            low, high = (text.strip() for text in inner.text.split(":"))
            found = [f"{low}:", f":{high}", f"{high}:", f":{low}", f"{low}:{high}:-1"]
            if low and not high:
                found = [f":{low}", f"-{low}:", f"::{low}"]
            elif high and not low:
                found = [f"{high}:", f":-{high}", f"::{high}"]
        elif inner.kind not in {"slice", "string"}:
            found = [f"{inner.text}:", f":{inner.text}"]
        for rank, text in enumerate(
            text for text in found if text not in {inner.text, ":"} and "--" not in text
        ):
            yield Change(
                (swap(inner, text),), arrow(node.text, f"{value.text}[{text}]"), 1 / (1 + 0.3 * rank)
            )


def elements(site: Site) -> Iterator[Change]:
    """A list, tuple or set literal with one element less, or two exchanged."""
    for node in site.of("list", "tuple", "set", "expression_list"):
        items = node.named
        for at, item in enumerate(items):
            if len(items) < 2:
                continue
            if at + 1 < len(items):
                edit = TextEdit(item.start, items[at + 1].start, "")
            else:
                single = node.kind == "tuple" and len(items) == 2
                ends = "," in node.text[item.end - node.start :]  # a comma after the last one stays
                edit = TextEdit(items[at - 1].end, item.end, "," if single and not ends else "")
            if node.kind in {"tuple", "expression_list"} and len(items) == 2 and at == 0:
                continue
            yield Change(
                (edit,), f"drop `{item.text}`", 1.0 if item.kind in {"integer", "string", "float"} else 0.6
            )
        for low, one in enumerate(items[:6]):
            for other in items[low + 1 : 6]:
                if one.text != other.text:
                    yield Change(exchange(one, other), f"exchange `{one.text}` and `{other.text}`", 0.5)


def missing_element(site: Site) -> Iterator[Change]:
    """A literal lacks an element that the expected value has and the actual one has not."""
    expected, actual = site.evidence.expected_value, site.evidence.actual_value
    if not isinstance(expected, (list, tuple, set)) or not isinstance(actual, (list, tuple, set)):
        return
    lost = [item for item in expected if item not in actual][:3]
    extra = [item for item in actual if item not in expected][:3]
    for node in site.of("list", "tuple", "set"):
        for item in lost:
            if node.named and not isinstance(item, (list, dict, tuple, set)):
                edit = TextEdit(node.named[-1].end, node.named[-1].end, f", {item!r}")
                yield Change((edit,), f"add `{item!r}`")
    for node in site.of("string"):
        text = plain(node)
        if text is None or not text:
            continue
        for item in (*lost, *extra):
            if isinstance(item, str) and len(item) == 1 and item.isprintable() and item not in "\"'\\":
                new = text.replace(item, "") if item in text else text + item
                yield refilled(node, new, 0.7)


def appended_order(site: Site) -> Iterator[Change]:
    """`xs + [x]` ↔ `[x] + xs`, `xs.append(x)` → `xs.insert(0, x)`."""
    for node in site.of("call"):
        function, listed = node.field("function"), node.field("arguments")
        name = function.field("attribute") if function is not None and function.kind == "attribute" else None
        if name is None or listed is None or len(listed.named) != 1 or name.text != "append":
            continue
        edits = (swap(name, "insert"), TextEdit(listed.named[0].start, listed.named[0].start, "0, "))
        yield Change(edits, arrow(node.text, f"insert(0, {listed.named[0].text})"))


def empty_start(site: Site) -> Iterator[Change]:
    """`x = []` → `{}`, `set()`, `""`, `0` …: the value that a collection starts from."""
    for node in site.of("assignment"):
        right = node.field("right")
        if right is None or not re.fullmatch(
            r"\[\]|\{\}|set\(\)|\(\)|\"\"|''|0|0\.0|None|dict\(\)|list\(\)", right.text
        ):
            continue
        for rank, new in enumerate(("[]", "{}", "set()", '""', "0", "None")):
            if new != right.text.replace("'", '"'):
                yield Change((swap(right, new),), arrow(node.text, f"= {new}"), 1 / (1 + 0.3 * rank))
