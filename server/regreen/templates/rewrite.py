"""How is a tree's text rewritten so that indentation, line ends and comments stay as they are?"""

from __future__ import annotations

from regreen.edits import with_newline
from regreen.source import CLAUSES, STATEMENTS, Node, SourceFile
from regreen.values import TextEdit

_ATOMS = frozenset({
    "identifier", "integer", "float", "string", "call", "attribute", "subscript", "list", "tuple", "set",
    "dictionary", "true", "false", "none", "parenthesized_expression", "list_comprehension",
    "set_comprehension", "dictionary_comprehension", "generator_expression",
})  # fmt: skip


def swap(node: Node, new: str) -> TextEdit:
    """Replace a node's text."""
    return TextEdit(node.start, node.end, new)


def exchange(one: Node, other: Node) -> tuple[TextEdit, ...]:
    """Exchange the texts of two nodes that do not overlap."""
    return tuple(sorted((swap(one, other.text), swap(other, one.text))))


def atom(node: Node) -> str:
    """Return an expression's text, in parentheses unless it binds tighter than any operator."""
    return node.text if node.kind in _ATOMS else f"({node.text})"


def short(text: str, limit: int = 40) -> str:
    """Shorten code for a title: one line, at most `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def arrow(old: str, new: str) -> str:
    """Title a replacement for people."""
    return f"`{short(old)}` → `{short(new)}`"


def indentation(file: SourceFile, node: Node) -> str:
    """Return the white space before the first thing on the node's line."""
    return file.indentation(node.line)


def step(file: SourceFile) -> str:
    """Return one level of the file's indentation."""
    return file.step


def stands_alone(file: SourceFile, statement: Node) -> bool:
    """Whether nothing but the statement (and a comment) is on its lines, so that lines can go around it."""
    before = file.text[file.lines.start(statement.line) : statement.start]
    after = file.text[statement.end : file.lines.end(statement.last_line)].strip(" \t\f")
    return not before.strip(" \t\f") and (not after or after.startswith("#"))


def before(file: SourceFile, statement: Node, code: str) -> TextEdit:
    """Insert lines of code before a statement, at its indentation. `code` has no final line end."""
    indent = indentation(file, statement)
    lines = "".join(f"{indent}{line}\n" for line in code.split("\n"))
    start = file.lines.start(statement.line)
    return TextEdit(start, start, with_newline(lines, file.newline))


def after(file: SourceFile, statement: Node, code: str, *, indent: str | None = None) -> TextEdit:
    """Insert lines of code after a statement, at its indentation (or `indent`)."""
    indent = indentation(file, statement) if indent is None else indent
    lines = "".join(f"\n{indent}{line}" for line in code.split("\n"))
    end = file.lines.end(statement.last_line)
    return TextEdit(end, end, with_newline(lines, file.newline))


def replace_lines(file: SourceFile, statement: Node, code: str) -> TextEdit:
    """Replace a statement by lines of code at its indentation; a comment behind it stays."""
    indent = indentation(file, statement)
    first, *rest = code.split("\n")
    text = "".join([first, *(f"\n{indent}{line}" for line in rest)])
    return TextEdit(statement.start, statement.end, with_newline(text, file.newline))


def remove(file: SourceFile, statement: Node) -> TextEdit:
    """Delete a statement with its lines; the only statement of a block becomes `pass`."""
    block = statement.parent
    if block is None or len(block.named) == 1 or not stands_alone(file, statement):
        return swap(statement, "pass")
    start = file.lines.start(statement.line)
    last = statement.last_line
    if block.named[0] == statement and not file.lines.line_text(last + 1).strip():
        last += 1  # a block does not begin with the blank line that set its first statement off
    end = file.lines.start(last + 1) if last + 1 < file.lines.line_count else len(file.text)
    return TextEdit(start, end, "")


def indented(file: SourceFile, statement: Node, header: str) -> tuple[TextEdit, ...]:
    """Put a header line (ending in a colon) around a statement: its lines move one level in."""
    more, head = step(file), before(file, statement, header)
    edits = [TextEdit(head.start, head.end, head.new + more)]
    for line in range(statement.line + 1, statement.last_line + 1):
        start = file.lines.start(line)
        if file.lines.line_text(line).strip() and not _inside_string(statement, start):
            edits.append(TextEdit(start, start, more))
    return tuple(edits)


def _inside_string(statement: Node, offset: int) -> bool:
    """Whether a line begins inside of a literal, where white space is part of the value."""
    return any(node.kind == "string" and node.start < offset < node.end for node in statement.walk())


def siblings(statement: Node) -> list[Node]:
    """Return the statements of the block that holds `statement`, itself included."""
    block = statement.parent
    if block is None:
        return [statement]
    return [node for node in block.named if node.kind in STATEMENTS or node.kind in CLAUSES]
