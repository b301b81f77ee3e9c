"""At which places of a function could another expression stand?

Each expression there is wrapped into a call of a `Hole`. Before each statement of a loop's body stands a condition that
is always false, for the guard that may be missing there.
"""

from __future__ import annotations

import ast
import importlib.util

from regreen_probe import productions
from regreen_probe.holes import ORDER, SKIP, TRUTH, VALUE, Around, Hole, Sampler, Span, is_hole
from regreen_probe.observe import function_spans

PLACE = "\0regreen hole {}\0"
MOST = 80
"""Holes of one run."""


def dig(sampler: Sampler, tree: ast.Module, path: str, source: bytes) -> dict[str, object]:
    """Put holes into the functions at a file's points; placeholder → what stands there."""
    lines = sampler.texts[path] = importlib.util.decode_source(source).split("\n")
    spans = function_spans(tree)
    wanted = {
        max(span for span in spans if span[0] <= line <= span[1])[:2]
        for line in sampler.lines(path)
        if any(span[0] <= line <= span[1] for span in spans)
    }
    before = len(sampler.holes)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if (first, node.end_lineno) in wanted:
                Digger(sampler, path, lines, Around(node)).dig(node)
    return {PLACE.format(number): sampler.holes[number] for number in range(before, len(sampler.holes))}


