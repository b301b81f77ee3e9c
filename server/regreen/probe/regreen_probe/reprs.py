"""How are live objects shown, without trusting their __repr__ and without giving secrets away?"""

from __future__ import annotations

import re
import reprlib
import types

REPR = 400
MESSAGE = 2000
HIDDEN = "<hidden>"
SECRET = re.compile(r"key|token|secret|passw", re.IGNORECASE)

_short = reprlib.Repr()
_short.maxlevel = 5
_short.maxtuple = _short.maxlist = _short.maxarray = _short.maxdict = 40
_short.maxset = _short.maxfrozenset = _short.maxdeque = 40
_short.maxstring = _short.maxlong = _short.maxother = REPR


def clip(text: str, size: int) -> str:
    """At most `size` characters, the end cut off."""
    return text if len(text) <= size else text[: size - 1] + "…"


def show(value: object) -> str:
    """A repr of at most REPR characters; of exact built-in containers only the first parts are asked."""
    try:
        if type(value) in _PLAIN:
            return clip(_short.repr(value), REPR)
        return clip(repr(value), REPR)
    except BaseException:  # the project's own code: it may hold a canary, too
        return unprintable(value)


def unprintable(value: object) -> str:
    """What stands for a value whose repr fails."""
    return f"<unprintable {type(value).__name__}>"


_PLAIN = (list, tuple, dict, set, frozenset, str, bytes, int)


def type_name(kind: type) -> str:
    """The qualified name of a type; built-in ones without their module."""
    try:
        module, name = str(kind.__module__), str(kind.__qualname__)
    except BaseException:  # the project's own code: it may hold a canary, too
        return "object"
    return name if module in ("builtins", "None") else f"{module}.{name}"


def text(error: BaseException) -> str:
    """The message of an exception, bounded."""
    try:
        return clip(str(error), MESSAGE)
    except BaseException:  # the project's own code: it may hold a canary, too
        return unprintable(error)


def named(names: "list[str]", space: "dict[str, object]") -> "list[list[str]]":
    """[[name, type, repr] …] of variables; modules are left out, secrets hidden."""
    shown = []
    for name in names:
        value = space[name]
        if name.startswith("@py_") or isinstance(value, types.ModuleType):
            continue
        what = HIDDEN if SECRET.search(name) else show(value)
        shown.append([name, clip(type_name(type(value)), REPR), what])
    return shown


_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")


def stable(value: object, depth: int = 6) -> str:
    """A bounded repr that is the same in another process: no addresses, sets in order, state for its lack of words."""
    try:
        return clip(_stable(value, depth), REPR)
    except BaseException:  # the project's own code: it may hold a canary, too
        return unprintable(value)


def _stable(value: object, depth: int) -> str:
    kind = type(value)
    if kind in _BRACKETS:
        if not value:
            return repr(value)
        left, right = _BRACKETS[kind]
        if depth == 0:
            return left + "…" + right
        if kind is dict:
            pairs = list(value.items())[:ITEMS]
            parts = [_stable(k, depth - 1) + ": " + _stable(v, depth - 1) for k, v in pairs]
        else:
            parts = [_stable(part, depth - 1) for part in list(value)[:ITEMS]]
        if kind in (set, frozenset):
            parts.sort()
        if len(value) > ITEMS:
            parts.append(f"… {len(value) - ITEMS} more")
        return left + ", ".join(parts) + ("," if kind is tuple and len(value) == 1 else "") + right
    if kind is float:
        return repr(float(f"{value:.12g}"))  # what another order of the same sum would give, too
    if kind.__repr__ is object.__repr__:
        state = getattr(value, "__dict__", None)
        return type_name(kind) + (_stable(state, depth - 1) if depth and type(state) is dict else "")
    return _ADDRESS.sub("0x", clip(repr(value), REPR))


_BRACKETS = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
    dict: ("{", "}"),
}
ITEMS = 40
"""Of a container."""
