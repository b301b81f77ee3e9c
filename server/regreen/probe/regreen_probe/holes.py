"""What was to be had, while tests ran, at the places where another expression could stand?

The code calls a `Hole` with the value of the expression that stands there (see `digging`), and goes on with what the
hole gives back.
"""

from __future__ import annotations

import ast
import itertools
import sys
import time
import types
from collections import deque
from collections.abc import Iterator

from regreen_probe import frozen, productions

FIRST, LAST = 15, 10
"""Of the visits of one hole in one test, how many from the beginning and from the end are kept."""
LONGEST_LITERAL = 20
"""Characters of those that expressions are made of."""
SAMPLING_SECONDS = 1.0
"""Of processor time, after which no more visits are kept."""

VALUE, TRUTH, SKIP, ORDER = "value", "condition", "guard", "order"


class Visit:
    """One evaluation of a hole's expression.

    Args:
        test: the node id of the test that ran.
        number: grows with every visit of any hole.
        space: name → picture of its value.
        value: picture of the expression's value; `frozen.Unfit` where there is none.
        outermost: the function was not called by another function of its file.
    """

    __slots__ = ("number", "outermost", "space", "test", "value")

    def __init__(
        self, test: str, number: int, space: dict[str, object], value: object, *, outermost: bool
    ) -> None:
        self.test = test
        self.number = number
        self.space = space
        self.value = value
        self.outermost = outermost


class Span:
    """Where an expression stands: 1-based lines, and columns in code points."""

    def __init__(self, lines: list[str], node: ast.expr) -> None:
        self.line, self.end_line = node.lineno, node.end_lineno or node.lineno
        self.column = points(lines[self.line - 1], node.col_offset)
        self.end_column = points(lines[self.end_line - 1], node.end_col_offset or 0)
        self.text = lines[self.line - 1][self.column : self.end_column] if self.line == self.end_line else ""


def points(line: str, offset: int) -> int:
    """A column in code points, from one in bytes."""
    return len(line.encode()[:offset].decode())


