"""Which tests of which projects do the arguments of `regreen heal` mean?"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from regreen.errors import UsageError
from regreen.terminal.junit import red_tests
from regreen.terminal.lastfailed import DEFAULT_CACHE, last_failed
from regreen.values import Project
from regreen.workspace.projects import MARKERS, discover, locate
from regreen.workspace.pytest_config import config_file, options


@dataclass(frozen=True, slots=True)
class Target:
    """Tests of one project. `nodeids`: node ids, files or folders below its root; empty for all of it."""

    project: Project
    nodeids: tuple[str, ...] = ()


def resolve(arguments: Sequence[str], cwd: Path) -> tuple[Target, ...]:
    """Find the projects that the arguments name; every project below `cwd` without arguments.

    An argument is a folder, a test file, or a node id whose path is relative to `cwd`, or to a folder that
    was given before it. A folder that is no project itself stands for the projects below it; when there are
    none, for the tests in it.

    Raises:
        UsageError: an argument names nothing that exists.
    """
    chosen: dict[Project, list[str]] = {}
    bases = [cwd]
    for argument in arguments or ["."]:
        path, inner = _split(argument, bases)
        if path.is_dir() and inner:
            raise UsageError(
                f"{argument} names tests inside of a folder.", "A node id begins with a test file."
            )
        if path.is_dir():
            bases.append(path)
        for project, nodeid in _meant(path, inner):
            chosen.setdefault(project, []).append(nodeid)
    narrowed = _without_bases(chosen)
    return tuple(
        Target(project, () if "" in nodeids else tuple(dict.fromkeys(nodeids)))
        for project, nodeids in narrowed.items()
    )


def from_last_failed(target: Target) -> Target:
    """The target with only the tests that pytest itself saw fail last."""
    project = target.project
    found = options(project.config_file) if project.config_file else None
    cache = str((found or {}).get("cache_dir", DEFAULT_CACHE))
    return Target(project, _within(last_failed(project.root, os.path.expandvars(cache)), target.nodeids))


def from_junit(target: Target, report: Path) -> Target:
    """The target with only the tests that a JUnit report names as red."""
    return Target(target.project, _within(red_tests(report, target.project.root), target.nodeids))


def workspace_of(path: Path) -> Path:
    """The folder that a project is looked for in.

    The git work tree around the path; outside of git the nearest folder upwards that is configured for pytest,
    as pytest itself would look for it, or has a Python project's files; else the path's folder.
    """
    folder = path if path.is_dir() else path.parent
    upward = (folder, *folder.parents)
    tests: tuple[Callable[[Path], object], ...] = (
        lambda up: (up / ".git").exists(),
        config_file,
        lambda up: any((up / name).is_file() for name in MARKERS),
    )
    return next((up for test in tests for up in upward if test(up)), folder)


def _split(argument: str, bases: Sequence[Path]) -> tuple[Path, str]:
    """The existing path that an argument begins with, and what comes after its first `::`."""
    name, _, inner = argument.partition("::")
    for base in bases:
        path = Path(os.path.abspath(base / name))  # noqa: PTH100 — links are kept, as everywhere
        if path.exists():
            return path, inner
    raise UsageError(
        f"There is no file or folder {name}, looked for below {' and '.join(map(str, bases))}.",
        "Give a project's folder, a test file, or a node id as pytest prints it.",
    )


def _meant(path: Path, inner: str) -> list[tuple[Project, str]]:
    """The projects and node ids that one existing path stands for; an empty node id is the whole project."""
    workspace = workspace_of(path)
    owner = locate(path, workspace, fallback=path if path.is_dir() else None)
    below = path.relative_to(owner.root).as_posix()
    whole = (owner, "" if path == owner.root else f"{below}::{inner}" if inner else below)
    if not path.is_dir() or config_file(path):
        return [whole]
    return [whole if found.root == path else (locate(found.root, workspace), "") for found in discover(path)]


def _without_bases(chosen: dict[Project, list[str]]) -> dict[Project, list[str]]:
    """A folder given together with tests in it only says where they are."""
    return {project: [nodeid for nodeid in nodeids if nodeid] or [""] for project, nodeids in chosen.items()}


def _within(nodeids: Sequence[str], wanted: Sequence[str]) -> tuple[str, ...]:
    """Those node ids that lie in one of the wanted files, folders or tests; all when nothing is wanted."""
    return tuple(
        nodeid
        for nodeid in nodeids
        if not wanted
        or any(nodeid == part or nodeid.startswith((f"{part}::", f"{part}/", f"{part}[")) for part in wanted)
    )
