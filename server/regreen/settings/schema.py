"""Which settings are there, and what does each mean?

A setting is written down once: here, or in `models` if it is about language models. package.json, docs/settings.md
and the editors' snippets are generated from `SCHEMA` (see `generated`), and a test compares them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from regreen.settings import services
from regreen.settings.models import MODELS
from regreen.settings.setting import Setting

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
        "How many candidate patches of the templates one heal may try. 0: none, only a language model is asked.",
        repository="restrict",
        minimum=0,
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
    *MODELS,
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
    llm_mode: str = "off"
    llm_model: str = ""
    llm_base_url: str = ""
    llm_key_variable: str = ""
    llm_fallbacks: tuple[str, ...] = ()
    llm_roles: Mapping[str, Any] = field(default_factory=dict)
    llm_context: int = 0
    llm_rounds: int = 3
    llm_strategies: int = 3
    llm_autonomy: str = "offer"
    budget_fix_usd: float = 0.5
    budget_day_usd: float = 2
    budget_calls: int = 40
    budget_tokens: int = 200_000
    budget_seconds: float = 300
    budget_unknown_price: bool = False
    env_file: str = ""
    max_file_megabytes: float = 50
    max_gigabytes: float = 2
