"""What is in force for one folder, given what each source sets?

Sources, later ones win: defaults, pyproject `[tool.regreen]`, initializationOptions, the client's
configuration, the command line. What a repository contains may only restrict Regreen (`Setting.repository`).
"""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from regreen.settings.schema import SCHEMA, Settings
from regreen.settings.setting import Setting

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]


def merge(
    base: Settings, values: Mapping[str, Any], *, from_repository: bool
) -> tuple[Settings, tuple[str, ...]]:
    """Lay `values` over `base`.

    Args:
        base: what is in force so far.
        values: settings by key ("autoHeal.onSave") or nested as JSON objects; null means "not set".
        from_repository: the values come from a file in the repository, so they may only restrict.

    Returns:
        The settings, and one sentence for each value that was not used and why (unknown, bad type, out of
        bounds, or not the repository's to set).
    """
    result, complaints = base, []
    for key, value in _flat(values, ""):
        setting = _BY_KEY.get(key)
        if setting is None:
            near = difflib.get_close_matches(key, _BY_KEY, n=1)
            hint = f" Did you mean `regreen.{near[0]}`?" if near else ""
            complaints.append(f"There is no setting `regreen.{key}`; it is ignored.{hint}")
            continue
        complaint = _bad_value(setting, value)
        if not complaint and from_repository:
            complaint = _not_the_repositorys(setting, value, getattr(result, setting.field))
        if complaint:
            complaints.append(f"`regreen.{key}` {complaint}")
        else:
            result = replace(result, **{setting.field: _python_value(setting, value)})
    return result, tuple(complaints)


def from_pyproject(text: str) -> tuple[Mapping[str, Any], str]:
    """The table `[tool.regreen]` of a pyproject.toml, and one sentence when the file is not valid TOML."""
    try:
        table = tomllib.loads(text).get("tool", {}).get("regreen", {})
    except (tomllib.TOMLDecodeError, AttributeError) as error:
        return {}, f"pyproject.toml cannot be read, so its `[tool.regreen]` is ignored: {error}."
    return (
        (table, "") if isinstance(table, dict) else ({}, "`[tool.regreen]` in pyproject.toml is not a table.")
    )


def without_defaults(values: Mapping[str, Any]) -> dict[str, Any]:
    """The flat settings that differ from the schema's defaults.

    Some clients answer with every setting they know, set or not; a default from them is not a choice, and
    must not lift what a repository restricted.
    """
    return {key: v for key, v in _flat(values, "") if key not in _BY_KEY or v != _BY_KEY[key].default}


def _flat(values: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        key = f"{prefix}{name}"
        if isinstance(value, Mapping) and key not in _BY_KEY:
            yield from _flat(value, f"{key}.")
        elif value is not None:
            yield key, value


def _bad_value(setting: Setting, value: Any) -> str:
    """Why the value does not fit, as the rest of a sentence; empty when it does."""
    kept = f"{json.dumps(value, default=str)} is ignored."
    if setting.choices:
        if value not in [name for name, _ in setting.choices]:
            wanted = " or ".join(f'"{name}"' for name, _ in setting.choices)
            return f"must be {wanted}; {kept}"
    elif not _TYPES[setting.type](value):
        return f"must be {_NAMES[setting.type]}; {kept}"
    if setting.minimum is not None and not value >= setting.minimum:
        return f"must be at least {setting.minimum:g}; {kept}"
    if setting.maximum is not None and not value <= setting.maximum:
        return f"must be at most {setting.maximum:g}; {kept}"
    if setting.problem is not None and (why := setting.problem(value)):
        return f"{why}; {kept}"
    return ""


def _not_the_repositorys(setting: Setting, value: Any, current: Any) -> str:
    if setting.repository == "never":
        return "cannot be set by a file in the repository; it is ignored."
    if setting.repository == "free":
        return ""
    if setting.choices:
        order = [name for name, _ in setting.choices]
        loosens = order.index(value) > order.index(current)
    else:
        loosens = value > current  # numbers, and False < True
    return "can only be restricted by a file in the repository; it is ignored." if loosens else ""


def _python_value(setting: Setting, value: Any) -> Any:
    if setting.type == "array":
        return tuple(value)
    return int(value) if setting.type == "integer" else value


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_BY_KEY = {setting.key: setting for setting in SCHEMA}
_TYPES: dict[str, Callable[[Any], bool]] = {
    "boolean": lambda v: isinstance(v, bool),
    "string": lambda v: isinstance(v, str),
    "number": _is_number,
    "integer": lambda v: _is_number(v) and v == v // 1,
    "object": lambda v: isinstance(v, Mapping),
    "array": lambda v: isinstance(v, (list, tuple)) and all(isinstance(item, str) for item in v),
}
_NAMES = {
    "boolean": "true or false",
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "object": "an object",
    "array": "a list of texts",
}

assert {s.field for s in SCHEMA} == {f.name for f in fields(Settings)}  # noqa: S101 — kept in step at import
