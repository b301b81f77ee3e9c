"""How is a project run, and what is not right about it?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regreen import __version__
from regreen.errors import EnvironmentProblem, RegreenError, UserError
from regreen.oracle import interpreters
from regreen.oracle.backend import LocalBackend
from regreen.oracle.client import ProbeOracle
from regreen.oracle.confinement import in_force
from regreen.oracle.records import ProbeFacts
from regreen.platform.background import run_blocking
from regreen.platform.dirs import cache_dir
from regreen.ports import Git
from regreen.settings import Settings, services
from regreen.terminal.configured import settings_for
from regreen.terminal.console import outputs
from regreen.terminal.evidence import plural, size
from regreen.terminal.items import Item
from regreen.terminal.models import model_items
from regreen.terminal.tables import facts as facts_table
from regreen.values import Interpreter, Project, SearchStep
from regreen.workspace import compose, django, scan
from regreen.workspace.arguments import resolve
from regreen.workspace.mirror import ProjectMirror
from regreen.workspace.places import disk_size
from regreen.workspace.trust import TrustStore
from regreen.workspace.watcher import FolderWatcher

MOST_LEFT_OUT = 5
"""How many files that are not copied are named."""


@dataclass(frozen=True, slots=True)
class Checkup:
    """All that is known about one project; `steps`: where its interpreter was looked for."""

    project: Project
    items: tuple[Item, ...]
    steps: tuple[SearchStep, ...]

    @property
    def ok(self) -> bool:
        """Whether tests can be run."""
        return all(item.ok for item in self.items)


async def doctor_command(
    path: Path, git: Git, *, as_json: bool, asked: Mapping[str, object], llm: bool = False
) -> int:
    """Print the checkup of every project that `path` stands for.

    Args:
        path: a folder or file.
        git: finds the folder's top.
        as_json: print one JSON object.
        asked: settings of the command line.
        llm: ask the language model something that tells nothing of the project.

    Returns:
        0 when all of them can be run, else 2.

    Raises:
        UsageError: there is no such path.
    """
    out, _ = outputs(machine=as_json)
    folder = path if await run_blocking(path.is_dir) else path.parent
    targets = await resolve([str(path)], folder, git)
    checkups = [await examine(target.project, asked, llm=llm) for target in targets]
    if as_json:
        fields = {"v": 1, "regreen": __version__, "projects": [_fields(one) for one in checkups]}
        out.file.write(json.dumps(fields, ensure_ascii=False, indent=2) + "\n")
    else:
        for one in checkups:
            out.print(facts_table(one.items, one.steps))
    return 0 if all(one.ok for one in checkups) else 2


async def examine(project: Project, asked: Mapping[str, object], *, llm: bool = False) -> Checkup:
    """Look at one project. Starts its interpreter, runs none of its tests, changes nothing.

    Args:
        project: where to look.
        asked: settings of the command line.
        llm: put a question to its language model, too.
    """
    settings, complaints = await run_blocking(settings_for, project, asked)
    found = await interpreters.search(project, settings)
    mirror = ProjectMirror(project, max_file_bytes=settings.max_file_megabytes * 1e6)
    facts = await _facts(project, found.interpreter, mirror, settings)
    items = [
        Item("project", f"{project.root} ({project.kind})"),
        *(Item("settings", sentence, hint="It is ignored.") for sentence in complaints),
        _interpreter(found.interpreter, found.problem),
        *([_pytest(project, found.interpreter)] if found.interpreter else []),
        Item("rootdir", str(project.root)),
        _config(project),
        *await run_blocking(_mirror, project, settings, mirror.folder),
        *([_isolation(facts, settings)] if found.interpreter else []),
        *await run_blocking(_services, project, settings),
        await run_blocking(_watch, project),
        _trust(project),
        *([*await model_items(project, settings)] if llm else [_model(settings)]),
    ]
    return Checkup(project, tuple(items), found.steps)


async def _facts(
    project: Project, interpreter: Interpreter | None, mirror: ProjectMirror, settings: Settings
) -> ProbeFacts | RegreenError:
    if interpreter is None:
        return UserError("There is no interpreter.")
    oracle = ProbeOracle(project, interpreter, LocalBackend(mirror), settings)
    try:
        return await oracle.inspect()
    except RegreenError as error:
        return error
    finally:
        await oracle.close()


def _model(settings: Settings) -> Item:
    if settings.llm_mode == "off" or not settings.llm_model:
        return Item("model", "off: fixes come from repair templates, and nothing leaves this machine")
    return Item(
        "model", f"{settings.llm_model} ({settings.llm_mode})", hint="`regreen doctor --llm` tries it."
    )


def _interpreter(found: Interpreter | None, problem: UserError | None) -> Item:
    if found is None:
        what, hint = (problem.what, problem.hint) if problem else ("none", "")
        return Item("interpreter", what, ok=False, hint=hint)
    version = ".".join(map(str, found.version))
    return Item("interpreter", f"{found.executable} (Python {version}), found by: {found.found_by}")


def _pytest(project: Project, interpreter: Interpreter) -> Item:
    if interpreter.pytest_version is None:
        if project.kind != "pytest":
            return Item("pytest", "none there; Regreen lends its own", hint="Nothing is installed for it.")
        install = f"Install it: {interpreter.executable} -m pip install pytest"
        return Item("pytest", "not installed", ok=False, hint=install)
    major = interpreter.pytest_version.split(".")[0]
    old = major.isdecimal() and int(major) < 7
    return Item(
        "pytest",
        interpreter.pytest_version,
        ok=not old,
        hint="Regreen needs pytest 7 or newer." if old else "",
    )


def _config(project: Project) -> Item:
    if project.config_file is None:
        return Item("config file", "none; pytest's defaults are used")
    return Item("config file", str(project.config_file))


def _mirror(project: Project, settings: Settings, folder: Path) -> list[Item]:
    """The private copy: where, how large, what it would hold, and what is left out of it."""
    limit = round(settings.max_file_megabytes * 1e6)
    found = scan.listing([str(project.root)], max_file_bytes=limit, skip={str(cache_dir())})
    used = f", {size(disk_size(folder))} on disk" if folder.exists() else ", not made yet"
    items = [Item("private copy", f"{folder}{used}")]
    too_large = found.bytes > settings.max_gigabytes * 1e9
    items.append(
        Item(
            "copied",
            f"{plural(len(found.files), 'file')}, {size(found.bytes)}",
            ok=not too_large,
            hint="Raise regreen.mirror.maxGigabytes, or move large data out of the project."
            if too_large
            else "",
        )
    )
    named = ", ".join(f"{part.path} ({part.reason})" for part in found.left_out[:MOST_LEFT_OUT])
    more = len(found.left_out) - MOST_LEFT_OUT
    if found.left_out:
        hint = "Tests that read them are red in the copy; regreen.mirror.maxFileMegabytes is the limit."
        items.append(Item("not copied", named + (f" and {more} more" if more > 0 else ""), hint=hint))
    return items


def _isolation(facts: ProbeFacts | RegreenError, settings: Settings) -> Item:
    if isinstance(facts, RegreenError):
        return Item(
            "isolation", f"the probe does not start: {facts}", ok=False, hint="Try another interpreter."
        )
    try:
        isolation = in_force(facts.isolation, settings)
    except EnvironmentProblem as problem:
        return Item("isolation", problem.what, ok=False, hint=problem.hint)
    hint = f"Why not more: {isolation.why}." if isolation.why else ""
    if isolation.level == "none":
        hint += " Functions that delete, overwrite, spawn or send get no candidates here."
    return Item("isolation", str(isolation), hint=hint.strip())


def _services(project: Project, settings: Settings) -> list[Item]:
    """What compose files and Django's settings name and test runs may not reach; only the user can say if they shall."""
    if settings.network or settings.isolation == "none":
        return []
    named = services.named(settings.services).texts()
    found = {
        services.text_of(one.host or "127.0.0.1", one.port): f"{one.service} of the compose file"
        for folder in dict.fromkeys((project.root, project.workspace))
        for one in compose.in_folder(folder)
    }
    for alias, address in django.databases(project.root).items():
        found.setdefault(address, f'DATABASES["{alias}"] of Django')
    known = {_here(address) for address in named}
    beyond: dict[str, str] = {}
    for address, what in found.items():
        if address and _here(address) not in known | {_here(other) for other in beyond}:
            beyond[address] = what
    if not beyond:
        return []
    listed = ", ".join(f"{address} ({what})" for address, what in beyond.items())
    value = json.dumps([*settings.services, *beyond])
    return [
        Item(
            "services",
            f"out of reach of test runs: {listed}",
            hint=f"If tests need them: regreen.isolation.services = {value}",
        )
    ]


