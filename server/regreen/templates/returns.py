"""What a function gives back: a missing `return`, another value, or one that comes too early."""

from __future__ import annotations

from collections.abc import Iterator

from regreen.source import Node
from regreen.templates.atoms import names_at
from regreen.templates.model import Change, Site
from regreen.templates.rewrite import after, arrow, stands_alone, swap
from regreen.values import TextEdit


def missing(site: Site) -> Iterator[Change]:
    """A function that ends without `return`: return its last expression, or the value it built."""
    function = site.function
    if function is None or not function.body.named or function.name == "__init__":
        return
    for last in _last_statements(function.body):
        inner = last.named[0] if last.kind == "expression_statement" and last.named else None
        if (
            inner is not None
            and inner.kind not in {"assignment", "augmented_assignment", "yield"}
            and not _docstring(inner)
        ):
            yield Change(
                (TextEdit(inner.start, inner.start, "return "),), arrow(inner.text, f"return {inner.text}")
            )
        if inner is not None and inner.kind == "assignment":
            value, left = inner.field("right"), inner.field("left")
            if (
                value is not None
                and left is not None
                and left.kind == "identifier"
                and stands_alone(site.file, last)
            ):
                yield Change((after(site.file, last, f"return {left.text}"),), f"return `{left.text}`", 0.9)
    last = function.body.named[-1]
    if last.kind in {"return_statement", "raise_statement"} or not stands_alone(site.file, last):
        return
    indent = site.file.lines.line_text(function.body.line)
    column = indent[: len(indent) - len(indent.lstrip())]
    built = [name for name in reversed(_assigned(function.body)) if name in site.scope.own]
    names = [*built, *(p.name for p in function.parameters if p.name not in {"self", "cls"})]
    constants = (
        []
        if any(n.kind == "return_statement" for n in function.body.walk()) is False
        else ["True", "False", "0", "[]", '""']
    )
    for rank, name in enumerate(dict.fromkeys([*names, *constants])):
        edit = after(site.file, last, f"return {name}", indent=column)
        yield Change((edit,), f"return `{name}` at the end", 0.8 / (1 + 0.3 * rank))


def _docstring(node: Node) -> bool:
    """Whether a string may be meant as documentation; what is interpolated is meant as a value."""
    return node.kind == "string" and all(part.kind != "interpolation" for part in node.named)


def _last_statements(block: Node) -> Iterator[Node]:
    """The statements a block can end with: the last one, or the last ones of its branches."""
    last = block.named[-1] if block.named else None
    if last is None:
        return
    if last.kind in {"if_statement", "try_statement", "with_statement"}:
        for part in last.named:
            inner = part if part.kind == "block" else part.field("body") or part.field("consequence")
            if inner is not None and inner.kind == "block":
                yield from _last_statements(inner)
        return
    yield last


def _assigned(block: Node) -> list[str]:
    """Names a block assigns, in the order of their first assignment."""
    found: dict[str, None] = {}
    for node in block.walk():
        if node.kind in {"assignment", "augmented_assignment"}:
            left = node.field("left")
            if left is not None and left.kind == "identifier":
                found.setdefault(left.text)
    return list(found)


def other(site: Site) -> Iterator[Change]:
    """`return x` → another value built here, a parameter, or a plain constant."""
    if site.statement.kind != "return_statement" or site.function is None:
        return
    old = site.statement.named[0] if site.statement.named else None
    usable = [name for name in reversed(_assigned(site.body)) if name in names_at(site)]
    usable += [name for name in names_at(site) if name not in usable]
    for rank, name in enumerate(usable):
        if old is None:
            yield Change(
                (TextEdit(site.statement.end, site.statement.end, f" {name}"),),
                f"return `{name}`",
                1 / (1 + 0.2 * rank),
            )
        elif old.text != name:
            yield Change(
                (swap(old, name),), arrow(f"return {old.text}", f"return {name}"), 1 / (1 + 0.2 * rank)
            )


def constant(site: Site) -> Iterator[Change]:
    """`return None` → `return []` …: another plain constant."""
    if site.statement.kind != "return_statement":
        return
    old = site.statement.named[0] if site.statement.named else None
    if old is not None and old.kind not in {
        "none",
        "list",
        "dictionary",
        "string",
        "integer",
        "true",
        "false",
        "tuple",
        "unary_operator",
    }:
        return
    if old is not None and old.named and old.kind not in {"string", "unary_operator"}:
        return
    for rank, new in enumerate(("None", "[]", "0", '""', "False", "True", "{}", "1", "-1", "()", "set()")):
        if old is None:
            yield Change(
                (TextEdit(site.statement.end, site.statement.end, f" {new}"),),
                f"return `{new}`",
                1 / (1 + 0.3 * rank),
            )
        elif old.text.replace("'", '"') != new:
            yield Change(
                (swap(old, new),), arrow(f"return {old.text}", f"return {new}"), 1 / (1 + 0.3 * rank)
            )


def expected(site: Site) -> Iterator[Change]:
    """`return constant` → what the test expects, where that is short and plain."""
    statement, new = site.statement, site.evidence.expected
    old = statement.named[0] if statement.kind == "return_statement" and statement.named else None
    if old is None or old.kind not in {"string", "integer", "float"} or new == old.text:
        return
    if 0 < len(new) <= 30 and isinstance(site.evidence.expected_value, (str, int, float)):
        yield Change((swap(old, new),), arrow(f"return {old.text}", f"return {new}"))
