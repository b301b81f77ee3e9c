"""Guards: a check before the statement that fails, a missing base case, a missing `raise`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from regreen.source import Node
from regreen.templates.atoms import conditions, names_at
from regreen.templates.exits import can_precede, exits, first_in_block, first_in_function, guard
from regreen.templates.model import Change, Site
from regreen.templates.rewrite import arrow, atom, indented, short, swap
from regreen.templates.strings import inside

_SIMPLE = frozenset({"expression_statement", "return_statement", "raise_statement", "delete_statement"})


_LACKS = re.compile(r"'\w+' object has no attribute '(\w+)'")
_TYPES = (str, bytes, dict, list, set, tuple, int, float)
_NOT_RAISED = re.compile(r"DID NOT RAISE <class '([\w.]+)'>|DID NOT RAISE (\w+)|(\w+) not raised")


def around(site: Site) -> Iterator[Change]:
    """Put a condition around the statement."""
    if site.statement.kind not in _SIMPLE - {"return_statement"} | {
        "if_statement",
        "return_statement",
    } or not can_precede(site):
        return
    if site.statement.kind == "if_statement":
        return
    for rank, condition in enumerate(conditions(site)):
        edits = indented(site.file, site.statement, f"if {condition}:")
        yield Change(edits, f"only `if {short(condition)}`", 1 / (1 + 0.12 * rank))


def early_exit(site: Site) -> Iterator[Change]:
    """`if condition: return value` (or `continue`) before the statement, with conditions of the names in scope."""
    if not can_precede(site):
        return
    for rank, condition in enumerate(conditions(site)[:14]):
        for low, way_out in enumerate(exits(site)[:4]):
            yield guard(site, condition, way_out, 1 / ((1 + 0.15 * rank) * (1 + 0.5 * low)))


def raise_missing(site: Site) -> Iterator[Change]:
    """`DID NOT RAISE ValueError`: raise it under a condition on the parameters, where a block begins."""
    name = not_raised(site)
    if not name or not first_in_block(site) or not can_precede(site) or site.function is None:
        return
    parameters = [p.name for p in site.function.parameters if p.name not in {"self", "cls"}]
    left_out = [
        p.name for p in site.function.parameters if p.default is not None and p.default.kind == "none"
    ]
    found = [f"{parameter} is None" for parameter in left_out]
    for parameter in parameters:
        type_ = site.scope.types.get(parameter, "")
        if type_ in {"int", "float", "number", ""}:
            found += [f"{parameter} < 0", f"{parameter} <= 0", f"{parameter} == 0"]
        if type_ in {"str", "list", "dict", "tuple", "sized", ""}:
            found.append(f"not {parameter}")
        found.append(f"{parameter} is None")
        if type_:
            found.append(
                f"not isinstance({parameter}, {type_})"
                if type_ in {"int", "str", "list", "float", "dict"}
                else ""
            )
    found += [text for text in conditions(site) if text not in found][:10]
    outer = 1.0 if first_in_function(site) else 0.7
    for rank, condition in enumerate(dict.fromkeys(text for text in found if text)):
        raising = f'raise {name}("{_message(site, condition)}")'
        yield guard(site, condition, raising, outer / (1 + 0.2 * rank))


def not_raised(site: Site) -> str:
    """Return the exception the test waits for in vain, by its simple name; empty when it waits for none."""
    match = _NOT_RAISED.search(site.evidence.failure.message)
    return next(group for group in match.groups() if group).rpartition(".")[2] if match else ""


def _message(site: Site, condition: str) -> str:
    """A message for the exception: what the test matches, else the condition's opposite in words."""
    test = site.sources.get(site.evidence.failure.path)
    frame = next((f for f in reversed(site.evidence.failure.frames) if test and f.path == test.path), None)
    statement = test.statement_at(frame.line) if test is not None and frame is not None else None
    for node in statement.walk(into_blocks=False) if statement is not None else ():
        value = _matched(node)
        if value is not None and value.kind == "string":
            text = value.text[inside(value, "").start - value.start : inside(value, "").end - value.start]
            if re.fullmatch(r"[\w ,.;:'-]+", text):
                return text
    return f"unexpected: {condition}".replace('"', "'")


