"""Which settings are there, what do they mean, and what is in force for one folder?

This is the only place where a setting is written down. package.json, docs/settings.md and the editors'
snippets are generated from `SCHEMA`, and a test regenerates them.

Sources, later ones win: defaults, pyproject `[tool.regreen]`, initializationOptions, the client's
configuration, the command line. What a repository contains may only restrict Regreen (`repository` below).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

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
        scope: VS Code's scope ("resource", "machine-overridable", "window").
        repository: what a file in the repository may do with it.
        minimum, maximum: bounds of a number.
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
        600,
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
        "envFile",
        "env_file",
        "string",
        "",
        "A file of NAME=value lines, relative to the folder, for the tests' environment.",
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
    heal_candidates: int = 600
    heal_offers: int = 3
    tests_never: tuple[str, ...] = ()
    slow_markers: tuple[str, ...] = ("slow", "integration", "e2e", "db", "network")
    seconds_per_test: float = 30
    env_file: str = ""
    max_file_megabytes: float = 50
    max_gigabytes: float = 2


def merge(
    base: Settings, values: Mapping[str, Any], *, from_repository: bool
) -> tuple[Settings, tuple[str, ...]]:
    """Lay `values` over `base`.

    Args:
        base: what is in force so far.
        values: settings by key ("autoHeal.onSave") or nested as JSON objects.
        from_repository: the values come from a file in the repository, so they may only restrict.

    Returns:
        The settings, and one sentence for each value that was not used and why (unknown, bad type, out of
        bounds, or not the repository's to set).
    """
    raise NotImplementedError


assert {s.field for s in SCHEMA} == {f.name for f in fields(Settings)}  # noqa: S101 — kept in step at import
