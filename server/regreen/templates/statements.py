"""Whole statements: one too many, at the wrong depth, in the wrong order, or missing beside a similar one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from regreen.source import Node
from regreen.templates.atoms import names_at
from regreen.templates.model import Change, Site
from regreen.templates.rewrite import after, exchange, indentation, remove, short, siblings, stands_alone
from regreen.templates.scope import names_of
from regreen.values import TextEdit

_SIMPLE = frozenset({
    "expression_statement", "return_statement", "break_statement", "continue_statement", "raise_statement",
    "assert_statement", "delete_statement",
})  # fmt: skip


def delete(site: Site) -> Iterator[Change]:
    """Remove the statement, or only the condition around its block."""
    statement = site.statement
    if statement.kind in _SIMPLE and not _docstring(statement):
        yield Change((remove(site.file, statement),), f"remove `{short(statement.text)}`")


def _docstring(statement: Node) -> bool:
    return (
        statement.kind == "expression_statement"
        and bool(statement.named)
        and statement.named[0].kind == "string"
    )


def exchange_neighbours(site: Site) -> Iterator[Change]:
    """Exchange the statement with the one after it."""
    beside = siblings(site.statement)
    movable = _SIMPLE | {"if_statement"}
    for one, other in pairwise(beside):
        if one != site.statement or _docstring(one) or one.kind not in movable or other.kind not in movable:
            continue
        if stands_alone(site.file, one) and stands_alone(site.file, other):
            yield Change(exchange(one, other), f"`{short(other.text, 24)}` before `{short(one.text, 24)}`")


def outdent(site: Site) -> Iterator[Change]:
    """Move the last statement of a block out of it: a `return` that is inside of the loop."""
    statement = site.statement
    block = statement.parent
    owner = block.parent if block is not None and block.kind == "block" else None
    if owner is None or block is None or owner.kind in {"function_definition", "class_definition", "module"}:
        return
    if (
        not stands_alone(site.file, statement)
        or statement.kind not in _SIMPLE
        or block.named[-1] != statement
    ):
        return
    holder = owner if owner.kind not in {"else_clause", "elif_clause"} else owner.parent or owner
    if (
        owner.field("alternative") is not None
        or holder.last_line != statement.last_line
        or len(block.named) < 2
    ):
        return
    target = indentation(site.file, holder)
    yield Change(
        tuple(_redented(site, statement, target)), f"move `{short(statement.text)}` out of the block"
    )


def indent(site: Site) -> Iterator[Change]:
    """Move the statement after a block into it, and a `return` before a loop's end to its end."""
    statement = site.statement
    if not stands_alone(site.file, statement) or statement.kind not in _SIMPLE | {"if_statement"}:
        return
    beside = siblings(statement)
    at = beside.index(statement) if statement in beside else 0
    if at == 0:
        return
    previous = beside[at - 1]
    for block in _last_blocks(previous):
        if block.named and block.line > previous.line:
            target = indentation(site.file, block.named[0])
            yield Change(
                tuple(_redented(site, statement, target)), f"move `{short(statement.text)}` into the block"
            )


def _last_blocks(statement: Node) -> Iterator[Node]:
    """The block that a compound statement ends with, and the one that ends that block."""
    last = next(
        (n for n in reversed(statement.named) if n.kind == "block" or n.kind.endswith("_clause")), None
    )
    if last is not None and last.kind != "block":
        last = next((n for n in reversed(last.named) if n.kind == "block"), None)
    if last is not None:
        yield last
        if last.named:
            yield from _last_blocks(last.named[-1])


def _redented(site: Site, statement: Node, target: str) -> Iterator[TextEdit]:
    own = indentation(site.file, statement)
    for line in range(statement.line, statement.last_line + 1):
        start = site.file.lines.start(line)
        if site.file.lines.line_text(line).startswith(own):
            yield TextEdit(start, start + len(own), target)


