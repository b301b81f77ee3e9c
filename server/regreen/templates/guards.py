"""Guards: a check before the statement that fails, a default instead of None, a missing `raise`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from regreen.source import CLAUSES, Node
from regreen.templates.atoms import conditions, names_at
from regreen.templates.evidence import UNKNOWN
from regreen.templates.model import Change, Site
from regreen.templates.rewrite import arrow, atom, before, indented, short, stands_alone, swap
from regreen.templates.strings import inside

ANY = frozenset[str]()
_SIMPLE = frozenset({"expression_statement", "return_statement", "raise_statement", "delete_statement"})
_CONSTANTS = frozenset({
    "integer", "string", "true", "false", "none", "list", "dictionary", "unary_operator",
})  # fmt: skip
_NOT_RAISED = re.compile(r"DID NOT RAISE <class '([\w.]+)'>|DID NOT RAISE (\w+)|(\w+) not raised")


def can_precede(site: Site) -> bool:
    """Whether a statement can be put on a line of its own before the site's."""
    statement = site.statement
    return (
        site.function is not None
        and statement.kind not in CLAUSES
        and statement.kind not in {"function_definition", "decorated_definition", "class_definition"}
        and statement.start >= site.function.body.start
        and stands_alone(site.file, statement)
    )


def exits(site: Site) -> list[str]:
    """List the ways out of the statement's block, most likely first: `continue` in a loop, then returns."""
    found: list[str] = []
    for up in site.statement.up():
        if up.kind in {"for_statement", "while_statement"}:
            found += ["continue", "break"]
        if up.kind in {"for_statement", "while_statement", "function_definition"}:
            break
    expected = site.evidence.expected
    by_test = expected if site.evidence.expected_value is not UNKNOWN and _is_plain(expected) else ""
    returned = [value.text for value in site.scope.facts.returned if value.kind in _CONSTANTS]
    values = dict.fromkeys([*([by_test] if by_test else []), *returned, "None", *_empties(site)])
    return [*found, *(f"return {value}" if value != "None" else "return None" for value in values)]


def _is_plain(text: str) -> bool:
    """Whether a value may stand for "nothing" in general: empty, zero, one, a truth value."""
    return text in {"None", "True", "False", "0", "1", "-1", "0.0", "''", "[]", "{}", "()", "set()"}


def _empties(site: Site) -> list[str]:
    types = {site.scope.type_of(value) for value in site.scope.facts.returned}
    by_type = {
        "int": "0",
        "number": "0",
        "float": "0.0",
        "str": '""',
        "list": "[]",
        "dict": "{}",
        "bool": "False",
    }
    return [by_type[type_] for type_ in sorted(types) if type_ in by_type] or ["0", "[]", '""', "False"]


def _guard(site: Site, condition: str, way_out: str, factor: float) -> Change:
    step = _step(site)
    code = f"if {condition}:\n{step}{way_out}"
    return Change(
        (before(site.file, site.statement, code),), f"`if {short(condition)}: {way_out}` first", factor
    )


def _step(site: Site) -> str:
    function = site.function.node if site.function is not None else site.statement
    lines = site.file.lines
    outer = lines.line_text(function.line)
    inner = lines.line_text(site.body.line)
    more = inner[: len(inner) - len(inner.lstrip())][len(outer) - len(outer.lstrip()) :]
    return more or "    "


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
            yield _guard(site, f"{holder} is None", way_out, 1 / (1 + low + 0.3 * rank))


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
            yield _guard(site, condition, way_out, 1 / ((1 + 0.15 * rank) * (1 + 0.5 * low)))


def first_in_function(site: Site) -> bool:
    """Whether the site is the first statement of its function after the docstring."""
    if site.function is None:
        return False
    named = site.function.body.named
    first = next(
        (
            n
            for n in named
            if not (n.kind == "expression_statement" and n.named and n.named[0].kind == "string")
        ),
        None,
    )
    return first is not None and first == site.statement


def raise_missing(site: Site) -> Iterator[Change]:
    """`DID NOT RAISE ValueError`: raise it at the function's beginning under a condition on its parameters."""
    name = not_raised(site)
    if not name or not first_in_function(site) or not can_precede(site) or site.function is None:
        return
    parameters = [p.name for p in site.function.parameters if p.name not in {"self", "cls"}]
    found: list[str] = []
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
    for rank, condition in enumerate(text for text in found if text):
        yield _guard(site, condition, f'raise {name}("{_message(site, condition)}")', 1 / (1 + 0.2 * rank))


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
        label = node.field("name") if node.kind == "keyword_argument" else None
        value = node.field("value")
        if label is not None and label.text == "match" and value is not None and value.kind == "string":
            text = value.text[inside(value, "").start - value.start : inside(value, "").end - value.start]
            if re.fullmatch(r"[\w ,.;:'-]+", text):
                return text
    return f"unexpected: {condition}".replace('"', "'")


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
                yield _guard(site, condition, way_out, 0.9 / (1 + 0.3 * rank))


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
                yield _guard(site, f"not {value.text}", way_out, 0.9 / (1 + 0.3 * rank))
                if not place.lstrip("-").isdigit():
                    yield _guard(site, f"{place} >= len({value.text})", way_out, 0.5 / (1 + 0.3 * rank))
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
                yield _guard(site, f"{indexes[0].text} not in {value.text}", way_out, 0.8 / (1 + 0.3 * rank))
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
                yield _guard(site, condition, way_out, 1 / (1 + 0.2 * rank + 0.3 * low))


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
