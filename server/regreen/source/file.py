"""What is in one Python file: functions, classes, imports, statements, and what stands on a line?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from regreen.edits import LineIndex, Text, decode, digest, dominant_newline
from regreen.source.definitions import HOLDERS, Class, Function, Import, class_of, functions_below, imports_of
from regreen.source.names import Names, names
from regreen.source.node import CLAUSES, STATEMENTS, ErrorSpan, Node, Tree

_IMPORTS = ("import_statement", "import_from_statement", "future_import_statement")


class SourceFile:
    """One parsed file. Everything is computed when it is first asked for; the text never changes.

    Args:
        path: where it is in the user's tree.
        data: its bytes.
        like: a file that is nearly the same, so that only what differs is parsed.

    Raises:
        UnreadableText: its bytes are not text.
    """

    def __init__(self, path: Path, data: bytes, like: SourceFile | None = None) -> None:
        self.path = path
        self.decoded: Text = decode(data)
        self.text = self.decoded.text
        self.digest = digest(data)
        self.newline = dominant_newline(self.text)
        self._tree = Tree(self.text, like.root.tree if like is not None else None)

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
        return tuple(functions_below(self.root, (), ""))

    @cached_property
    def classes(self) -> tuple[Class, ...]:
        """Every class, in order."""
        return tuple(
            class_of(node, self.functions) for node in self.root.walk() if node.kind == "class_definition"
        )

    @cached_property
    def imports(self) -> tuple[Import, ...]:
        """Every imported name, wherever the import stands."""
        return tuple(one for node in self.root.walk() if node.kind in _IMPORTS for one in imports_of(node))

    @cached_property
    def star_imports(self) -> tuple[str, ...]:
        """The modules of every `from module import *`, leading dots kept."""
        stars = (node.parent for node in self.root.walk() if node.kind == "wildcard_import")
        sources = (node.field("module_name") for node in stars if node is not None)
        return tuple(source.text for source in sources if source is not None)

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


def parse(path: Path, data: bytes, like: SourceFile | None = None) -> SourceFile:
    """Parse a file; text that is not Python gives a tree with errors, never an exception.

    Args:
        path: where it is.
        data: its bytes.
        like: a file that is nearly the same, such as an unpatched one: parsing takes a tenth of the time.

    Raises:
        UnreadableText: its bytes are not text.
    """
    return SourceFile(path, data, like)


def _statements(node: Node, line: int) -> Iterator[Node]:
    for child in node.children:
        if child.line > line:
            return
        if child.last_line < line:
            continue
        if child.kind in STATEMENTS or child.kind in CLAUSES:
            yield child
        if child.kind in HOLDERS:
            yield from _statements(child, line)
