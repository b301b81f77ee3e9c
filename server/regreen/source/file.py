"""What is in one Python file: functions, classes, imports, statements, and what stands on a line?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from regreen.edits import LineIndex, Text, decode, digest, dominant_newline
from regreen.source.names import Names, names, parameter_name
from regreen.source.node import BLOCKS, CLAUSES, STATEMENTS, ErrorSpan, Node, Tree

_HOLDERS = STATEMENTS | CLAUSES | BLOCKS | {"ERROR"}  # what may hold statements
_IMPORTS = ("import_statement", "import_from_statement", "future_import_statement")


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


class SourceFile:
    """One parsed file. Everything is computed when it is first asked for; the text never changes.

    Args:
        path: where it is in the user's tree.
        data: its bytes.

    Raises:
        UnreadableText: its bytes are not text.
    """

    def __init__(self, path: Path, data: bytes) -> None:
        self.path = path
        self.decoded: Text = decode(data)
        self.text = self.decoded.text
        self.digest = digest(data)
        self.newline = dominant_newline(self.text)
        self._tree = Tree(self.text)

    @property
    def lines(self) -> LineIndex:
        """Positions in its text."""
        return self._tree.lines

    @property
    def root(self) -> Node:
        """The node that spans the file."""
        return self._tree.root

    @property
    def has_errors(self) -> bool:
        """Whether some of it is not Python."""
        return self.root.has_error

    @cached_property
    def errors(self) -> tuple[ErrorSpan, ...]:
        """The pieces that are not Python, in order."""
        return tuple(self.root.errors())

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """Every function and method, nested ones too, in order."""
        return tuple(_functions(self.root, (), ""))

    @cached_property
    def classes(self) -> tuple[Class, ...]:
        """Every class, in order."""
        return tuple(
            _class(node, self.functions) for node in self.root.walk() if node.kind == "class_definition"
        )

    @cached_property
    def imports(self) -> tuple[Import, ...]:
        """Every imported name, wherever the import stands."""
        return tuple(one for node in self.root.walk() if node.kind in _IMPORTS for one in _imports(node))

    @cached_property
    def top_level(self) -> tuple[Node, ...]:
        """The module's own statements, in order."""
        return tuple(self.root.named)

    @cached_property
    def step(self) -> str:
        """One level of indentation: that of the first indented block; four blanks when there is none."""
        for node in self.root.walk():
            if node.kind != "block" or node.parent is None or node.line == node.parent.line:
                continue
            inner, outer = self.indentation(node.line), self.indentation(node.parent.line)
            if inner.startswith(outer) and inner != outer:
                return inner[len(outer) :]
        return "    "

    def indentation(self, line: int) -> str:
        """Return the white space that a 0-based line begins with."""
        text = self.lines.line_text(line)
        return text[: len(text) - len(text.lstrip(" \t\f"))]

    @cached_property
    def names(self) -> Names:
        """What the whole file reads and binds."""
        return names(self.root)

    @cached_property
    def defined(self) -> frozenset[str]:
        """The names that other files can import from it."""
        found: set[str] = set()
        for node in self.top_level:
            if node.kind in {"function_definition", "class_definition", "decorated_definition"}:
                definition = node.field("definition") or node
                name = definition.field("name")
                found.update([name.text] if name else [])
            else:
                found.update(names(node).bound)
        return frozenset(found)

    def function_at(self, line: int) -> Function | None:
        """Return the innermost function whose text (decorators included) holds the 0-based line."""
        holding = [function for function, first, last in self._function_lines if first <= line <= last]
        return max(holding, key=lambda function: function.span[0], default=None)

    @cached_property
    def _function_lines(self) -> tuple[tuple[Function, int, int], ...]:
        return tuple((function, function.first_line, function.last_line) for function in self.functions)

    def function_named(self, qualname: str) -> Function | None:
        """Return the last function with this qualified name (the one that counts when it is run)."""
        return next((f for f in reversed(self.functions) if f.qualname == qualname), None)

    def class_named(self, name: str) -> Class | None:
        """Return the last class with this name."""
        return next((found for found in reversed(self.classes) if found.name == name), None)

    def statement_at(self, line: int) -> Node | None:
        """Return the innermost statement, or clause with a header (`elif`, `except` …), on the 0-based line.

        On a line of a compound statement's header it is the compound statement; on a blank or comment line
        it is the statement around it, if any.
        """
        found: Node | None = None
        for statement in _statements(self.root, line):
            found = statement
        return found

    def statements_around(self, line: int) -> tuple[Node, ...]:
        """Return every statement and clause that holds the line, outermost first."""
        return tuple(_statements(self.root, line))


def parse(path: Path, data: bytes) -> SourceFile:
    """Parse a file; text that is not Python gives a tree with errors, never an exception.

    Raises:
        UnreadableText: its bytes are not text.
    """
    return SourceFile(path, data)


def _statements(node: Node, line: int) -> Iterator[Node]:
    for child in node.children:
        if child.line > line:
            return
        if child.last_line < line:
            continue
        if child.kind in STATEMENTS or child.kind in CLAUSES:
            yield child
        if child.kind in _HOLDERS:
            yield from _statements(child, line)


def _functions(node: Node, outer: tuple[str, ...], owner: str) -> Iterator[Function]:
    for child in node.named:
        if child.kind == "function_definition":
            name = _name(child)
            yield _function(child, (*outer, name), owner)
            yield from _functions(child, (*outer, name, "<locals>"), "")
        elif child.kind == "class_definition":
            yield from _functions(child, (*outer, _name(child)), _name(child))
        elif child.kind in _HOLDERS:
            yield from _functions(child, outer, owner)


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


def _class(node: Node, functions: tuple[Function, ...]) -> Class:
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


def _imports(node: Node) -> Iterator[Import]:
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
