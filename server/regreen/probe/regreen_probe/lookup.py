"""Where is the live object that an exception speaks of?

Found in the variables of frames only, without running code of the project.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import linecache
import os
import pkgutil
import sys
import sysconfig
import types
from collections.abc import Iterator, Mapping

MANY = 200
"""Variables of one frame that are looked at."""
WITH_NAMES = (
    "collections", "dataclasses", "functools", "itertools", "datetime", "pathlib", "math", "decimal", "fractions",
    "typing", "enum", "contextlib", "abc", "operator", "statistics", "collections.abc", "json", "re", "copy",
    "random", "string", "textwrap", "time", "uuid", "io", "os", "os.path", "sys", "types", "heapq", "bisect",
    "hashlib", "tempfile", "shutil", "subprocess", "threading", "asyncio", "concurrent.futures", "logging",
    "warnings", "inspect", "struct", "zoneinfo", "urllib.parse", "unittest.mock", "unicodedata", "secrets", "html",
    "glob", "fnmatch", "base64", "csv", "queue", "weakref", "traceback", "pprint", "numbers", "calendar",
)  # fmt: skip
"""Modules whose public names are worth an import, the likeliest first."""


def standard(name: str) -> str:
    """Where the standard library has a name: "math", "collections:OrderedDict"; "" where it does not."""
    if name in ("os", "re", "io") or is_standard(name):
        return name
    if name.startswith("_"):
        return ""
    for place in WITH_NAMES:
        try:
            module = importlib.import_module(place)
        except ImportError:
            continue  # not in this version
        public = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
        value = vars(module).get(name)
        if name in public and not isinstance(value, types.ModuleType) and hasattr(module, name):
            return f"{place}:{name}"
    return ""


def is_standard(name: str) -> bool:
    """Whether this is a top-level module of the standard library."""
    known = getattr(sys, "stdlib_module_names", None)
    if known is not None:
        return name in known and not name.startswith("_")
    if not name.isidentifier() or name.startswith("_"):
        return False
    if name in sys.builtin_module_names:
        return True
    base = os.path.join(sysconfig.get_path("stdlib"), name)
    return os.path.isfile(base + ".py") or os.path.isfile(os.path.join(base, "__init__.py"))


def holder(text: str, name: str, frame: types.FrameType | None, line: int) -> tuple[object, type | None]:
    """What lacks an attribute, by the message of an AttributeError: (object, None), or only its (None, type)."""
    if frame is None:
        return None, None
    quoted = text.split("'")
    kind = quoted[1] if len(quoted) > 1 else ""

    def fits(value: object) -> bool:
        if isinstance(value, types.ModuleType):
            return text.startswith("module ") and value.__name__ == kind
        if isinstance(value, type):
            return text.startswith("type object ") and value.__name__ == kind
        return type(value).__name__ == kind

    spaces = {**frame.f_globals, **frame.f_locals}
    asked = (n for n in _nodes(frame, line) if isinstance(n, ast.Attribute) and n.attr == name)
    named = (_resolve(_dotted(node.value), spaces) for node in asked)
    for value in [*named, *_values(frame)]:
        if fits(value) and name not in dir(value):
            return value, None
    for space in _spaces(frame):
        for value in list(space.values()):
            if isinstance(value, type) and value.__name__ == kind and name not in dir(value):
                return None, value
    return None, None


def mapping_without(key: str, frame: types.FrameType, line: int) -> Mapping[object, object] | None:
    """The mapping that was asked for `key`: a subscripted name of this line, else any that lacks the key."""
    named = {v: i for i, v in enumerate(_subscripted(frame, line))}
    spaces = {**frame.f_globals, **frame.f_locals}
    candidates: list[tuple[int, Mapping[object, object]]] = []
    for dotted, order in named.items():
        value = _resolve(dotted, spaces)
        if isinstance(value, dict):
            candidates.append((order, value))
    owner = frame.f_locals.get("self")
    inner = list(vars(owner).values()) if hasattr(owner, "__dict__") else []
    candidates += [(MANY, v) for v in [*frame.f_locals.values(), *inner][:MANY] if isinstance(v, dict)]
    fitting = [c for c in candidates if key not in c[1] and any(isinstance(k, str) for k in c[1])]
    return min(fitting, key=lambda c: c[0])[1] if fitting else None


def _subscripted(frame: types.FrameType, line: int) -> Iterator[str]:
    """The dotted names that are subscripted, or asked by a method, in the statement at a line."""
    for node in _nodes(frame, line):
        value = None
        if isinstance(node, ast.Subscript):
            value = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            value = node.func.value
        dotted = _dotted(value)
        if dotted:
            yield dotted


def _nodes(frame: types.FrameType, line: int) -> Iterator[ast.expr]:
    """The expressions at a line of a frame's file."""
    try:
        tree = ast.parse("".join(linecache.getlines(frame.f_code.co_filename)))
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and node.lineno <= line <= (node.end_lineno or line):
            yield node


