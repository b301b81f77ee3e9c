"""Which settings are there, what do they mean, and what is in force for one folder?

This is the only place where a setting is written down. package.json, docs/settings.md and the editors'
snippets are generated from `SCHEMA` (see `generated`), and a test compares them.

Sources, later ones win: defaults, pyproject `[tool.regreen]`, initializationOptions, the client's
configuration, the command line. What a repository contains may only restrict Regreen (`repository` below).
"""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from regreen.settings import services

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

Repository = Literal["never", "restrict", "free"]
"""May a file in the repository set it? `restrict`: only to a lower number or the stricter choice."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the schema.

    Args:
        key: as the user writes it, without the `regreen.` in front.
        field: the attribute of `Settings` that holds it.
        type: JSON type: "boolean" | "string" | "number" | "integer" | "array".
        default: the JSON value when nobody sets it.
        description: one or two sentences, Markdown.
        choices: allowed values with their meaning, strictest first; empty when free.
        scope: VS Code's scope ("resource", "machine-overridable", "window"; "machine": not in a folder's own settings).
        repository: what a file in the repository may do with it.
        minimum, maximum: bounds of a number.
        problem: why a value of the right type cannot be used, as the rest of a sentence; "" when it can.
    """

    key: str
    field: str
    type: str
    default: Any
    description: str
    choices: tuple[tuple[str, str], ...] = ()
    scope: str = "resource"
    repository: Repository = "never"
    minimum: float | None = None
    maximum: float | None = None
    problem: Callable[[Any], str] | None = None


