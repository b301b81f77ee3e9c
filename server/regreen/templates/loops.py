"""Loops: progress, early ends, what is iterated over, and where the range begins and ends."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from regreen.source import Node, Role, role_of
from regreen.templates.atoms import conditions, names_at
from regreen.templates.model import Change, Site
from regreen.templates.rewrite import after, arrow, atom, before, short, siblings, stands_alone, step, swap
from regreen.templates.scope import names_of

LOOPS = frozenset({"for_statement", "while_statement"})


def progress(site: Site) -> Iterator[Change]:
    """A `while` that never ends: a name of its condition steps the other way, or steps at the end of the body."""
    for loop in site.of("while_statement"):
        condition, body = loop.field("condition"), loop.field("body")
        if condition is None or body is None or not body.named:
            continue
        stepped = set()
        for name, sign in _steps(condition, body):
            stepped.add(name)
            turned = sign.text.translate(_TURNED)
            yield Change((swap(sign, turned),), f"{arrow(sign.text, turned)} of `{name}`")
        last = body.named[-1]
        if not stands_alone(site.file, last) or body.line == loop.line:
            continue
        first = body.named[0]
        for rank, name in enumerate(_condition_names(site, condition, body)):
            if site.scope.types.get(name, "") in {"list", "str", "dict", "set", "bool"}:
                continue
            for low, code in enumerate((f"{name} += 1", f"{name} -= 1", f"{name} //= 2", f"{name} //= 10")):
                column = _column(site, first)
                yield Change(
                    (after(site.file, last, code, indent=column),),
                    f"`{code}` in the loop",
                    (0.4 if name in stepped else 1) / (1 + 0.3 * rank + 0.3 * low),
                )


_TURNED = str.maketrans("+-", "-+")


def _steps(condition: Node, body: Node) -> Iterator[tuple[str, Node]]:
    """Names of the condition that the body counts up or down (`n += 1`, `n = n - 1`), with the sign's token."""
    tested = names_of(condition)
    for node in body.walk():
        left, right = node.field("left"), node.field("right")
        if left is None or right is None or left.text not in tested:
            continue
        counting = node if node.kind == "augmented_assignment" else right
        if node.kind == "assignment":
            first = right.field("left")
            if right.kind != "binary_operator" or first is None or first.text != left.text:
                continue
        sign = counting.field("operator")
        if sign is not None and sign.text in {"+", "-", "+=", "-="}:
            yield left.text, sign


def step_in_block(site: Site) -> Iterator[Change]:
    """A hang: the statement is followed by a step of a name that the innermost loop tests: `i += 1`."""
    loop = next(
        (up for up in site.statement.up() if up.kind in {"while_statement", "function_definition"}), None
    )
    if loop is None or loop.kind != "while_statement" or not stands_alone(site.file, site.statement):
        return
    condition, body = loop.field("condition"), loop.field("body")
    if (
        condition is None
        or body is None
        or site.statement.kind not in {"expression_statement", "if_statement"}
    ):
        return
    for rank, name in enumerate(_condition_names(site, condition, body)):
        for low, code in enumerate((f"{name} += 1", f"{name} -= 1")):
            edit = after(site.file, site.statement, code, indent=_column(site, site.statement))
            yield Change((edit,), f"then `{code}`", 1 / (1 + 0.3 * rank + 0.3 * low))


def _condition_names(site: Site, condition: Node, body: Node) -> list[str]:
    tested = [name for name in sorted(names_of(condition)) if name in site.scope.own]
    assigned = {
        left.text
        for node in body.walk()
        if node.kind in {"assignment", "augmented_assignment"} and (left := node.field("left")) is not None
    }
    return sorted(tested, key=lambda name: name in assigned)


def _column(site: Site, statement: Node) -> str:
    line = site.file.lines.line_text(statement.line)
    return line[: len(line) - len(line.lstrip())]


