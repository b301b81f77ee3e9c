"""How do the functions around a patch behave, in one short digest that two runs can be compared by?"""

from __future__ import annotations

import ast
import dis
import hashlib
import inspect
import sys
import types

from regreen_probe import instrument, reprs

_LEAVING = {dis.opmap[n] for n in dis.opmap if n.startswith(("RETURN_", "YIELD_", "INSTRUMENTED_RETURN",
                                                            "INSTRUMENTED_YIELD"))}  # fmt: skip


CALLS = 500
"""Of one test. A function that a loop calls a million times would cost more to watch than to run."""


class Observer:
    """Digests the calls of some functions.

    Args:
        points: [{"path", "line"}] inside those functions, copy paths and 1-based lines.
        tests: node ids of the tests in which they are watched.
    """

    def __init__(self, points: list[dict], tests: list[str]) -> None:
        self.points = [(point["path"], point["line"]) for point in points]
        self.tests = frozenset(tests if points else ())
        self.left = 0
        self.codes: set[types.CodeType] = set()
        self.digest = hashlib.sha256()
        self.calls = 0

    def look(self, path: str, source: bytes, code: types.CodeType) -> None:
        """A project file was compiled: find the functions in it that are to be observed."""
        lines = [line for place, line in self.points if place == path]
        if not lines:
            return
        spans = function_spans(ast.parse(source, path))
        for line in lines:
            around = [span for span in spans if span[0] <= line <= span[1]]
            if around:
                first, _, name = max(around)  # the innermost one starts last
                self.codes.update(instrument.functions(code, first, name))

    def start(self, nodeid: str) -> None:
        """A test begins: watch the calls of this thread, if it is one of the observed."""
        if nodeid in self.tests:
            self.left = CALLS
            sys.settrace(self._enter)

    def stop(self, nodeid: str) -> None:
        """It ended."""
        if nodeid in self.tests:
            sys.settrace(None)

    def record(self) -> dict[str, object]:
        """The `behaviour` so far."""
        return {"ev": "behaviour", "digest": self.digest.hexdigest(), "calls": self.calls}

    def _enter(self, frame: types.FrameType, event: str, _arg: object):
        if event != "call" or frame.f_code not in self.codes:
            return None
        if not self.left:
            sys.settrace(None)
            return None
        frame.f_trace_lines = False
        self.left -= 1
        self.calls += 1
        given = arguments(frame)
        self._note("call", frame.f_code.co_name, *map(reprs.stable, given))
        raised = "exception"

        def follow(frame: types.FrameType, event: str, arg: object):
            nonlocal raised
            if event == "exception":
                raised = reprs.type_name(arg[0])
            elif event == "return":
                # A trace function is told None both for `return None` and when an exception leaves.
                leaves = arg is None and frame.f_code.co_code[frame.f_lasti] not in _LEAVING
                end = ("raise", raised) if leaves else ("return", reprs.stable(arg))
                self._note(*end, *map(reprs.stable, given))
            return follow

        return follow

    def _note(self, *parts: str) -> None:
        for part in parts:
            data = part.encode("utf-8", "surrogatepass")
            self.digest.update(b"%d:" % len(data) + data)


def arguments(frame: types.FrameType) -> list[object]:
    """What a call was given. Shown again when it ends: a function may change what it was given."""
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    space = frame.f_locals
    return [space[name] for name in code.co_varnames[:count] if name in space]


def function_spans(tree: ast.Module) -> list[tuple[int, int, str]]:
    """(first line with decorators, last line, name) of every function."""
    spans = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            spans.append((first, node.end_lineno or node.lineno, node.name))
    return spans