SCHEMA: tuple[Setting, ...] = (
    Setting("enable", "enable", "boolean", True, "Run Regreen in this folder.", repository="restrict"),
    Setting(
        "runTests",
        "run_tests",
        "string",
        "onSave",
        "When tests run by themselves.",
        choices=(("manual", "only when you ask"), ("onSave", "after a save, the tests that it affects")),
        repository="restrict",
    ),
    Setting(
        "interpreter",
        "interpreter",
        "string",
        "",
        "The Python that runs your tests. Empty: found automatically, `regreen doctor` explains how.",
        scope="machine-overridable",
    ),
    Setting(
        "autoHeal.onSave",
        "auto_heal_on_save",
        "boolean",
        False,
        "Apply a verified fix of at most three lines by itself after a save by hand.",
        repository="restrict",
    ),
    Setting(
        "heal.maxSeconds",
        "heal_seconds",
        "number",
        60,
        "How long one heal may search, in seconds.",
        repository="restrict",
        minimum=1,
        maximum=3600,
    ),
    Setting(
        "heal.maxCandidates",
        "heal_candidates",
        "integer",
        3000,
        "How many candidate patches one heal may try.",
        repository="restrict",
        minimum=1,
        maximum=100_000,
    ),
    Setting(
        "heal.offers",
        "heal_offers",
        "integer",
        3,
        "How many verified fixes to offer for one red test.",
        repository="restrict",
        minimum=1,
        maximum=3,
    ),
    Setting(
        "heal.without",
        "heal_without",
        "array",
        [],
        'Families of repair templates that are not tried, for example `["guards"]`; `regreen heal --json` names each '
        "candidate's as the first part of its `template`.",
        repository="free",
    ),
    Setting(
        "tests.never",
        "tests_never",
        "array",
        [],
        "Node ids (or their beginnings) that never run by themselves.",
        repository="free",
    ),
    Setting(
        "tests.slowMarkers",
        "slow_markers",
        "array",
        ["slow", "integration", "e2e", "db", "network"],
        "Tests with one of these markers never run by themselves.",
        repository="free",
    ),
    Setting(
        "tests.secondsPerTest",
        "seconds_per_test",
        "number",
        30,
        "A test that runs longer is stopped and counts as hanging, in seconds.",
        repository="restrict",
        minimum=1,
        maximum=3600,
    ),
    Setting(
        "isolation.level",
        "isolation",
        "string",
        "auto",
        "How test runs are kept from doing harm. `regreen doctor` tells what this machine can do.",
        choices=(
            ("full", "run tests only where nothing of yours can be reached"),
            ("auto", "the strongest that this machine allows"),
            ("none", "run tests unconfined, as you do yourself"),
        ),
        repository="restrict",
    ),
    Setting(
        "isolation.network",
        "network",
        "boolean",
        False,
        "Let test runs use the network. Without it they have a loopback of their own.",
        repository="restrict",
    ),
    Setting(
        "isolation.services",
        "services",
        "array",
        [],
        "Services of this machine that test runs may reach: `host:port`, `port`, or the absolute path of a Unix socket, "
        'for example `["127.0.0.1:5432", "localhost:6379"]`.',
        problem=services.problem,
    ),
    Setting(
        "isolation.readable",
        "readable",
        "array",
        [],
        "Files and folders outside of the workspace that test runs may read.",
    ),
    Setting(
        "isolation.memoryMegabytes",
        "memory_megabytes",
        "number",
        4000,
        "How much memory the processes of one test run may take together.",
        repository="restrict",
        minimum=100,
        maximum=1_000_000,
    ),
    Setting(
        "isolation.processes",
        "processes",
        "integer",
        256,
        "How many processes and threads one test run may have.",
        repository="restrict",
        minimum=8,
        maximum=100_000,
    ),
    Setting(
        "isolation.diskMegabytes",
        "disk_megabytes",
        "number",
        1000,
        "How much one test run may write.",
        repository="restrict",
        minimum=1,
        maximum=1_000_000,
    ),
    Setting(
        "isolation.modelVariables",
        "model_variables",
        "array",
        [],
        "Names of environment variables that runs of a language model's patches see besides those that programs need "
        "(`PATH`, `HOME`, the language, the time zone) and those of `regreen.envFile`. "
        "All other runs see your whole environment, but no run sees the keys of language models.",
        scope="machine",
    ),
    Setting(
        "isolation.unconfinedModels",
        "unconfined_models",
        "boolean",
        False,
        "Run what a language model wrote even where test runs are not confined at all.",
        scope="machine",
        repository="restrict",
    ),
    Setting(
        "envFile",
        "env_file",
        "string",
        "",
        "A file of NAME=value lines, relative to the folder, for the tests' environment. "
        "Keys of language models are left out.",
    ),
    Setting(
        "mirror.maxFileMegabytes",
        "max_file_megabytes",
        "number",
        50,
        "Larger files are left out of the private copy.",
        repository="restrict",
        minimum=1,
        maximum=10_000,
    ),
    Setting(
        "mirror.maxGigabytes",
        "max_gigabytes",
        "number",
        2,
        "Regreen asks before it copies more than this.",
        minimum=0.01,
        maximum=1000,
    ),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings in force for one folder; the defaults are the schema's."""

    enable: bool = True
    run_tests: str = "onSave"
    interpreter: str = ""
    auto_heal_on_save: bool = False
    heal_seconds: float = 60
    heal_candidates: int = 3000
    heal_offers: int = 3
    heal_without: tuple[str, ...] = ()
    tests_never: tuple[str, ...] = ()
    slow_markers: tuple[str, ...] = ("slow", "integration", "e2e", "db", "network")
    seconds_per_test: float = 30
    isolation: str = "auto"
    network: bool = False
    services: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    memory_megabytes: float = 4000
    processes: int = 256
    disk_megabytes: float = 1000
    model_variables: tuple[str, ...] = ()
    unconfined_models: bool = False
    env_file: str = ""
    max_file_megabytes: float = 50
    max_gigabytes: float = 2


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
    "array": lambda v: isinstance(v, (list, tuple)) and all(isinstance(item, str) for item in v),
}
_NAMES = {
    "boolean": "true or false",
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "array": "a list of texts",
}

assert {s.field for s in SCHEMA} == {f.name for f in fields(Settings)}  # noqa: S101 — kept in step at import
