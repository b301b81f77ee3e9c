"""Which tests of which projects does a person mean by the paths and node ids on a command line?"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from regreen.errors import UsageError
from regreen.platform.background import run_blocking
from regreen.ports import Git
from regreen.values import Project
from regreen.workspace.projects import discover, has_own_tests, is_configured, is_project, locate


@dataclass(frozen=True, slots=True)
class Target:
    """Tests of one project that were asked for.

    Args:
        project: the project.
        nodeids: node ids, files and folders, relative to `project.root`; empty for the whole suite.
    """

    project: Project
    nodeids: tuple[str, ...]


async def resolve(arguments: Sequence[str], cwd: Path, git: Git) -> tuple[Target, ...]:
    """Find the projects behind the arguments of a command.

    A node id may be relative to `cwd`, or, as pytest prints it, to the root of the project that `cwd` is in.
    A folder that is not part of a configured project stands for all projects inside it.

    Args:
        arguments: paths and node ids; none stands for `cwd`.
        cwd: the folder the person is in.
        git: tells the workspace, which is the work tree; outside of git see `workspace_outside_git`.

    Raises:
        UsageError: an argument names nothing that exists.
    """
    cwd = await run_blocking(_absolute, cwd, Path())
    wanted: dict[Project, list[str] | None] = {}
    known_projects: dict[Path, tuple[Project, ...]] = {}  # thousands of node ids name few files
    for argument in arguments or (".",):
        found = await run_blocking(_split, argument, cwd) or await _as_printed(argument, cwd, git)
        path, inner = found
        if path not in known_projects:
            workspace = await _workspace(path, cwd, git)
            known_projects[path] = await run_blocking(_projects, path, workspace, cwd)
        for project in known_projects[path]:
            whole = path == project.root or not path.is_relative_to(project.root)
            if whole:
                wanted[project] = None
            elif (known := wanted.setdefault(project, [])) is not None:
                known.append(path.relative_to(project.root).as_posix() + inner)
    return tuple(Target(project, tuple(dict.fromkeys(ids or ()))) for project, ids in wanted.items())


async def _workspace(path: Path, cwd: Path, git: Git) -> Path:
    top = await git.toplevel(path if await run_blocking(path.is_dir) else path.parent)
    if top is not None:
        return top
    return await run_blocking(workspace_outside_git, path, cwd)


def workspace_outside_git(path: Path, cwd: Path) -> Path:
    """The folder not to leave where there is no git.

    As pytest does, look upward for a folder that says something about a project; but never take the home
    folder or anything above it for one. Where there is none: `cwd` if it holds `path`, else the folder given.
    """
    folder = path if path.is_dir() else path.parent
    home = Path.home()
    for candidate in (folder, *folder.parents):
        if home.is_relative_to(candidate):
            break
        if is_project(candidate):
            return candidate
    return cwd if path.is_relative_to(cwd) else folder


def _projects(path: Path, workspace: Path, cwd: Path) -> tuple[Project, ...]:
    inside = path.is_relative_to(cwd) and cwd.is_relative_to(workspace)
    project = locate(path, workspace, fallback=cwd if inside else None)
    if not path.is_dir() or is_configured(project.root):
        return (project,)
    nested = tuple(replace(other, workspace=workspace) for other in discover(path) if other.root != path)
    if nested and not has_own_tests(path, {other.root for other in nested}):
        return nested
    return (project, *nested)


async def _as_printed(argument: str, cwd: Path, git: Git) -> tuple[Path, str]:
    """Read an argument relative to the root of the project that `cwd` is in."""
    workspace = await _workspace(cwd, cwd, git)
    root = (await run_blocking(locate, cwd, workspace)).root
    found = await run_blocking(_split, argument, root)
    if found is None:
        raise UsageError(
            f"{argument}: there is no such file or folder in {cwd}.",
            "Give a path or a node id like tests/test_cart.py::test_total.",
        )
    return found


def _split(argument: str, base: Path) -> tuple[Path, str] | None:
    """The path and the `::…` of an argument; None when it names nothing that exists.

    As in pytest, what follows the first `[` belongs to a test's parameters, whatever it holds.
    """
    whole = _absolute(base, Path(argument))
    if whole.exists():
        return whole, ""
    before, bracket, parameters = argument.partition("[")
    name, colons, test = before.partition("::")
    path = _absolute(base, Path(name))
    if not colons or not path.exists():
        return None
    return path, f"{colons}{test}{bracket}{parameters}"


def _absolute(base: Path, path: Path) -> Path:
    """Absolute and without `..`, links kept."""
    return Path(os.path.abspath(base / path))  # noqa: PTH100 — see above
