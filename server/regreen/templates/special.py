"""What does the rest of the file do with a value or a counter of the same name that is missing here?

The plastic surgery hypothesis (Barr et al., 2014): most of a fix's text is already in the file.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator

from regreen.source import STATEMENTS, Node
from regreen.templates.atoms import names_at
from regreen.templates.calls import values
from regreen.templates.model import Change, Site
from regreen.templates.rewrite import after, arrow, before, short, siblings, stands_alone, swap
from regreen.templates.scope import names_of

_ENDS = frozenset({"return_statement", "raise_statement", "break_statement", "continue_statement"})
_DEFINITIONS = frozenset({"function_definition", "class_definition", "decorated_definition"})
_INVERSE = {"+=": "-=", "-=": "+="}
_NUMBERS = frozenset({"integer", "float", "identifier", "attribute", "call"})
_MOST = 2  # counters that are offered at one place


def special_case(site: Site) -> Iterator[Change]:
    """`x = total` → `x = None if total == limit else total`, where the file treats `total` so elsewhere."""
    cases = site.scope.file_facts.special_cases
    known = {*names_at(site), *site.scope.variables, *site.scope.callables, *dir(builtins)}
    receiver = {p.name for p in site.function.parameters[:1]} if site.function is not None else set()
    for node in values(site) if cases else ():
        around = node.parent
        usable = [text for text, read in cases.get(node.text, {}).items() if read <= known | receiver]
        for text in usable[:_MOST]:
            if text not in site.statement.text:
                inside = around is not None and around.kind == "binary_operator"
                new = f"({text})" if inside else text
                yield Change((swap(node, new),), arrow(node.text, new))


def counter(site: Site) -> Iterator[Change]:
    """`self.depth -= 1` is missing: what other places count up or down, counted here too, or back."""
    statement = site.statement
    if statement.kind not in STATEMENTS - _DEFINITIONS or _is_docstring(statement):
        return
    if not stands_alone(site.file, statement):
        return
    counted = _counted(site)
    leads = siblings(statement)[0] == statement
    for text, share in counted:
        if statement.kind not in _ENDS:
            edit = after(site.file, statement, text)
            yield Change((edit,), f"then `{short(text)}`", share)
        if leads:
            yield Change((before(site.file, statement, text),), f"first `{short(text)}`", share * 0.8)


def _is_docstring(statement: Node) -> bool:
    return (
        statement.kind == "expression_statement"
        and bool(statement.named)
        and statement.named[0].kind == "string"
    )


def _counted(site: Site) -> list[tuple[str, float]]:
    """Steps of the object's counters and of the function's own, and the steps back; the likeliest first.

    A counter that the function mentions is likelier than any other of its class. What a method that is called
    here counts up, may have to be counted down again.
    """
    function = site.function
    if function is None:
        return []
    owner = site.file.class_named(function.owner) if function.owner else None
    receiver = function.parameters[0].name if owner is not None and function.parameters else ""
    called = _methods_called(function.body, receiver) if receiver else set()
    here = {node.text for node in function.body.walk() if node.kind in {"attribute", "identifier"}}
    usable = {receiver, *names_at(site), *site.scope.file.defined}
    found: dict[str, dict[str, float]] = {}
    for left, operator, right in _steps(function.body if owner is None else owner.body):
        around = site.file.function_at(left.line)
        inside = around is not None and around.span == function.span
        kept = left.kind == "attribute" and receiver != "" and left.text.startswith(f"{receiver}.")
        if not kept and not (left.kind == "identifier" and inside):
            continue
        if not names_of(right) <= usable:
            continue
        undone = around is not None and around.name in called
        share = 1.0 if undone else 0.4 if left.text in here else 0.1
        for text, likeness in (
            (f"{left.text} {operator} {right.text}", 0.4 if inside or undone else 1.0),
            (f"{left.text} {_INVERSE[operator]} {right.text}", 1.0),
        ):
            texts = found.setdefault(left.text, {})
            texts[text] = max(texts.get(text, 0.0), share * likeness)
    steps = sorted(found.values(), key=lambda texts: -max(texts.values()))[:_MOST]
    return sorted((step for texts in steps for step in list(texts.items())[:2]), key=lambda step: -step[1])


def _steps(body: Node) -> Iterator[tuple[Node, str, Node]]:
    """The statements that count: `x += n`, `self.x -= n`."""
    for node in body.walk():
        left, token, right = node.field("left"), node.field("operator"), node.field("right")
        if node.kind != "augmented_assignment" or left is None or token is None or right is None:
            continue
        if token.text in _INVERSE and right.kind in _NUMBERS and len(node.text) < 60:
            yield left, token.text, right


def _methods_called(body: Node, receiver: str) -> set[str]:
    """Names of the object's methods that a body calls; `next(self)` calls `__next__`."""
    found: set[str] = set()
    for node in body.walk():
        function, listed = node.field("function"), node.field("arguments")
        if node.kind != "call" or function is None or listed is None:
            continue
        if function.kind == "attribute" and function.text.startswith(f"{receiver}."):
            found.add(function.text.removeprefix(f"{receiver}."))
        elif listed.named and listed.named[0].text == receiver:
            found |= {function.text, f"__{function.text}__"}
    return found
