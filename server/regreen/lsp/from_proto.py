"""What do the client's words mean in ours?"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types as t
from pygls import uris

QUICK_FIX = "quickfix.regreen"
FIX_ALL = "source.fixAll.regreen"


def path(uri: str) -> Path | None:
    """The absolute path of a file URI, None for any other document."""
    if not uri.startswith("file:"):
        return None
    name = uris.to_fs_path(uri)
    return Path(os.path.normpath(name)) if name else None


def lines(span: t.Range) -> tuple[int, int]:
    """First and last 0-based line of a range; an end at the beginning of a line does not reach it."""
    last = span.end.line
    if span.end.character == 0 and last > span.start.line:
        last -= 1
    return span.start.line, last


def wants(kind: str, only: Sequence[str | t.CodeActionKind] | None) -> bool:
    """Whether a request for these kinds asks for ours; without kinds, only quick fixes are meant.

    `source.fixAll.regreen` must be asked for by that very name: who fixes everything on save with
    `source.fixAll` did not ask for us.
    """
    if only is None:
        return kind == QUICK_FIX
    names = [name.value if isinstance(name, t.CodeActionKind) else name for name in only]
    if kind == FIX_ALL:
        return FIX_ALL in names
    return any(kind == name or kind.startswith(f"{name}.") or not name for name in names)


def argument(arguments: Sequence[Any] | None) -> Mapping[str, Any]:
    """The one object that a command takes; empty when there is none."""
    first = arguments[0] if arguments else None
    return first if isinstance(first, Mapping) else {}


def text(argument: Mapping[str, Any], key: str) -> str | None:
    """A text of a command's argument, None when it is missing or something else."""
    value = argument.get(key)
    return value if isinstance(value, str) and value else None


def place(argument: Mapping[str, Any]) -> Path | None:
    """The file or folder that a command's argument names by `uri` or `root`."""
    if (uri := text(argument, "uri")) is not None:
        return path(uri)
    root = text(argument, "root")
    return Path(os.path.normpath(root)) if root is not None else None


def settings(answer: Any) -> Mapping[str, Any]:
    """The settings in a `workspace/configuration` answer or a `didChangeConfiguration` notification."""
    plain = _plain(answer)
    if not isinstance(plain, Mapping):
        return {}
    inner = plain.get("regreen", plain)
    return inner if isinstance(inner, Mapping) else {}


def _plain(value: Any) -> Any:
    """JSON objects as mappings, whatever the library made of them."""
    if hasattr(value, "_asdict"):
        return {key: _plain(item) for key, item in value._asdict().items()}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
