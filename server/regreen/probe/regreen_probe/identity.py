"""Is the machinery that judges the tests still the one that was imported?

Before anything of the project runs, the functions, methods and properties of pytest, pluggy, unittest and the
builtins are remembered by identity; what was replaced since then is told with the verdict. A hurdle and no proof: in
one process, code can do anything, also undo it in time.
"""

from __future__ import annotations

import builtins
import sys
import types
import unittest  # noqa: F401 — imported before it is remembered

_JUDGES = frozenset({"_pytest", "pytest", "pluggy", "unittest"})

_known: list[tuple[object, str, object, str]] = []


def remember() -> None:
    """Remember what is there, once; a zygote does it for all its forks."""
    if _known:
        return
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in _JUDGES or not isinstance(module, types.ModuleType):
            continue
        for key, value in list(vars(module).items()):
            if isinstance(value, types.FunctionType) and value.__module__ == name:
                _known.append((module, key, value, f"{name}.{key}"))
                _known.append((value, "__code__", value.__code__, f"{name}.{key}"))
            elif isinstance(value, type) and value.__module__ == name:
                _known.append((module, key, value, f"{name}.{key}"))
                _of_class(value, f"{name}.{key}")
    _known.extend(
        (builtins, key, value, f"builtins.{key}")
        for key, value in vars(builtins).items()
        if key != "_"  # the interactive interpreter's last value
    )


def _of_class(owner: type, name: str) -> None:
    for key, value in list(vars(owner).items()):
        function = getattr(value, "__func__", value)
        if isinstance(function, types.FunctionType):
            _known.append((owner, key, value, f"{name}.{key}"))
            _known.append((function, "__code__", function.__code__, f"{name}.{key}"))
        elif isinstance(value, property):
            _known.append((owner, key, value, f"{name}.{key}"))


def replaced() -> list[str]:
    """The names of what is no longer what it was, sorted."""
    return sorted(
        {
            name
            for owner, key, value, name in _known
            if (owner.__code__ if key == "__code__" else owner.__dict__.get(key)) is not value
        }
    )
