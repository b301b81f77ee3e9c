"""How is a syntax tree walked with offsets that count code points?

tree-sitter counts UTF-8 bytes; everything else in Regreen counts code points of the decoded text. `Offsets`
converts, and is free for ASCII text. A lone CR ends a line for Python but not for the grammar, so the tree
is built from a text in which it is replaced by an LF of the same length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import tree_sitter
import tree_sitter_python

from regreen.edits import LineIndex
from regreen.source.reuse import reusable

STATEMENTS = frozenset({
    "expression_statement", "return_statement", "if_statement", "for_statement", "while_statement",
    "try_statement", "with_statement", "function_definition", "class_definition", "decorated_definition",
    "import_statement", "import_from_statement", "future_import_statement", "raise_statement",
    "assert_statement", "delete_statement", "pass_statement", "break_statement", "continue_statement",
    "global_statement", "nonlocal_statement", "match_statement", "print_statement", "exec_statement",
    "type_alias_statement",
})  # fmt: skip
"""Node kinds that stand on their own in a block."""

CLAUSES = frozenset({
    "elif_clause", "else_clause", "except_clause", "except_group_clause", "finally_clause", "case_clause",
})  # fmt: skip
"""Parts of a compound statement that have a header line and a block of their own."""

BLOCKS = frozenset({"block", "module"})

_LANGUAGE = tree_sitter.Language(tree_sitter_python.language())
_LONE_CR = re.compile(r"\r(?!\n)")
_EXTRAS = frozenset({"comment", "line_continuation"})  # they stand anywhere and mean nothing
_STEP = 512


class Offsets:
    """Converts UTF-8 byte offsets of one text into code point offsets."""

    __slots__ = ("_data", "_marks")

    def __init__(self, text: str, data: bytes) -> None:
        self._data = data
        self._marks: list[int] | None = None
        if not text.isascii():
            marks = [0]  # code points before each _STEP-th byte
            for low in range(0, len(data), _STEP):
                marks.append(marks[-1] + _characters(data[low : low + _STEP]))
            self._marks = marks

    def code_point(self, byte: int) -> int:
        """Return the code point offset of a byte offset."""
        if self._marks is None:
            return byte
        block = byte // _STEP
        return self._marks[block] + _characters(self._data[block * _STEP : byte])


def _characters(data: bytes) -> int:
    """Count the characters that begin in these UTF-8 bytes: all but the continuation bytes."""
    return len(data) - sum(1 for byte in data if byte & 0xC0 == 0x80)


class Tree:
    """One parsed text: what the nodes of the tree share. Each node exists once and remembers its answers.

    Args:
        text: what is parsed.
        like: the tree of a text that is nearly the same: only what differs is parsed.
    """

    __slots__ = ("_asked", "_nodes", "_order", "_places", "data", "lines", "offsets", "raw", "text")

    def __init__(self, text: str, like: Tree | None = None) -> None:
        self.text = text
        self.lines = LineIndex(text)
        self.data = _LONE_CR.sub("\n", text).encode("utf-8", "surrogatepass")
        self.offsets = Offsets(text, self.data)
        known = () if like is None else (reusable(like.raw, like.data, self.data),)
        self.raw: tree_sitter.Tree = tree_sitter.Parser(_LANGUAGE).parse(self.data, *known)
        self._nodes: dict[int, Node] = {}
        self._order: list[Node] = []  # every named node but the comments, as the text has them
        self._asked = 0  # bytes under nodes that were listed by themselves
        self._places: dict[int, tuple[int, int]] = {}  # where a node and all below it are in that list

    @property
    def root(self) -> Node:
        """The node that spans the whole text."""
        return self.node(self.raw.root_node)

    def node(self, raw: tree_sitter.Node) -> Node:
        """Return the one node that stands for a node of the grammar."""
        found = self._nodes.get(raw.id)
        if found is None:
            found = self._nodes[raw.id] = Node(self, raw)
        return found

    def below(self, node: Node) -> list[Node]:
        """Return a node and every named node below it, in the order of the text; comments are left out.

        The whole tree is listed once, but not before parts as long as the text were asked for: of many a patched
        text only one function is ever looked at.
        """
        if not self._order:
            self._asked += node.raw.end_byte - node.raw.start_byte
            if self._asked < self.raw.root_node.end_byte:
                return _below(node)
            self._walk()
        place = self._places.get(node.raw.id)
        return [node] if place is None else self._order[place[0] : place[1]]

    def _walk(self) -> None:
        """List the tree once. A stack, because generated code nests deeper than Python recurses."""
        pending: list[Node | int] = [self.root]
        while pending:
            node = pending.pop()
            if isinstance(node, int):  # everything below this node is listed
                self._places[node] = (self._places[node][0], len(self._order))
                continue
            self._places[node.raw.id] = (len(self._order), 0)
            self._order.append(node)
            pending.append(node.raw.id)
            pending.extend(reversed(node.named))


def _below(top: Node) -> list[Node]:
    listed: list[Node] = []
    pending = [top]
    while pending:
        node = pending.pop()
        listed.append(node)
        pending.extend(reversed(node.named))
    return listed


@dataclass(frozen=True, slots=True)
class ErrorSpan:
    """A piece of text that is not Python, or (`missing`) a token that should be at `start`."""

    start: int
    end: int
    line: int
    missing: str = ""


class Node:
    """A node of the tree. `kind` is the grammar's name; offsets are code points, lines are 0-based.

    Nodes are equal when they are the same node of the same tree.
    """

    __slots__ = ("_named", "_parent", "_span", "kind", "raw", "tree")

    def __init__(self, tree: Tree, raw: tree_sitter.Node) -> None:
        self.tree = tree
        self.raw = raw
        self.kind: str = raw.type  # the grammar's name ("binary_operator"), or the token itself ("+")
        self._span: tuple[int, int] | None = None
        self._named: list[Node] | None = None
        self._parent: Node | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and self.tree is other.tree and self.raw.id == other.raw.id

    def __hash__(self) -> int:
        return hash(self.raw.id)

    def __repr__(self) -> str:
        return f"<{self.kind} {self.start}-{self.end} {self.text[:40]!r}>"

    @property
    def is_named(self) -> bool:
        """Whether it is more than punctuation or a keyword."""
        return self.raw.is_named

    @property
    def has_error(self) -> bool:
        """Whether something inside of it is not Python."""
        return self.raw.has_error

    @property
    def span(self) -> tuple[int, int]:
        """Where it begins and ends, in code points."""
        if self._span is None:
            convert = self.tree.offsets.code_point
            self._span = (convert(self.raw.start_byte), convert(self.raw.end_byte))
        return self._span

    @property
    def start(self) -> int:
        """Where it begins, in code points."""
        return self.span[0]

    @property
    def end(self) -> int:
        """Where it ends, in code points."""
        return self.span[1]

    @property
    def text(self) -> str:
        """Its text, exactly."""
        start, end = self.span
        return self.tree.text[start:end]

    @property
    def line(self) -> int:
        """The 0-based line it begins on."""
        return self.tree.lines.line_at(self.start)

    @property
    def last_line(self) -> int:
        """The 0-based line of its last character."""
        return self.tree.lines.line_at(max(self.start, self.end - 1))

    @property
    def parent(self) -> Node | None:
        """The node around it."""
        if self._parent is None and (raw := self.raw.parent) is not None:
            self._parent = self.tree.node(raw)
        return self._parent

    @property
    def children(self) -> list[Node]:
        """Every child, tokens included, in order."""
        return [self.tree.node(child) for child in self.raw.children]

    @property
    def named(self) -> list[Node]:
        """The children that are more than tokens, comments and line continuations left out."""
        if self._named is None:
            node = self.tree.node
            self._named = [node(child) for child in self.raw.named_children if child.type not in _EXTRAS]
        return self._named

    def field(self, name: str) -> Node | None:
        """Return the child the grammar calls `name`, None when there is none."""
        child = self.raw.child_by_field_name(name)
        return None if child is None else self.tree.node(child)

    def fields(self, name: str) -> list[Node]:
        """Return every child the grammar calls `name`."""
        return [self.tree.node(child) for child in self.raw.children_by_field_name(name)]

    def walk(self, *, into_blocks: bool = True) -> Iterator[Node]:
        """Yield it and every named node below, in the order of the text.

        Args:
            into_blocks: go into the blocks of compound statements, too.
        """
        if into_blocks:
            yield from self.tree.below(self)
            return
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(child for child in reversed(node.named) if child.kind != "block")

    def up(self) -> Iterator[Node]:
        """Yield the nodes around it, innermost first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def errors(self) -> Iterator[ErrorSpan]:
        """Yield what is not Python inside of it, in the order of the text."""
        pending = [self.raw]
        while pending:
            raw = pending.pop()
            node = self.tree.node(raw)
            if raw.is_missing:
                yield ErrorSpan(node.start, node.end, node.line, node.kind)
            elif raw.is_error:
                yield ErrorSpan(node.start, node.end, node.line)
            elif raw.has_error:
                pending.extend(reversed(raw.children))