def out_of_else(site: Site) -> Iterator[Change]:
    """`else:` directly after a loop's `if` was meant for the loop: move it one level out."""
    statement = site.statement
    if statement.kind != "else_clause" or statement.parent is None or statement.parent.kind != "if_statement":
        return
    block = statement.parent.parent
    loop = block.parent if block is not None else None
    if block is None or loop is None or loop.kind not in {"for_statement", "while_statement"}:
        return
    if block.named[-1] != statement.parent or loop.field("alternative") is not None:
        return
    step = len(indentation(site.file, statement)) - len(indentation(site.file, loop))
    edits = []
    for line in range(statement.line, statement.last_line + 1):
        start = site.file.lines.start(line)
        if site.file.lines.line_text(line)[:step].isspace():
            edits.append(TextEdit(start, start + step, ""))
    yield Change(tuple(edits), "`else` of the loop instead of the `if`")


def sibling(site: Site) -> Iterator[Change]:
    """Repeat the statement for another name: `self.a = a` is there, `self.b = b` is missing.

    The plastic surgery hypothesis (Barr et al., 2014): most of a fix's text is already in the file.
    """
    statement = site.statement
    if (
        statement.kind != "expression_statement"
        or not stands_alone(site.file, statement)
        or _docstring(statement)
    ):
        return
    text = statement.text
    if "\n" in text or len(text) > 100:
        return
    used = names_of(statement)
    present = {" ".join(node.text.split()) for node in siblings(statement)}
    whole = {" ".join(node.text.split()) for node in site.scope.facts.simple}
    for one in sorted(used & set(names_at(site)) | _assigned(statement)):
        for other in names_at(site):
            if other == one or other in used or site.scope.similar(one, other) == 0.0:
                continue
            new = _renamed(statement, one, other)
            if new not in present and new not in whole:
                edit = after(site.file, statement, new, indent=indentation(site.file, statement))
                yield Change((edit,), f"add `{short(new)}`")


def _assigned(statement: Node) -> set[str]:
    return {
        n.text
        for n in statement.walk()
        if n.kind == "identifier" and n.parent is not None and n.parent.field("left") == n
    }


def _renamed(statement: Node, one: str, other: str) -> str:
    """The statement's text with a name replaced, attributes and keywords of the same spelling too."""
    text, shift = statement.text, statement.start
    for node in reversed([n for n in statement.walk() if n.kind == "identifier" and n.text == one]):
        text = text[: node.start - shift] + other + text[node.end - shift :]
    return text


def _renamings(site: Site, text: str) -> Iterator[str]:
    """A short statement for the other names of its kind: `i += 1` → `j += 1`."""
    words = re.findall(r"\b[A-Za-z_]\w*\b", text)
    for one in [word for word in dict.fromkeys(words) if word in site.scope.own][:2]:
        others = sorted(
            (n for n in names_at(site) if n not in words), key=lambda n: -site.scope.similar(one, n)
        )
        for other in others[:2]:
            if site.scope.similar(one, other):
                yield re.sub(rf"\b{one}\b", other, text)


def borrowed(site: Site) -> Iterator[Change]:
    """Insert a statement of the same function after this one: an update that one branch lacks."""
    statement = site.statement
    if statement.kind not in {"expression_statement", "if_statement"} or not stands_alone(
        site.file, statement
    ):
        return
    if (
        site.function is None
        or _docstring(statement)
        or (statement.last_line != statement.line and statement.kind != "if_statement")
    ):
        return
    usable = set(names_at(site)) | {"self"}
    near = {" ".join(node.text.split()) for node in siblings(statement)}
    found: dict[str, None] = {}
    for node in site.scope.facts.simple:
        text = node.text
        if _docstring(node):
            continue
        if " ".join(text.split()) in near or len(text) > 80:
            continue
        if names_of(node) & site.scope.own <= usable:
            found.setdefault(text)
            for old, new in (("+=", "-="), ("-=", "+=")):
                if old in text:
                    found.setdefault(text.replace(old, new))
    for text in list(found):
        found.update(dict.fromkeys(_renamings(site, text)))
    for rank, text in enumerate(list(found)[:14]):
        edit = after(site.file, statement, text, indent=indentation(site.file, statement))
        yield Change((edit,), f"then `{short(text)}`", 1 / (1 + 0.2 * rank))
