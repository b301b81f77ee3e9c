"""Is the patched statement really what ran?

A call that raises is put before it; its arrival is told before anything can catch the exception.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from regreen_probe.markers import is_documented

PLACE = "\0regreen canary\0"


class Canary(BaseException):
    """Raised where the patched code is reached."""


class Cage:
    """The canaries of one run.

    Args:
        points: [{"path", "line"}], copy paths and 1-based lines.
        tell: takes the record of an arrival.
    """

    def __init__(self, points: list[dict], tell: Callable[[dict[str, object]], None]) -> None:
        self.points = [(point["path"], point["line"]) for point in points]
        self.tell = tell
        self.arrived: set[int] = set()

    def numbers(self, path: str) -> list[int]:
        """Which of the points lie in a file."""
        return [number for number, point in enumerate(self.points) if point[0] == path]

    def arrive(self, number: int) -> None:
        """Stands in the code; never returns."""
        if number not in self.arrived:
            self.arrived.add(number)
            path, line = self.points[number]
            self.tell({"ev": "canary", "path": path, "line": line})
        raise Canary

    def insert(self, tree: ast.Module, path: str) -> None:
        """Put this file's canaries into its tree."""
        found = [(number, locate(tree, self.points[number][1])) for number in self.numbers(path)]
        for number, (block, before) in found:
            index = len(block) if before is None else next(i for i, s in enumerate(block) if s is before)
            near = block[min(index, len(block) - 1)] if block else None
            block.insert(index, _call(number, near.lineno if near is not None else 1))


def _call(number: int, line: int) -> ast.stmt:
    place = {"lineno": line, "end_lineno": line, "col_offset": 0, "end_col_offset": 0}
    function = ast.Constant(PLACE, **place)
    return ast.Expr(ast.Call(function, [ast.Constant(number, **place)], [], **place), **place)


def locate(tree: ast.Module, line: int) -> tuple[list[ast.stmt], ast.stmt | None]:
    """The block and the statement in it (None: its end) before which a canary for `line` goes.

    That is the statement whose own lines hold `line` (of a compound one: its header, which for `except` and
    `case` stands at the whole statement), else the next one in the file, else the last one.
    """
    last = None
    for first, end, block, statement in _own_lines(tree.body):
        last = (block, statement)
        if first <= line <= end or first >= line:
            break
    if last is None:
        return tree.body, None
    return _after_docstring(tree, *last)


def _own_lines(block: list[ast.stmt]) -> Iterator[tuple[int, int, list[ast.stmt], ast.stmt]]:
    """(first line, last line, block, statement) in the order of the text."""
    for statement in block:
        decorators = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(d.lineno for d in decorators)])
        inner = list(_inner_blocks(statement))
        if not inner:
            yield first, statement.end_lineno or first, block, statement
            continue
        body = _start(inner[0][1])
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) or body > first:
            yield first, max(first, body - 1), block, statement
        for header, lines in inner:
            if header is not None:
                yield header, max(header, _start(lines) - 1), block, statement
            yield from _own_lines(lines)


def _start(block: list[ast.stmt]) -> int:
    decorators = getattr(block[0], "decorator_list", [])
    return min([block[0].lineno, *(d.lineno for d in decorators)])


def _inner_blocks(statement: ast.stmt) -> Iterator[tuple[int | None, list[ast.stmt]]]:
    """The blocks of a compound statement in order; for those of handlers and cases with the header's line."""
    if isinstance(getattr(statement, "body", None), list):
        yield None, statement.body
    for handler in getattr(statement, "handlers", []):
        yield handler.lineno, handler.body
    for case in getattr(statement, "cases", []):
        yield case.pattern.lineno, case.body
    for name in ("orelse", "finalbody"):
        block = getattr(statement, name, None)
        if isinstance(block, list) and block:
            yield None, block


def _after_docstring(
    tree: ast.Module, block: list[ast.stmt], statement: ast.stmt
) -> tuple[list[ast.stmt], ast.stmt | None]:
    """Not before a docstring or an import from __future__: those must stay first."""
    index = next(i for i, s in enumerate(block) if s is statement)
    owners = (n for n in ast.walk(tree) if getattr(n, "body", None) is block)
    if index == 0 and any(is_documented(owner) for owner in owners):
        index = 1
    futures = [i for i, s in enumerate(block) if isinstance(s, ast.ImportFrom) and s.module == "__future__"]
    if futures:
        index = max(index, futures[-1] + 1)
    return block, block[index] if index < len(block) else None