def _matched(node: Node) -> Node | None:
    """What the message is matched with: `match=…` of `raises`, the second argument of `assertRaisesRegex`."""
    label, function = node.field("name"), node.field("function")
    if node.kind == "keyword_argument" and label is not None and label.text == "match":
        return node.field("value")
    listed = node.field("arguments")
    if function is None or listed is None or not function.text.endswith("assertRaisesRegex"):
        return None
    return listed.named[1] if len(listed.named) > 1 else None


def of_type(site: Site) -> Iterator[Change]:
    """AttributeError `'list' object has no attribute 'lower'`: only for the type that has it, or for what has it."""
    match = _LACKS.search(site.evidence.failure.message)
    if match is None or not can_precede(site):
        return
    for node in site.of("attribute"):
        holder, attribute = node.field("object"), node.field("attribute")
        if holder is None or attribute is None or attribute.text != match.group(1):
            continue
        types = [type_.__name__ for type_ in _TYPES if hasattr(type_, attribute.text)]
        tests = [f"isinstance({holder.text}, {name})" for name in types[:2]]
        for rank, test in enumerate([*tests, f'hasattr({holder.text}, "{attribute.text}")']):
            if site.statement.kind == "expression_statement":
                edits = indented(site.file, site.statement, f"if {test}:")
                yield Change(edits, f"only `if {short(test)}`", 1 / (1 + 0.5 * rank))
            for low, way_out in enumerate(exits(site)[:3]):
                yield guard(site, f"not {test}", way_out, 0.6 / ((1 + 0.5 * rank) * (1 + 0.5 * low)))


def zero(site: Site) -> Iterator[Change]:
    """ZeroDivisionError: a default for the quotient, another for the divisor, or an exit before."""
    for node in site.of("binary_operator", "augmented_assignment"):
        operator, divisor = node.field("operator"), node.field("right")
        if operator is None or divisor is None or operator.text.rstrip("=") not in {"/", "//", "%"}:
            continue
        test = atom(divisor) if divisor.kind != "binary_operator" else divisor.text
        if node.kind == "binary_operator":
            whole = node
            parent = node.parent
            inline = f"{whole.text} if {test} else 0"
            text = (
                inline
                if parent is not None and parent.kind in {"return_statement", "assignment"}
                else f"({inline})"
            )
            yield Change((swap(whole, text),), arrow(whole.text, text))
            if site.evidence.expected_value is None or _returns_none(site):
                text = text.replace("else 0", "else None")
                yield Change((swap(whole, text),), arrow(whole.text, text), 0.8)
            if "0.0" in site.evidence.expected:
                text = text.replace("else 0", "else 0.0")
                yield Change((swap(whole, text),), arrow(whole.text, text), 0.9)
        yield Change(
            (swap(divisor, f"({divisor.text} or 1)"),), arrow(divisor.text, f"{divisor.text} or 1"), 0.5
        )
        if can_precede(site):
            condition = f"{test} == 0" if divisor.kind != "call" else f"not {test}"
            if divisor.kind == "call" and divisor.text.startswith("len("):
                condition = f"not {divisor.text[4:-1]}"
            for rank, way_out in enumerate(exits(site)[:5]):
                yield guard(site, condition, way_out, 0.9 / (1 + 0.3 * rank))


def _returns_none(site: Site) -> bool:
    return any(value.kind == "none" for value in site.scope.facts.returned)


