"""Can a patch be had by giving live functions other code, and which?

It can when it changes nothing but the body of one outermost function that has not run yet: then no value that is
there already depends on the old body, and every later call finds the new one. (`__code__` of a function is
writable: Python data model, "User-defined functions".)
"""

from __future__ import annotations
import __future__

import ast
import gc
import importlib.util
import types
import warnings
from collections.abc import Mapping

from regreen_probe.markers import Table

Key = "tuple[str, int, str]"  # file, first line with decorators, name

_KIND = 0x04 | 0x08 | 0x20 | 0x80 | 0x200
"""Flags of code objects: *args, **kwargs, generator, coroutine, asynchronous generator (inspect.CO_…)."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class NotSwappable(Exception):
    """The patch needs a run of its own; the message says why."""


class Swap:
    """New code for live functions."""

    def __init__(self, functions: list[types.FunctionType], code: types.CodeType) -> None:
        self.functions = functions
        self.code = code
        self.before = [(function, function.__code__) for function in functions]

    def apply(self) -> None:
        """Give the functions the new code."""
        for function in self.functions:
            function.__code__ = self.code

    def undo(self) -> None:
        """Give the functions the code they had."""
        for function, code in self.before:
            function.__code__ = code


class _File:
    """A module of the project as it was loaded."""

    def __init__(self, path: str, table: Table) -> None:
        with open(path, "rb") as file:
            self.text = importlib.util.decode_source(file.read())
        self.lines = self.text.splitlines(keepends=True) if "\f" not in self.text else _lines(self.text)
        self.tree = ast.parse(self.text)
        self.ran = frozenset(table.executed())
        self.flags = 0
        for node in self.tree.body:
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                for name in node.names:
                    self.flags |= getattr(__future__, name.name).compiler_flag


class Functions:
    """The functions of the project that are alive in this process.

    Args:
        tables: by file, what has run of it so far.
    """

    def __init__(self, tables: Mapping[str, Table]) -> None:
        self.tables = dict(tables)
        self.files: dict[str, _File] = {}
        self.alive: dict[Key, list[types.FunctionType]] = {}
        self.suspended: set[Key] = set()
        for thing in gc.get_objects():
            if type(thing) is types.FunctionType:
                if thing.__code__.co_filename in self.tables:
                    self.alive.setdefault(_key(thing.__code__), []).append(thing)
            else:
                for name in ("gi_code", "cr_code", "ag_code"):
                    code = getattr(thing, name, None) if type(thing) in _SUSPENDABLE else None
                    if code is not None and code.co_filename in self.tables:
                        self.suspended.add(_key(code))

    def look_at(self, path: str) -> None:
        """Remember what of a file has run until now."""
        if path in self.tables and path not in self.files:
            self.files[path] = _File(path, self.tables[path])

    def plan(self, path: str, text: str) -> list[Swap]:
        """What to swap so that the file is as if `text` had been imported.

        Raises:
            NotSwappable: that cannot be had by swapping.
        """
        self.look_at(path)
        if path not in self.files:
            raise NotSwappable("the file was not imported, or not by its import statement alone")
        file = self.files[path]
        new = _lines(text.replace("\r\n", "\n").replace("\r", "\n"))
        chain, function, delta = _changed_function(file, new)
        first = min([function.lineno, *(d.lineno for d in function.decorator_list)])
        last = function.end_lineno or function.lineno
        if any(function.lineno <= line <= last for line in file.ran):
            raise NotSwappable(f"`{function.name}` ran while the tests were imported")
        node, code = _compiled(new[first - 1 : last + delta], chain, first, path, file.flags)
        if _header(node) != _header(function):
            raise NotSwappable("a signature, decorator, annotation or docstring changes")
        live = self.alive.get((path, first, function.name))
        if not live:
            raise NotSwappable(f"no live function is `{function.name}`")
        return self._swaps(live, code)

    def _swaps(self, live: list[types.FunctionType], code: types.CodeType) -> list[Swap]:
        """The functions themselves; those made by running them do not exist yet, as they never ran."""
        for function in live:
            old = function.__code__
            if _key(old) in self.suspended:
                raise NotSwappable("it is suspended in the middle")
            if old.co_freevars != code.co_freevars:
                raise NotSwappable("it closes over other names")
            if old.co_flags & _KIND != code.co_flags & _KIND:
                raise NotSwappable("it becomes another kind of function")
            if (old.co_argcount, old.co_kwonlyargcount) != (code.co_argcount, code.co_kwonlyargcount):
                raise NotSwappable("it takes other arguments")
        return [Swap(live, code)]


_SUSPENDABLE = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)


def _key(code: types.CodeType) -> Key:
    return (code.co_filename, code.co_firstlineno, code.co_name)


def _lines(text: str) -> list[str]:
    """The lines as the compiler counts them: only a line feed ends one."""
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _changed_function(file: _File, new: list[str]) -> tuple[list[str], ast.AST, int]:
    """The classes around the one function that holds all changed lines in its body, the function, lines gained."""
    old = file.lines
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    after = 0
    while after < min(len(old), len(new)) - same and old[-1 - after] == new[-1 - after]:
        after += 1
    first, last = same + 1, len(old) - after  # 1-based; `last` is before `first` for an insertion
    chain: list[str] = []
    body = file.tree.body
    while True:
        around = [
            node for node in body if _first(node) <= first and (node.end_lineno or 0) >= max(last, same)
        ]
        node = around[0] if around else None
        if isinstance(node, ast.ClassDef):
            chain.append(node.name)
            body = node.body
        elif isinstance(node, _FUNCTIONS) and node.body[0].lineno <= first:
            return chain, node, len(new) - len(old)
        else:
            raise NotSwappable("more than the body of one function changes")


def _first(node: ast.AST) -> int:
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])


def _header(function) -> tuple[object, ...]:
    """All of a function that is evaluated when it is defined."""
    return (
        type(function),
        function.name,
        [ast.dump(decorator) for decorator in function.decorator_list],
        ast.dump(function.args),
        function.returns and ast.dump(function.returns),
        [ast.dump(parameter) for parameter in getattr(function, "type_params", ())],
        ast.get_docstring(function, clean=False),
    )


def _compiled(lines: list[str], chain: list[str], first: int, path: str, flags: int):
    """The function's node and code, as they are in the whole file: names are mangled by the classes around it."""
    indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    if len(indent) < len(chain) or (indent and not chain):
        raise NotSwappable("it is defined inside of another statement")
    heads = [f"{indent[:depth]}class {name}:\n" for depth, name in enumerate(chain)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse("".join([*heads, *lines]))
            ast.increment_lineno(tree, first - 1 - len(chain))
            code = compile(tree, path, "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotSwappable(f"it cannot be compiled alone: {error}") from error
    body = tree.body
    for name in chain:
        (around,) = body
        body = around.body
        code = next(c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == name)
    if len(body) != 1 or not isinstance(body[0], _FUNCTIONS):
        raise NotSwappable("it becomes more than one statement")
    node = body[0]
    (code,) = (c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == node.name)
    return node, code