def _dotted(node: ast.expr | None) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = _dotted(node.value)
        return f"{before}.{node.attr}" if before else ""
    return ""


def _resolve(dotted: str, space: Mapping[str, object]) -> object:
    first, *rest = dotted.split(".")
    value = space.get(first)
    for name in rest:
        value = inspect.getattr_static(value, name, None)
    return value


def modules(parent: str) -> list[str]:
    """The modules that can be imported from a package, or at the top ("")."""
    if parent:
        path = getattr(sys.modules.get(parent), "__path__", [])
        return [m.name for m in pkgutil.iter_modules(path)]
    names = [m.name for m in pkgutil.iter_modules()]
    return names + list(getattr(sys, "stdlib_module_names", ()))


def exported(module: str) -> list[str]:
    """What can be imported from a module."""
    loaded = sys.modules.get(module)
    if loaded is None:
        return []
    return [*vars(loaded), *(m.name for m in pkgutil.iter_modules(getattr(loaded, "__path__", [])))]


def function(name: str, frame: types.FrameType, line: int) -> object:
    """The function that a TypeError names: `f`, `C.method` or, before Python 3.10, just `method`.

    None when it is not found, or when several could be meant.
    """
    owner, _, last = name.rpartition(".")
    owner = owner.rpartition(".")[2].replace("<locals>", "")
    spaces = {**frame.f_globals, **frame.f_locals}
    for dotted in _called(frame, line):
        value = _resolve(dotted, spaces)
        value = inspect.getattr_static(value, last, None) if isinstance(value, type) else value
        value = getattr(value, "__func__", value)
        if inspect.isfunction(value) and value.__name__ == last:
            return value
    if last == "__init__" and not owner:
        return None
    found = [f for space in _spaces(frame) for f in _in_space(space, owner, last)]
    return found[0] if found and all(f is found[0] for f in found) else None


def _called(frame: types.FrameType, line: int) -> Iterator[str]:
    for node in _nodes(frame, line):
        if isinstance(node, ast.Call):
            dotted = _dotted(node.func)
            if dotted:
                yield dotted


def _spaces(frame: types.FrameType) -> Iterator[Mapping[str, object]]:
    """What the names of a frame mean, and then what is in the modules that it knows."""
    yield frame.f_locals
    yield frame.f_globals
    for value in list(frame.f_globals.values()):
        if isinstance(value, types.ModuleType) and not is_standard(value.__name__.partition(".")[0]):
            yield vars(value)


def _in_space(space: Mapping[str, object], owner: str, last: str) -> Iterator[object]:
    for value in list(space.values()):
        if inspect.isfunction(value):
            if not owner and value.__name__ == last:
                yield value
            continue
        kind = value if isinstance(value, type) else type(value)
        if kind.__module__ == "builtins" or (owner and kind.__name__ != owner):
            continue
        method = inspect.getattr_static(kind, last, None)
        method = getattr(method, "__func__", method)
        if inspect.isfunction(method):
            yield method


def _values(frame: types.FrameType) -> Iterator[object]:
    yield from list(frame.f_locals.values())[:MANY]
    yield from list(frame.f_globals.values())