class Digger:
    """Puts holes into one function.

    Args:
        sampler: gets the holes.
        path, lines: of the file.
        around: the function.
    """

    def __init__(self, sampler: Sampler, path: str, lines: list[str], around: Around) -> None:
        self.sampler = sampler
        self.path = path
        self.lines = lines
        self.around = around
        self.conditions: set[ast.AST] = set()  # of more than one operand

    def dig(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Into all its statements, but not into functions inside."""
        self._block(function.body, in_loop=False)

    def _block(self, block: list[ast.stmt], *, in_loop: bool) -> None:
        statements = list(block)
        for statement in statements:
            self._statement(statement)
        for before in statements if in_loop else ():
            for way in ("continue", "break"):
                self._guard(block, before, way)

    def _statement(self, statement: ast.stmt) -> None:
        if isinstance(
            statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assert, ast.Raise)
        ):
            return
        for name, child in ast.iter_fields(statement):
            if name in ("body", "orelse", "finalbody"):
                looping = name == "body" and isinstance(statement, (ast.For, ast.While, ast.AsyncFor))
                self._block(child, in_loop=looping)
            elif name == "handlers":
                for handler in child:
                    self._block(handler.body, in_loop=False)
            elif name == "cases":
                for case in child:
                    self._block(case.body, in_loop=False)
            elif name not in ("annotation", "items"):
                self._children(statement, name, child)

    def _children(self, parent: ast.AST, name: str, child: object) -> None:
        if isinstance(child, list):
            for index, part in enumerate(child):
                if isinstance(part, ast.AST):
                    child[index] = self._filled(parent, name, part)
        elif isinstance(child, ast.AST):
            setattr(parent, name, self._filled(parent, name, child))

    def _filled(self, parent: ast.AST, name: str, node: ast.AST) -> ast.AST:
        """The node, holes dug into it and around it."""
        if isinstance(node, (ast.JoinedStr, ast.Yield, ast.YieldFrom, ast.NamedExpr)):
            return node
        kind = TRUTH if parent in self.conditions else _kind(parent, name, node)
        if kind == TRUTH and isinstance(node, ast.BoolOp):
            self.conditions.add(node)
        span = Span(self.lines, node) if kind and isinstance(node, ast.expr) else None
        binds = _binds(node)
        for inner, child in list(ast.iter_fields(node)):
            if not (isinstance(node, ast.Lambda) and inner == "args"):
                self._children(node, inner, child)
        ordered = _ordered(node)
        if ordered is not None:
            self._order(node, *ordered)
        if span is None or not span.text:
            return node
        hole = Hole(
            self.sampler, kind, self.path, span, binds, self.around, returns=isinstance(parent, ast.Return)
        )
        return self._wrapped(hole, node)

    def _wrapped(self, hole: Hole, node: ast.expr) -> ast.expr:
        if len(self.sampler.holes) >= MOST:
            return node
        self.sampler.holes.append(hole)
        place = ast.Constant(PLACE.format(len(self.sampler.holes) - 1))
        return ast.fix_missing_locations(ast.copy_location(ast.Call(place, [node], []), node))

    def _order(self, call: ast.Call, holder: ast.AST, name: str, index: int | None) -> None:
        """A hole for what is put in order."""
        given = getattr(holder, name) if index is None else getattr(holder, name)[index]
        bare = given.args[0] if is_hole(given) else given
        span = Span(self.lines, bare)
        if not span.text or call.lineno != call.end_lineno:
            return
        hole = Hole(self.sampler, ORDER, self.path, span, productions.ATOM, self.around, call=call)
        filled = self._wrapped(hole, given)
        if index is None:
            setattr(holder, name, filled)
        else:
            getattr(holder, name)[index] = filled

    def _guard(self, block: list[ast.stmt], before: ast.stmt, way: str) -> None:
        place = ast.copy_location(ast.Constant(value=False), before)
        place.end_lineno, place.end_col_offset = before.lineno, before.col_offset
        hole = Hole(
            self.sampler, SKIP, self.path, Span(self.lines, place), productions.ATOM, self.around, way=way
        )
        test = self._wrapped(hole, place)
        if test is not place:
            leave = ast.Continue() if way == "continue" else ast.Break()
            made = ast.fix_missing_locations(ast.copy_location(ast.If(test, [leave], []), before))
            block.insert(next(i for i, s in enumerate(block) if s is before), made)


def _kind(parent: ast.AST, name: str, node: ast.AST) -> str:
    """What kind of hole an expression is; "" when it is none."""
    if not isinstance(node, ast.expr) or isinstance(
        node, (ast.Starred, ast.Lambda, ast.Slice, ast.Await, ast.GeneratorExp)
    ):
        return ""
    if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
        return ""
    if name == "test" or (isinstance(parent, ast.comprehension) and name == "ifs"):
        return TRUTH
    if (
        name == "func"
        or isinstance(parent, (ast.Attribute, ast.Expr))
        or name in ("keys", "target", "targets")
    ):
        return ""
    return VALUE


def _ordered(node: ast.AST) -> tuple[ast.AST, str, int | None] | None:
    """Where what a call puts in order stands: `sorted(…)`, `min(…)`, `max(…)`, `….sort()`."""
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Name) and node.func.id in ("sorted", "min", "max") and len(node.args) == 1:
        return node, "args", 0
    if isinstance(node.func, ast.Attribute) and node.func.attr == "sort" and not node.args:
        return node.func, "value", None
    return None


_OPERATORS = {
    ast.BitOr: productions.BIT_OR, ast.BitXor: productions.BIT_OR, ast.BitAnd: productions.BIT_AND,
    ast.LShift: productions.BIT_AND, ast.RShift: productions.BIT_AND, ast.Add: productions.SUM,
    ast.Sub: productions.SUM, ast.Pow: productions.POWER,
}  # fmt: skip


def _binds(node: ast.AST) -> int:
    """How tightly an expression binds."""
    if isinstance(node, ast.BoolOp):
        return productions.OR if isinstance(node.op, ast.Or) else productions.AND
    if isinstance(node, ast.UnaryOp):
        return productions.NOT if isinstance(node.op, ast.Not) else productions.SIGN
    if isinstance(node, ast.BinOp):
        return _OPERATORS.get(type(node.op), productions.PRODUCT)
    if isinstance(node, ast.Compare):
        return productions.COMPARISON
    if isinstance(node, (ast.Lambda, ast.IfExp, ast.Tuple, ast.GeneratorExp)):
        return productions.CHOICE
    return productions.ATOM
