"""Values that are made once and shared: mutable defaults, class attributes, variables of closures."""

from __future__ import annotations

from collections.abc import Iterator

from regreen.source import Class, Node, Parameter
from regreen.templates.model import Change, Site
from regreen.templates.placing import insertion
from regreen.templates.rewrite import before, remove, stands_alone, step, swap
from regreen.templates.scope import names_of
from regreen.values import TextEdit

_MUTABLE = frozenset({"list", "dictionary", "set", "list_comprehension"})


def _is_mutable(node: Node | None) -> bool:
    return node is not None and (node.kind in _MUTABLE or node.text in {"list()", "dict()", "set()"})


def mutable(site: Site) -> Iterator[Change]:
    """`def f(xs=[])` → `def f(xs=None)` with `if xs is None: xs = []` at the beginning."""
    function = site.function
    if function is None or not function.body.named or function.body.line == function.node.line:
        return
    shared = [p for p in function.parameters if _is_mutable(p.default)]
    for parameter in shared:
        yield from _made_each_time(site, parameter)


def _made_each_time(site: Site, parameter: Parameter) -> Iterator[Change]:
    function, default = site.function, parameter.default
    if function is None or default is None:
        return
    first = function.body.named[0]
    if (
        first.kind == "expression_statement"
        and first.named
        and first.named[0].kind == "string"
        and len(function.body.named) > 1
    ):
        first = function.body.named[1]
    if not stands_alone(site.file, first):
        return
    code = f"if {parameter.name} is None:\n{step(site.file)}{parameter.name} = {default.text}"
    edits = (swap(default, "None"), before(site.file, first, code))
    yield Change(edits, f"a new `{default.text}` for `{parameter.name}` in each call")


def late_binding(site: Site) -> Iterator[Change]:
    """`lambda: i` in a loop → `lambda i=i: i`: the value of now, not of the loop's end."""
    loops = [up for up in site.statement.up() if up.kind == "for_statement"]
    for node in site.of("lambda"):
        bound: set[str] = set()
        for up in (*loops, *node.up()):
            if (
                up.kind == "for_statement"
                or up.kind.endswith("_comprehension")
                or up.kind == "generator_expression"
            ):
                for clause in [up, *(child for child in up.named if child.kind == "for_in_clause")]:
                    left = clause.field("left")
                    bound |= (
                        {n.text for n in left.walk() if n.kind == "identifier"} if left is not None else set()
                    )
        body, listed = node.field("body"), node.field("parameters")
        if body is None:
            continue
        given = {n.text for n in listed.walk() if n.kind == "identifier"} if listed is not None else set()
        late = sorted((names_of(body) & bound) - given)
        if late:
            text = ", ".join(f"{name}={name}" for name in late)
            edit = (
                TextEdit(listed.end, listed.end, f", {text}")
                if listed
                else TextEdit(node.start + 6, node.start + 6, f" {text}")
            )
            yield Change((edit,), f"bind `{', '.join(late)}` when the function is made")
    for loop in loops:
        yield from _inner_function(site, loop)


def _inner_function(site: Site, loop: Node) -> Iterator[Change]:
    """A function defined in the loop's body gets the loop variables it reads as defaults."""
    left, body = loop.field("left"), loop.field("body")
    if left is None or body is None:
        return
    bound = {n.text for n in left.walk() if n.kind == "identifier"}
    for function in site.file.functions:
        listed = function.node.field("parameters")
        if function.node.parent != body or listed is None or function.qualname == "":
            continue
        late = sorted((names_of(function.body) & bound) - {p.name for p in function.parameters})
        if late:
            text = ", ".join(f"{name}={name}" for name in late)
            at = listed.end - 1
            edit = TextEdit(at, at, f", {text}" if function.parameters else text)
            yield Change((edit,), f"bind `{', '.join(late)}` when `{function.name}` is made")


def shared_attribute(site: Site) -> Iterator[Change]:
    """`items = []` in a class body → `self.items = []` in `__init__`: one for each instance."""
    owner = (
        site.file.class_named(site.function.owner)
        if site.function is not None and site.function.owner
        else None
    )
    if owner is None:
        return
    for statement in owner.body.named:
        inner = statement.named[0] if statement.kind == "expression_statement" and statement.named else None
        left = inner.field("left") if inner is not None and inner.kind == "assignment" else None
        right = inner.field("right") if inner is not None else None
        if left is None or right is None or left.kind != "identifier" or not _is_mutable(right):
            continue
        yield from _moved(site, owner, statement, f"self.{left.text} = {right.text}")


def _moved(site: Site, owner: Class, statement: Node, code: str) -> Iterator[Change]:
    init = next((method for method in owner.methods if method.name == "__init__"), None)
    if not stands_alone(site.file, statement):
        return
    title = f"`{code}` for each instance"
    if init is not None and init.body.named and stands_alone(site.file, init.body.named[0]):
        yield Change((remove(site.file, statement), before(site.file, init.body.named[0], code)), title)
    elif init is None and len(owner.body.named) > 1:
        inner = step(site.file)
        text = f"def __init__(self):\n{inner}{code}\n"
        first = next(
            (n for n in owner.body.named if n.kind in {"function_definition", "decorated_definition"}), None
        )
        if first is not None and not owner.bases:
            edit = before(site.file, first, text)
            blank = edit.new.rstrip(" \t\r\n") + site.file.newline * 2
            yield Change((remove(site.file, statement), TextEdit(edit.start, edit.end, blank)), title)


def dataclass_field(site: Site) -> Iterator[Change]:
    """ValueError `mutable default … use default_factory`: `xs: list = []` → `field(default_factory=list)`."""
    for node in site.file.root.walk():
        if node.kind != "assignment" or node.field("type") is None:
            continue
        right = node.field("right")
        if right is None or not _is_mutable(right):
            continue
        empty = {"[]": "list", "{}": "dict", "set()": "set", "list()": "list", "dict()": "dict"}
        factory = empty.get(right.text, f"lambda: {right.text}")
        edits = [swap(right, f"field(default_factory={factory})")]
        if "field" not in site.file.names.bound:
            edits += _import_field(site)
        yield Change(tuple(edits), f"a new `{right.text}` for each instance")


def _import_field(site: Site) -> list[TextEdit]:
    for one in site.file.imports:
        if one.module == "dataclasses" and one.name == "dataclass":
            names = one.node.fields("name")
            return [TextEdit(names[-1].end, names[-1].end, ", field")]
    return [insertion(site.file, "from dataclasses import field", site.sources)]