def exits(site: Site) -> Iterator[Change]:
    """`break` ↔ `continue`, either → nothing, and a `return` inside of a loop that comes too early."""
    statement = site.statement
    if statement.kind == "break_statement":
        yield Change((swap(statement, "continue"),), arrow("break", "continue"))
        yield Change((swap(statement, "pass"),), "drop `break`", 0.7)
    elif statement.kind == "continue_statement":
        yield Change((swap(statement, "break"),), arrow("continue", "break"))
        yield Change((swap(statement, "pass"),), "drop `continue`", 0.7)
    elif statement.kind == "pass_statement" and any(up.kind in LOOPS for up in statement.up()):
        yield Change((swap(statement, "continue"),), arrow("pass", "continue"))
        yield Change((swap(statement, "break"),), arrow("pass", "break"), 0.8)


def stop(site: Site) -> Iterator[Change]:
    """A `break` after the statement: plain inside of an `if`, under a condition elsewhere in the loop."""
    statement = site.statement
    around = next((up for up in statement.up() if up.kind != "block"), None)
    loops = [up for up in statement.up() if up.kind in LOOPS or up.kind == "function_definition"]
    if not loops or loops[0].kind == "function_definition" or not stands_alone(site.file, statement):
        return
    if statement.kind not in {"expression_statement", "if_statement"}:
        return
    column = _column(site, statement)
    if around is not None and around.kind in {"if_statement", "elif_clause", "else_clause"}:
        yield Change((after(site.file, statement, "break", indent=column),), "then `break`")
        yield Change((after(site.file, statement, "continue", indent=column),), "then `continue`", 0.6)
    for rank, condition in enumerate(conditions(site)[:8]):
        code = f"if {condition}:\n{step(site.file)}break"
        yield Change(
            (before(site.file, statement, code),), f"`break` if `{short(condition)}`", 0.5 / (1 + 0.2 * rank)
        )


def copy(site: Site) -> Iterator[Change]:
    """A collection that changes while it is iterated over: iterate over a copy."""
    for node in site.of("for_statement", "for_in_clause"):
        right = node.field("right")
        if right is not None and not right.text.startswith("list("):
            yield Change((swap(right, f"list({right.text})"),), arrow(right.text, f"list({right.text})"))


def unpacking(site: Site) -> Iterator[Change]:
    """`for k, v in d` → `d.items()`, `for i, x in xs` → `enumerate(xs)`; and back."""
    for node in site.of("for_statement", "for_in_clause"):
        left, right = node.field("left"), node.field("right")
        if left is None or right is None:
            continue
        several = left.kind in {"pattern_list", "tuple_pattern"}
        if several and len(left.named) == 2:
            forms = (f"{atom(right)}.items()", f"enumerate({right.text})")
            for rank, new in enumerate(forms):
                if not right.text.endswith(".items()") and not right.text.startswith("enumerate("):
                    yield Change((swap(right, new),), arrow(right.text, new), 1 / (1 + 0.3 * rank))
            for part in left.named:
                yield Change((swap(left, part.text),), arrow(f"for {left.text}", f"for {part.text}"), 0.4)
        if right.kind == "call" and right.field("function") is not None:
            function, listed = right.field("function"), right.field("arguments")
            if (
                function is not None
                and function.text == "enumerate"
                and listed is not None
                and listed.named
                and several
            ):
                inner, item = listed.named[0].text, left.named[-1].text
                edits = (swap(left, item), swap(right, inner))
                yield Change(edits, arrow(f"for {left.text} in {right.text}", f"for {item} in {inner}"), 0.6)
        if not several and right.kind in {"identifier", "attribute"}:
            new = f"range(len({right.text}))"
            yield Change((swap(right, new),), arrow(right.text, new), 0.5)
            if site.scope.type_of(right) in {"int", "number", ""}:
                yield Change(
                    (swap(right, f"range({right.text})"),), arrow(right.text, f"range({right.text})"), 0.6
                )
        if right.text.startswith("range(len(") and right.text.endswith("))"):
            new = right.text[len("range(len(") : -2]
            yield Change((swap(right, new),), arrow(right.text, new), 0.3)
    for node in site.of("assignment"):
        left, right = node.field("left"), node.field("right")
        if left is None or right is None or left.kind not in {"pattern_list", "tuple_pattern"}:
            continue
        first, last = left.named[0], left.named[-1]
        if left.text.rstrip(") ").endswith(","):
            continue
        if not any(part.kind == "list_splat_pattern" for part in left.named):
            yield Change((swap(last, f"*{last.text}"),), arrow(left.text, f"… *{last.text}"), 0.6)
            yield Change((swap(first, f"*{first.text}"),), arrow(left.text, f"*{first.text}, …"), 0.5)
            yield Change((swap(left, f"{left.text}, *_"),), arrow(left.text, f"{left.text}, *_"), 0.5)


