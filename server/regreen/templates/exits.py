"""How can a statement be left early: where does a guard fit, which ways out are there, what does it look like?"""

from __future__ import annotations

from regreen.source import CLAUSES
from regreen.templates.evidence import UNKNOWN
from regreen.templates.model import Change, Site
from regreen.templates.rewrite import before, short, stands_alone

_CONSTANTS = frozenset({
    "integer", "string", "true", "false", "none", "list", "dictionary", "unary_operator",
})  # fmt: skip


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


def guard(site: Site, condition: str, way_out: str, factor: float) -> Change:
    """Put `if condition: way_out` before the statement."""
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


def first_in_function(site: Site) -> bool:
    """Whether the site is the first statement of its function after the docstring."""
    return first_in_block(site) and site.function is not None and site.statement.parent == site.function.body


def first_in_block(site: Site) -> bool:
    """Whether the site is the first statement of its block, docstrings left out."""
    block = site.statement.parent
    if site.function is None or block is None or block.kind != "block":
        return False
    named = block.named
    first = next(
        (
            n
            for n in named
            if not (n.kind == "expression_statement" and n.named and n.named[0].kind == "string")
        ),
        None,
    )
    return first is not None and first == site.statement
