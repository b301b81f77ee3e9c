"""From which file of a folder does pytest take its options, and what do they say?

The rules are pytest's own (`_pytest/config/findpaths.py`): in each folder the first of `CANDIDATES` that has
its section counts; `pytest.toml` and `pytest.ini` count even when empty. A file that cannot be parsed counts
too, so that the run shows pytest's own error instead of quietly using other options.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import iniconfig

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

Options = Mapping[str, Any]
"""Option → value as written: strings and lists of them, from native TOML tables also numbers and booleans."""


def config_file(folder: Path) -> Path | None:
    """The file in `folder` itself that pytest would take its options from, None when there is none."""
    for name in CANDIDATES:
        path = folder / name
        if path.is_file() and options(path) is not None:
            return path
    return None


def options(path: Path) -> Options | None:
    """What a configuration file says to pytest; None when it says nothing and therefore does not count."""
    try:
        return CANDIDATES[path.name](path)
    except (ValueError, iniconfig.ParseError, AttributeError, TypeError, OSError):
        return {}


def _own_toml(path: Path) -> Options | None:
    table: Options = _toml(path).get("pytest", {})
    return table


def _own_ini(path: Path) -> Options | None:
    return _section(path, "pytest") or {}


def _tox(path: Path) -> Options | None:
    return _section(path, "pytest")


def _setup_cfg(path: Path) -> Options | None:
    return _section(path, "tool:pytest")


def _pyproject(path: Path) -> Options | None:
    table: Options = _toml(path).get("tool", {}).get("pytest", {})
    native = {key: value for key, value in table.items() if key != "ini_options"}
    return native or table.get("ini_options")


def _toml(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    return document


def _section(path: Path, name: str) -> Options | None:
    sections = iniconfig.IniConfig(str(path)).sections
    return dict(sections[name]) if name in sections else None


CANDIDATES: Mapping[str, Callable[[Path], Options | None]] = {
    "pytest.toml": _own_toml,
    ".pytest.toml": _own_toml,
    "pytest.ini": _own_ini,
    ".pytest.ini": _own_ini,
    "pyproject.toml": _pyproject,
    "tox.ini": _tox,
    "setup.cfg": _setup_cfg,
}
"""The files pytest knows by name, in its order of precedence within one folder."""
