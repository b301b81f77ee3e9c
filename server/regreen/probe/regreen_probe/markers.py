"""Which statements of the project's functions has a test executed?

Before each statement inside a function, `table[n] = 1` is inserted into the syntax tree. The table is put into
the compiled code as a constant, so no name appears in any namespace of the project.
"""

from __future__ import annotations

import ast

PLACE = "\0regreen table\0"


class Hits(bytearray):
    """Equal only to itself, with a hash: projects keep code objects in sets, and those hash their constants."""

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other


class Table:
    """The statements of one file: `hits[n]` is 1 when the one at line `lines[n]` was reached."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.lines: list[int] = []
        self.hits = Hits()

    def reset(self) -> None:
        """Forget what was reached."""
        self.hits[:] = bytes(len(self.hits))

    def executed(self) -> list[int]:
        """The lines reached since the last reset, sorted, 1-based."""
        lines = set()
        number = self.hits.find(1)
        while number >= 0:
            lines.add(self.lines[number])
            number = self.hits.find(1, number + 1)
        return sorted(lines)


def mark(tree: ast.Module, table: Table) -> None:
    """Insert the markers of one file; its table gets the lines."""
    _mark_body(tree, table, inside=False)
    table.hits = Hits(len(table.lines))


def _mark_body(node: ast.AST, table: Table, *, inside: bool) -> None:
    inside = inside or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        block = getattr(node, name, None)
        if not isinstance(block, list):
            continue  # the body of a lambda
        for child in block:
            _mark_body(child, table, inside=inside)
        if inside and name not in ("handlers", "cases"):
            setattr(node, name, _marked(block, table, documented=name == "body" and is_documented(node)))


def is_documented(node: ast.AST) -> bool:
    """Whether the first statement of the body is a docstring."""
    if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    first = node.body[0] if node.body else None
    return (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )


def _marked(block: list[ast.stmt], table: Table, *, documented: bool) -> list[ast.stmt]:
    result: list[ast.stmt] = []
    for index, statement in enumerate(block):
        declares = isinstance(statement, (ast.Global, ast.Nonlocal))
        if not declares and not (documented and index == 0):
            result.append(_marker(statement, len(table.lines)))
            table.lines.append(statement.lineno)
        result.append(statement)
    return result


def _marker(statement: ast.stmt, number: int) -> ast.stmt:
    place = {"lineno": statement.lineno, "end_lineno": statement.lineno, "col_offset": 0, "end_col_offset": 0}
    target = ast.Subscript(ast.Constant(PLACE, **place), ast.Constant(number, **place), ast.Store(), **place)
    return ast.Assign([target], ast.Constant(1, **place), **place)