def _here(address: str) -> str:
    """The same text for each way to write an IPv4 address of this machine."""
    host, colon, port = address.rpartition(":")
    return f"localhost:{port}" if colon and host in {"127.0.0.1", "localhost"} else address


def _watch(project: Project) -> Item:
    """How editors would notice changes; the only way to know what the system allows is to begin."""
    told: list[str] = []
    watcher = FolderWatcher(project.workspace, lambda _path: None, notice=told.append)
    watcher.close()
    return Item("watch", watcher.strategy, hint=told[0] if told else "")


def _trust(project: Project) -> Item:
    trust = TrustStore().explain(project.workspace)
    hint = "" if trust.trusted else "A typed heal needs no trust; editors do: regreen trust"
    return Item("trust", trust.explanation, hint=hint)


def _fields(one: Checkup) -> dict[str, Any]:
    return {
        "root": str(one.project.root),
        "ok": one.ok,
        "items": [
            {"name": item.name, "value": item.value, "ok": item.ok, "hint": item.hint or None}
            for item in one.items
        ],
        "interpreter_search": _steps(one.steps),
    }


def _steps(steps: Sequence[SearchStep]) -> list[dict[str, Any]]:
    return [{"place": step.place, "result": step.result, "chosen": step.chosen} for step in steps]