def index(site: Site) -> Iterator[Change]:
    """IndexError: an exit for the empty sequence, or a check of the length in the condition."""
    for node in site.of("subscript"):
        value, indexes = node.field("value"), node.fields("subscript")
        if value is None or len(indexes) != 1 or indexes[0].kind in {"slice", "string"}:
            continue
        place = indexes[0].text
        check = (
            f"{place} < len({value.text})"
            if not place.lstrip("-").isdigit()
            else f"len({value.text}) > {place.lstrip('-')}"
        )
        for condition in _conditions_with(site, node):
            new = f"{check} and {condition.text}"
            yield Change((swap(condition, new),), arrow(condition.text, new))
        if can_precede(site):
            for rank, way_out in enumerate(exits(site)[:5]):
                yield guard(site, f"not {value.text}", way_out, 0.9 / (1 + 0.3 * rank))
                if not place.lstrip("-").isdigit():
                    yield guard(site, f"{place} >= len({value.text})", way_out, 0.5 / (1 + 0.3 * rank))
            if site.statement.kind in _SIMPLE:
                yield Change(
                    indented(site.file, site.statement, f"if {check}:"), f"only `if {short(check)}`", 0.7
                )


def key(site: Site) -> Iterator[Change]:
    """KeyError: skip, leave or check when the key is not there."""
    for node in site.of("subscript"):
        value, indexes = node.field("value"), node.fields("subscript")
        if value is None or len(indexes) != 1 or indexes[0].kind == "slice":
            continue
        check = f"{indexes[0].text} in {value.text}"
        for condition in _conditions_with(site, node):
            new = f"{check} and {condition.text}"
            yield Change((swap(condition, new),), arrow(condition.text, new))
        if can_precede(site):
            for rank, way_out in enumerate(exits(site)[:4]):
                yield guard(site, f"{indexes[0].text} not in {value.text}", way_out, 0.8 / (1 + 0.3 * rank))
            if site.statement.kind in _SIMPLE:
                yield Change(
                    indented(site.file, site.statement, f"if {check}:"), f"only `if {short(check)}`", 0.6
                )


def _conditions_with(site: Site, inner: Node) -> Iterator[Node]:
    """The conditions of the header that hold a node."""
    for node in site.of("if_statement", "while_statement", "elif_clause"):
        condition = node.field("condition")
        if condition is not None and condition.start <= inner.start and inner.end <= condition.end:
            yield condition


def base_case(site: Site) -> Iterator[Change]:
    """RecursionError: an exit for the smallest argument before anything else."""
    if not first_in_function(site) or not can_precede(site) or site.function is None:
        return
    names = [p.name for p in site.function.parameters if p.name not in {"self", "cls"}]
    for name in names[:2]:
        numeric = site.scope.types.get(name, "") in {"int", "number", "float", ""}
        tests = (f"{name} <= 1", f"{name} == 0", f"{name} <= 0", f"{name} < 2") if numeric else ()
        sized = (f"not {name}", f"len({name}) <= 1") if not numeric or not site.scope.types.get(name) else ()
        for rank, condition in enumerate((*tests, *sized)):
            for low, way_out in enumerate(
                dict.fromkeys(("return 1", f"return {name}", "return 0", *exits(site)[:3]))
            ):
                yield guard(site, condition, way_out, 1 / (1 + 0.2 * rank + 0.3 * low))


def smaller_argument(site: Site) -> Iterator[Change]:
    """RecursionError: the recursive call gets a smaller argument: `f(n)` → `f(n - 1)`, `f(xs)` → `f(xs[1:])`."""
    for node in site.of("call"):
        called, listed = node.field("function"), node.field("arguments")
        if called is None or listed is None or site.function is None:
            continue
        if called.text.rpartition(".")[2] != site.function.name:
            continue
        for argument in listed.named:
            if argument.kind == "identifier" and argument.text in names_at(site):
                sized = site.scope.types.get(argument.text) in {"list", "str", "tuple", "sized"}
                for rank, form in enumerate(
                    ("{}[1:]", "{}[:-1]") if sized else ("{} - 1", "{} // 2", "{}[1:]", "{} + 1")
                ):
                    new = form.format(argument.text)
                    yield Change((swap(argument, new),), arrow(argument.text, new), 1 / (1 + 0.4 * rank))
