"""What do the functions, classes and imports of a tree look like?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from regreen.source.names import Names, names, parameter_name
from regreen.source.node import BLOCKS, CLAUSES, STATEMENTS, Node

_QUOTED = re.compile(r"[rRuU]?(?P<quote>\"\"\"|'''|\"|')(?P<text>.*)(?P=quote)", re.DOTALL)

HOLDERS = STATEMENTS | CLAUSES | BLOCKS | {"ERROR"}  # what may hold statements


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter. `kind`: "plain", "*" or "**"; `annotation` is its text; `default` its value."""

    name: str
    node: Node
    kind: str = "plain"
    annotation: str = ""
    default: Node | None = None


@dataclass(frozen=True, slots=True)
class Function:
    """One function or method.

    Args:
        qualname: as Python's `__qualname__`: "Cart.total", "outer.<locals>.inner".
        node: its `function_definition`.
        span: from its first decorator to its end.
        body: its block.
        owner: the name of the class it is defined in directly, else empty.
    """

    name: str
    qualname: str
    node: Node
    span: tuple[int, int]
    body: Node
    parameters: tuple[Parameter, ...]
    decorators: tuple[Node, ...] = ()
    owner: str = ""
    is_async: bool = False

    @property
    def first_line(self) -> int:
        """The 0-based line of its first decorator or its `def`."""
        return self.node.tree.lines.line_at(self.span[0])

    @property
    def last_line(self) -> int:
        """The 0-based line of its last character."""
        return self.node.last_line

    def names(self) -> Names:
        """Find what it reads and binds, parameters and nested functions included."""
        return names(self.node)


@dataclass(frozen=True, slots=True)
class Class:
    """One class. `attributes`: assigned in its body or on `self`; `methods`: defined in its body."""

    name: str
    qualname: str
    node: Node
    body: Node
    bases: tuple[str, ...]
    methods: tuple[Function, ...]
    attributes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Import:
    """One imported name: `from module import name as alias`, or `import module as alias` (name empty).

    `bound` is the name it binds in the file; `module` keeps its leading dots.
    """

    module: str
    name: str
    bound: str
    node: Node


def docstring(definition: Function | Class) -> str:
    """Return what a function or class says of itself, without the quotes; "" when it says nothing."""
    first = next(iter(definition.body.named), None)
    if first is None or first.kind != "expression_statement":
        return ""
    quoted = _QUOTED.fullmatch(next(iter(first.named), first).text)
    return quoted["text"].strip() if quoted else ""


def signature(definition: Function | Class) -> str:
    """Write the head of a function or class in one line, with the first line of its docstring."""
    node = definition.node
    head = " ".join(node.tree.text[node.start : definition.body.start].split())
    said = docstring(definition).splitlines()
    return f"{head}  # {said[0].strip()}" if said else head


def functions_below(node: Node, outer: tuple[str, ...], owner: str) -> Iterator[Function]:
    """Yield the functions below a node, nested ones too; `outer` is the path of names around them."""
    for child in node.named:
        if child.kind == "function_definition":
            name = _name(child)
            yield _function(child, (*outer, name), owner)
            yield from functions_below(child, (*outer, name, "<locals>"), "")
        elif child.kind == "class_definition":
            yield from functions_below(child, (*outer, _name(child)), _name(child))
        elif child.kind in HOLDERS:
            yield from functions_below(child, outer, owner)


def _function(node: Node, path: tuple[str, ...], owner: str) -> Function:
    around = node.parent
    decorated = around if around is not None and around.kind == "decorated_definition" else None
    listed = node.field("parameters")
    return Function(
        name=path[-1],
        qualname=".".join(path),
        node=node,
        span=(decorated or node).span,
        body=node.field("body") or node,
        parameters=tuple(_parameters(listed)) if listed else (),
        decorators=tuple(n for n in decorated.named if n.kind == "decorator") if decorated else (),
        owner=owner,
        is_async=any(child.kind == "async" for child in node.children),
    )


def _parameters(listed: Node) -> Iterator[Parameter]:
    for node in listed.named:
        name = parameter_name(node)
        if not name:
            continue
        annotation = node.field("type")
        kind = "**" if node.text.startswith("**") else "*" if node.text.startswith("*") else "plain"
        yield Parameter(name, node, kind, annotation.text if annotation else "", node.field("value"))


def class_of(node: Node, functions: tuple[Function, ...]) -> Class:
    """Describe a class definition; `functions` are those of its file."""
    body = node.field("body") or node
    low, high = body.span
    methods = tuple(
        f for f in functions if f.owner and low <= f.span[0] < high and _nearest_class(f.node) == node
    )
    bases = node.field("superclasses")
    attributes = {name for statement in body.named for name in _assigned(statement)}
    for method in methods:
        receiver = method.parameters[0].name if method.parameters else ""
        attributes.update(_assigned_on(receiver, method.body))
    return Class(
        name=_name(node),
        qualname=_qualname(node),
        node=node,
        body=body,
        bases=tuple(base.text for base in bases.named if base.kind != "keyword_argument") if bases else (),
        methods=methods,
        attributes=frozenset(attributes),
    )


def _nearest_class(node: Node) -> Node | None:
    return next((up for up in node.up() if up.kind in {"class_definition", "function_definition"}), None)


def _qualname(node: Node) -> str:
    parts = [_name(node)]
    for up in node.up():
        if up.kind == "function_definition":
            parts += ["<locals>", _name(up)]
        elif up.kind == "class_definition":
            parts.append(_name(up))
    return ".".join(reversed(parts))


def _assigned(statement: Node) -> frozenset[str]:
    return names(statement).bound if statement.kind == "expression_statement" else frozenset()


def _assigned_on(receiver: str, body: Node) -> Iterator[str]:
    for node in body.walk():
        if node.kind not in {"assignment", "augmented_assignment"}:
            continue
        target = node.field("left")
        for inner in target.walk() if target else ():
            holder = inner.field("object") if inner.kind == "attribute" else None
            if holder is not None and holder.text == receiver:
                name = inner.field("attribute")
                if name is not None:
                    yield name.text


def imports_of(node: Node) -> Iterator[Import]:
    """Yield what an import statement imports."""
    source = node.field("module_name")
    module = source.text if source else "__future__" if node.kind == "future_import_statement" else ""
    for imported in node.fields("name"):
        named, alias = imported, imported.field("alias")
        if imported.kind == "aliased_import":
            named = imported.field("name") or imported
        if module:
            yield Import(module, named.text, alias.text if alias else named.text, node)
        else:
            yield Import(named.text, "", alias.text if alias else named.text.split(".")[0], node)


def _name(node: Node) -> str:
    name = node.field("name")
    return name.text if name else ""
