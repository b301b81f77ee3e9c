"""What do live objects say about a failure that its text does not?"""

from __future__ import annotations

import builtins
import difflib
import inspect
import re
import traceback
import types
from collections.abc import Callable, Iterable

from regreen_probe import lookup, reprs

NEAR = 5
"""How many close names are told."""
CUTOFF = 0.6
CAUSES = 5
"""Exceptions behind an exception that are looked at."""
ADDRESSES = ("sa", "address")
"""What functions that connect call the address; `socket.create_connection` and its copies do."""
MANY = 5_000
"""Names compared at most: closeness is quadratic."""

Steps = "list[tuple[types.FrameType, int]]"


def of(error: BaseException, steps: Steps, own: Callable[[object], bool]) -> dict[str, str]:
    """The `hints` of a failure.

    Args:
        error: what was raised.
        steps: the frames and lines of its traceback, outermost first.
        own: whether a file belongs to the project.
    """
    frames = [frame for frame, _ in steps]
    line = steps[-1][1] if steps else 0
    frame = frames[-1] if frames else None
    own_frame = next((f for f in reversed(frames) if own(f.f_code.co_filename)), frame)
    try:
        if isinstance(error, NameError):
            return _name(error, frame)
        if isinstance(error, AttributeError):
            return _attribute(error, frame, line)
        if isinstance(error, KeyError):
            return _key(error, own_frame, dict(steps).get(own_frame, line))
        if isinstance(error, ImportError):
            return _import(error)
        if isinstance(error, TypeError):
            return _call(error, frame, line)
        return _address(error)
    except BaseException:  # the project's own objects were asked, and may answer anything
        return {}


def near(name: str, candidates: Iterable[object]) -> str:
    """The closest of some names, the closest first, comma-separated."""
    names = [c for c in candidates if isinstance(c, str) and c != name and not c.startswith("@py_")]
    if not name.startswith("_"):
        names = [n for n in names if not n.startswith("__")]
    names = list(dict.fromkeys(names))[:MANY]
    close = difflib.get_close_matches(name, names, NEAR, CUTOFF)
    folded = [n for n in names if n.lower().replace("_", "") == name.lower().replace("_", "")]
    return ",".join(list(dict.fromkeys(folded + close))[:NEAR])


def named(name: str, candidates: Iterable[object]) -> dict[str, str]:
    """`name`, and `near` where anything is."""
    close = near(name, candidates)
    return {"name": name, "near": close} if close else {"name": name}


def _name(error: NameError, frame: types.FrameType | None) -> dict[str, str]:
    name = getattr(error, "name", None) or _quoted(str(error))
    if not name:
        return {}
    scope = [*frame.f_locals, *frame.f_globals, *dir(builtins)] if frame is not None else []
    found = named(name, scope)
    if not isinstance(error, UnboundLocalError):
        place = lookup.standard(name)
        if place:
            found["import"] = place
    return found


def _attribute(error: AttributeError, frame: types.FrameType | None, line: int) -> dict[str, str]:
    text = str(error)
    name = getattr(error, "name", None) or _quoted(text, last=True)
    if not name:
        return {}
    value, kind = getattr(error, "obj", None), None
    if not hasattr(error, "obj"):  # Python 3.9
        value, kind = lookup.holder(text, name, frame, line)
    if kind is not None:
        return {**named(name, dir(kind)), "type": reprs.type_name(kind)}
    if value is None and "NoneType" not in text:
        return {"name": name}
    found = {**named(name, dir(value)), "type": reprs.type_name(type(value))}
    if isinstance(value, types.ModuleType):
        found["module"] = value.__name__
    elif isinstance(value, type):
        found["type"] = "type[" + reprs.type_name(value) + "]"
    return found


def _key(error: KeyError, frame: types.FrameType | None, line: int) -> dict[str, str]:
    key = error.args[0] if error.args else None
    if not isinstance(key, str) or frame is None:
        return {}
    mapping = lookup.mapping_without(key, frame, line)
    return {"name": key} if mapping is None else named(key, list(mapping))


def _import(error: ImportError) -> dict[str, str]:
    text = str(error)
    if isinstance(error, ModuleNotFoundError):
        name = error.name or _quoted(text)
        parent, _, last = name.rpartition(".")
        found = named(last or name, lookup.modules(parent))
        found["name"] = name
        if parent and "near" in found:
            found["near"] = ",".join(parent + "." + n for n in found["near"].split(","))
        return found
    match = re.match(r"cannot import name '([^']+)' from (?:partially initialized module )?'([^']+)'", text)
    if match is None:
        return {}
    return named(match[1], lookup.exported(match[2]))


_KEYWORD = re.compile(r"unexpected keyword argument '([^']+)'")
_CALLED = re.compile(r"^([\w.<>]+)\(\) ")


def _call(error: TypeError, frame: types.FrameType | None, line: int) -> dict[str, str]:
    text = str(error)
    called = _CALLED.match(text)
    if called is None or frame is None:
        none = re.search(r"'(\w+)' object", text) or re.search(r": '(\w+)'", text)
        return {"type": none[1]} if none else {}
    function = lookup.function(called[1], frame, line)
    if function is None:
        return {}
    signature = inspect.signature(function)
    found = {"signature": reprs.clip(str(signature), reprs.REPR)}
    keyword = _KEYWORD.search(text)
    if keyword is not None:
        taken = [
            p.name for p in signature.parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]
        found.update(named(keyword[1], taken))
    return found


def _address(error: BaseException) -> dict[str, str]:
    """Where a connection was wanted: the exceptions of sockets do not say it."""
    one: BaseException | None = error
    for _ in range(CAUSES):
        if one is None:
            break
        if isinstance(one, OSError):
            for frame, _line in reversed(list(traceback.walk_tb(one.__traceback__))):
                for name in ADDRESSES:
                    value = frame.f_locals.get(name)
                    if isinstance(value, tuple) and [type(part) for part in value[:2]] == [str, int]:
                        return {"address": "%s %d" % value[:2]}
        one = one.__cause__ or one.__context__
    return {}


def _quoted(text: str, *, last: bool = False) -> str:
    names = re.findall(r"'([^']+)'", text)
    return names[-1 if last else 0] if names else ""