class Around:
    """A function with holes.

    Attributes:
        reads: the names in it, in the order of the text.
        literals: its numbers and texts.
        idle: parameters that nothing in it reads.
    """

    def __init__(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.line = node.lineno
        self.reads: list[str] = []
        self.literals: list[object] = []
        arguments = node.args
        self.idle = {a.arg for a in (*arguments.args, *arguments.kwonlyargs) if a.arg not in ("self", "cls")}
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and inner.id not in self.reads:
                self.reads.append(inner.id)
                self.idle.discard(inner.id)
            elif isinstance(inner, ast.Constant) and type(inner.value) in (int, float, str):
                self.literals.append(inner.value)


class Hole:
    """A place; called by the code around it.

    Args:
        sampler: what all holes have in common.
        kind: VALUE, TRUTH, SKIP (a guard that is not there) or ORDER (what a `sorted` is given).
        path: of the file, in the copy.
        span: of the expression.
        binds: how tightly the expression binds.
        function: around it.
        way: of a SKIP "continue" or "break".
        returns: its value is what the function returns.
        call: of an ORDER, the call.
    """

    def __init__(
        self,
        sampler: Sampler,
        kind: str,
        path: str,
        span: Span,
        binds: int,
        function: Around,
        *,
        way: str = "",
        returns: bool = False,
        call: ast.Call | None = None,
    ) -> None:
        self.sampler = sampler
        self.kind = kind
        self.path = path
        self.span = span
        self.binds = binds
        self.function = function
        self.way = way
        self.returns = returns
        self.call = call
        self.first: dict[str, list[Visit]] = {}
        self.last: dict[str, deque[Visit]] = {}
        self.plan: dict[int, bool] = {}
        self.after: bool | None = None
        self.count = 0
        self.forced: list[Visit] | None = None  # the visits of a run in which it is forced

    def visits(self) -> list[Visit]:
        """All that were kept, test by test."""
        return [visit for test in self.first for visit in self.of(test)]

    def of(self, test: str) -> list[Visit]:
        """Those of one test."""
        return [*self.first.get(test, ()), *self.last.get(test, ())]

    def force(self, plan: dict[int, bool], after: bool | None) -> None:
        """Be something else from now on.

        Args:
            plan: number of the visit → what the condition is then.
            after: what it is at all others; None for what it would be.
        """
        self.plan, self.after, self.count, self.forced = plan, after, 0, []

    def release(self) -> list[Visit]:
        """Force it no longer; the visits since."""
        visits, self.forced = self.forced or [], None
        return visits

    def __call__(self, value: object) -> object:
        """Pass a value on, or what it is forced to be."""
        sampler = self.sampler
        if self.kind in (TRUTH, SKIP):
            value = bool(value)
        if self.forced is not None:
            value = self.plan.get(self.count, value if self.after is None else self.after)
            self.count += 1
            if len(self.forced) < FIRST + LAST:
                self.forced.append(sampler.visit(self, value, sys._getframe(1)))
        elif sampler.open and sampler.test:
            sampler.note(self, value, sys._getframe(1))
        return value


class Sampler:
    """What the holes of a run have in common.

    Args:
        points: [{"path", "line"}] inside the functions in question, copy paths and 1-based lines.
    """

    def __init__(self, points: list[dict]) -> None:
        self.points = [(point["path"], point["line"]) for point in points]
        self.holes: list[Hole] = []
        self.texts: dict[str, list[str]] = {}
        self.open = True  # whether visits are kept
        self.test = ""  # that runs now
        self.number = 0
        self.spent = 0.0

    def lines(self, path: str) -> list[int]:
        """The points of a file."""
        return [line for place, line in self.points if place == path]

    def line(self, path: str, number: int) -> str:
        """One line of a file with holes, 1-based."""
        return self.texts[path][number - 1]

    def note(self, hole: Hole, value: object, frame: types.FrameType) -> None:
        """Keep a visit of a test."""
        if self.spent > SAMPLING_SECONDS:
            return
        began = time.process_time()
        visit = self.visit(hole, value, frame)
        first = hole.first.setdefault(self.test, [])
        if len(first) < FIRST:
            first.append(visit)
        else:
            hole.last.setdefault(self.test, deque(maxlen=LAST)).append(visit)
        self.spent += time.process_time() - began

    def visit(self, hole: Hole, value: object, frame: types.FrameType) -> Visit:
        """What is to be had in a frame."""
        frames = list(_frames(frame))
        space: dict[str, object] = {}
        for name in hole.function.reads:
            if name in frame.f_globals and type(frame.f_globals[name]) in _DATA:
                _add(space, name, frame.f_globals[name])
        for around in reversed(frames):
            for name, held in around.f_locals.items():
                if name.isidentifier():
                    _add(space, name, held)
        try:
            picture = frozen.frozen(value)
        except frozen.Unfit:
            picture = frozen.Unfit
        self.number += 1
        caller = frames[-1].f_back
        outermost = caller is None or caller.f_code.co_filename != frame.f_code.co_filename
        return Visit(self.test, self.number, space, picture, outermost=outermost)


_DATA = (int, float, str, list, tuple, dict, set, frozenset)
_INNER = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<lambda>")


def _frames(frame: types.FrameType) -> Iterator[types.FrameType]:
    """The frame, and those around it as long as they belong to one function."""
    yield frame
    while frame.f_code.co_name in _INNER and frame.f_back is not None:
        if frame.f_back.f_code.co_filename != frame.f_code.co_filename:
            return
        frame = frame.f_back
        yield frame


def _add(space: dict[str, object], name: str, value: object) -> None:
    try:
        space[name] = frozen.frozen(value)
    except frozen.Unfit:
        space.pop(name, None)


def is_hole(node: ast.AST) -> bool:
    """Whether a node is an expression that was wrapped."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Constant)


def atoms_of(hole: Hole, visits: list[Visit]) -> list[tuple[str, list[object], int, bool]]:
    """(text, values, how tightly it binds, whether it is a literal) of what can be computed with at the visits."""
    names = itertools.chain(hole.function.reads, *(visit.space for visit in visits[:1]))
    found = [
        (name, [visit.space[name] for visit in visits], productions.ATOM, False)
        for name in dict.fromkeys(names)
        if all(name in visit.space for visit in visits)
    ]
    if hole.kind in (VALUE, TRUTH) and not any(visit.value is frozen.Unfit for visit in visits):
        found.append((hole.span.text, [visit.value for visit in visits], hole.binds, False))
    literals = dict.fromkeys([*map(repr, hole.function.literals), *_LITERALS])
    found += [
        (literal, [ast.literal_eval(literal)] * len(visits), productions.ATOM, True)
        for literal in literals
        if len(literal) <= LONGEST_LITERAL
    ]
    return found


_LITERALS = ("0", "1", "2", '""', "[]", "None", "True", "False")