def bounds(site: Site) -> Iterator[Change]:
    """`range(n)` → `range(1, n)`, `range(a, b)` → `range(b)`, `range(b, a, -1)` …."""
    for node in site.of("call"):
        function, listed = node.field("function"), node.field("arguments")
        if function is None or listed is None or function.text != "range" or not listed.named:
            continue
        parts = [argument.text for argument in listed.named]
        found: list[str] = []
        if len(parts) == 1:
            found = [
                f"1, {parts[0]}",
                f"1, {parts[0]} + 1",
                f"{parts[0]} - 1, -1, -1",
                f"{parts[0]}, 0, -1",
                f"2, {parts[0]}",
                f"0, {parts[0]}, 2",
            ]
        elif len(parts) == 2:
            found = [
                parts[1],
                f"{parts[1]}, {parts[0]}, -1",
                f"{parts[1]} - 1, {parts[0]} - 1, -1",
                f"{parts[0]}, {parts[1]}, 2",
                f"{parts[1]}, {parts[0]}",
            ]
        elif len(parts) == 3:
            found = [
                f"{parts[0]}, {parts[1]}",
                f"{parts[0]}, {parts[1]}, -{parts[2]}",
                f"{parts[1]}, {parts[0]}, {parts[2]}",
            ]
        for rank, text in enumerate(found):
            yield Change(
                (swap(node, f"range({text})"),), arrow(node.text, f"range({text})"), 1 / (1 + 0.3 * rank)
            )


def while_if(site: Site) -> Iterator[Change]:
    """`if` → `while` and back: a step that must be repeated, or must not."""
    for node in site.of("if_statement", "while_statement"):
        if node != site.statement or node.field("alternative") is not None:
            continue
        token = node.children[0]
        new = "while" if token.text == "if" else "if"
        yield Change((swap(token, new),), arrow(token.text, new))


def accumulated(site: Site) -> Iterator[Change]:
    """`rv = f(item, start)` in a loop → `rv = f(item, rv)`: what the rounds before made is forgotten.

    The same for a value that is overwritten before anything read it.
    """
    for node in site.of("assignment"):
        left, right = node.field("left"), node.field("right")
        if left is None or right is None or left.kind != "identifier" or left.text in names_of(right):
            continue
        first, share = _first_value(site, left.text)
        started = names_of(first) if first is not None else frozenset()
        for inner in right.walk() if first is not None and right.kind not in {"identifier", "lambda"} else ():
            if inner.kind != "identifier" or role_of(inner) is not Role.READ or _is_called(inner):
                continue
            if inner.text in started or inner.text in names_at(site)[:6]:
                likeness = share * (1.0 if inner.text in started else 0.3)
                yield Change((swap(inner, left.text),), arrow(inner.text, left.text), likeness)


def _is_called(identifier: Node) -> bool:
    around = identifier.parent
    return around is not None and around.kind == "call" and around.field("function") == identifier


def _first_value(site: Site, name: str) -> tuple[Node | None, float]:
    """What a name holds when a loop around the statement begins, or since an assignment that nothing read."""
    function = site.function.node if site.function is not None else None
    for up in itertools.takewhile(lambda one: one != function, site.statement.up()):
        if up.kind in LOOPS:
            given = [value for value in _given(site, name) if value.end <= up.start]
            if given:
                return given[-1], 1.0
    beside = siblings(site.statement)
    at = beside.index(site.statement) if site.statement in beside else 0
    for earlier in reversed(beside[:at]):
        given = [value for value in _given(site, name) if earlier.start <= value.start < earlier.end]
        if given and earlier.kind == "expression_statement":
            return given[-1], 0.6
        if name in names_of(earlier) or given:
            break
    return None, 0.0


def _given(site: Site, name: str) -> list[Node]:
    """The values that the function assigns to a name, in the order of the text."""
    found = (node for node in site.body.walk() if node.kind == "assignment")
    pairs = ((node.field("left"), node.field("right")) for node in found)
    return [right for left, right in pairs if left is not None and right is not None and left.text == name]
