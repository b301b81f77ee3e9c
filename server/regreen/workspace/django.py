"""Which databases of this machine do a Django project's settings name?

The settings are read, never run: a literal, or the default that stands beside the name of an environment variable.
What is computed otherwise is not found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from regreen.errors import UnreadableText
from regreen.settings import services
from regreen.source import Node, SourceFile, parse

MOST_BYTES = 1_000_000
MOST_FILES = 8
"""How many settings files may build on each other."""

_NAMED = re.compile(r"""DJANGO_SETTINGS_MODULE["']?\s*[,=:]\s*["']?([\w.]+)""")
_NAMING = ("pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg", "manage.py")
_PORTS = {"postgresql": 5432, "postgis": 5432, "mysql": 3306, "oracle": 1521}
_SOCKETS = {"postgresql": ".s.PGSQL.{}", "postgis": ".s.PGSQL.{}"}


def databases(folder: Path) -> Mapping[str, str]:
    """The address of each database of this machine: alias → as the setting `isolation.services` has it.

    Args:
        folder: the project's. Where nothing in it names a settings module, there are none.
    """
    found: dict[str, str] = {}
    for file in _settings_files(folder):
        for alias, options in _entries(file):
            address = _address(options)
            if address:
                found.setdefault(alias, address)
    return found


def _settings_files(folder: Path) -> Iterator[SourceFile]:
    """The settings module, then what it builds on by `from .base import *`."""
    named = next((match[1] for name in _NAMING if (match := _NAMED.search(_text(folder / name)))), "")
    waiting = (
        [path for base in (folder, folder / "src") for path in _module(base, named)][:1] if named else []
    )
    seen: set[Path] = set()
    while waiting and len(seen) < MOST_FILES:
        path = waiting.pop(0)
        if path in seen:
            continue
        seen.add(path)
        try:
            file = parse(path, _text(path).encode())
        except UnreadableText:
            continue
        yield file
        for match in re.finditer(r"^from \.(\w+) import \*", file.text, re.MULTILINE):
            waiting += _module(path.parent, match[1])


def _module(base: Path, name: str) -> list[Path]:
    path = base.joinpath(*name.split("."))
    return [one for one in (path.with_suffix(".py"), path / "__init__.py") if one.is_file()]


def _text(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(MOST_BYTES)
    except OSError:
        return ""


def _entries(file: SourceFile) -> Iterator[tuple[str, dict[str, str]]]:
    """Each database of `DATABASES = {…}` with those of its options that can be read."""
    for statement in file.root.named:
        inner = statement.named[0] if statement.kind == "expression_statement" and statement.named else None
        left = inner.field("left") if inner is not None and inner.kind == "assignment" else None
        right = inner.field("right") if inner is not None else None
        if left is None or right is None or left.text != "DATABASES":
            continue
        for alias, options in _pairs(right):
            yield alias, {key: value for key, node in _pairs(options) if (value := _value(node)) is not None}


def _pairs(node: Node) -> Iterator[tuple[str, Node]]:
    for pair in node.named if node.kind == "dictionary" else ():
        key, value = pair.field("key"), pair.field("value")
        name = _value(key) if key is not None else None
        if name is not None and value is not None:
            yield name, value


def _value(node: Node) -> str | None:
    """The text of a literal, or of the default in `os.environ.get("HOST", "localhost")`; None for anything else."""
    if node.kind == "integer":
        return node.text
    if node.kind == "string":
        plain = all(child.kind != "interpolation" for child in node.children)
        return (
            "".join(child.text for child in node.children if child.kind == "string_content")
            if plain
            else None
        )
    listed = node.field("arguments") if node.kind == "call" else None
    if listed is None or not listed.named:
        return None
    default = next(
        (
            one.field("value")
            for one in listed.named
            if one.kind == "keyword_argument" and one.text.startswith("default")
        ),
        listed.named[1] if len(listed.named) > 1 else None,
    )
    return _value(default) if default is not None and default.kind != "call" else None


def _address(options: Mapping[str, str]) -> str:
    """Where a database is reached; "" when it is a file or on another machine."""
    engine = options.get("ENGINE", "").rpartition(".")[2]
    port = options.get("PORT") or str(_PORTS.get(engine, ""))
    host = options.get("HOST", "localhost") or "localhost"
    if engine not in _PORTS or not port.isdecimal():
        return ""
    if host.startswith("/"):
        return f"{host}/{_SOCKETS[engine].format(port)}" if engine in _SOCKETS else host
    return services.text_of(host, int(port))
