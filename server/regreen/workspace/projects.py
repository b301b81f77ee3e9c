"""Which project does a file belong to, and which projects does a folder hold?

A project is the nearest folder, going up but not out of the workspace, that has pytest configuration; else the
nearest that has a file every Python project has; else the folder that was asked about.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from regreen.values import Project
from regreen.workspace import ignore
from regreen.workspace.pytest_config import CANDIDATES, config_file

MARKERS = ("pyproject.toml", "setup.cfg", "tox.ini", "setup.py", "manage.py")
MOST_FOLDERS = 20_000
"""How many folders `discover` looks into before it is content with what it has found."""
MOST_TEST_FILES = 40
"""How many test files are read to see what they are written for."""

_TEST_FILE = re.compile(r"test_.*\.py|.*_test\.py|tests?\.py")
_UNITTEST = re.compile(rb"^\s*(?:import unittest|from unittest\b)|\bTestCase\b", re.MULTILINE)
_PYTEST = re.compile(rb"^\s*(?:import pytest|from pytest\b)|^(?:async )?def test_", re.MULTILINE)


def locate(path: Path, workspace: Path, *, fallback: Path | None = None) -> Project:
    """The project that `path` belongs to.

    Args:
        path: a file or folder inside `workspace`; it need not exist.
        workspace: the folder not to leave.
        fallback: the root when nothing on the way up tells; `path` itself when it is a folder, else
            `workspace`.
    """
    path, workspace = _absolute(path), _absolute(workspace)
    is_folder = path.is_dir()
    start = path if is_folder else path.parent
    upward = [folder for folder in (start, *start.parents) if folder.is_relative_to(workspace)]
    for folder in upward:
        found = config_file(folder)
        if found is not None:
            return _project(folder, workspace, found)
    for folder in upward:
        if is_project(folder):
            return _project(folder, workspace, None)
    return _project(fallback or (path if is_folder else workspace), workspace, None)


def is_configured(folder: Path) -> bool:
    """Whether the folder itself has pytest configuration."""
    return config_file(folder) is not None


def is_project(folder: Path) -> bool:
    """Whether the folder itself has pytest configuration or a file every Python project has."""
    return is_configured(folder) or any((folder / name).is_file() for name in MARKERS)


def has_own_tests(folder: Path, nested: Collection[Path]) -> bool:
    """Whether there is a test file in `folder` that is in none of the `nested` folders."""
    inner = {os.fspath(path) for path in nested}
    covered: set[str] = set()
    for here, names in _walk(folder):
        if here in inner or os.path.dirname(here) in covered:  # noqa: PTH120 — one string per folder
            covered.add(here)
        elif any(_TEST_FILE.fullmatch(name) for name in names):
            return True
    return False


def discover(workspace: Path) -> tuple[Project, ...]:
    """Every project of a folder: the set of what `locate` gives for its test files and configured folders.

    Environments, caches and the like are not entered; after `MOST_FOLDERS` folders the walk ends.

    Returns:
        By path; the workspace itself when nothing in it is configured.
    """
    workspace = _absolute(workspace)
    found: list[Project] = []
    configured: set[str] = set()  # folders that have pytest configuration, and all below them
    covered: set[str] = set()  # folders that belong to some project
    loose = False
    for folder, names in _walk(workspace):
        parent = os.path.dirname(folder)  # noqa: PTH120 — one string per folder
        if parent in configured:
            configured.add(folder)
        if parent in covered:
            covered.add(folder)
        project = None
        if not names.isdisjoint(CANDIDATES) and (chosen := config_file(Path(folder))):
            configured.add(folder)
            project = _project(Path(folder), workspace, chosen)
        elif folder not in configured and not names.isdisjoint(MARKERS):
            project = _project(Path(folder), workspace, None)
        if project is not None:
            found.append(project)
            covered.add(folder)
        elif folder not in covered:
            loose = loose or any(_TEST_FILE.fullmatch(name) for name in names)
    if (loose or not found) and not any(project.root == workspace for project in found):
        found.append(_project(workspace, workspace, None))
    return tuple(sorted(found, key=lambda project: project.root))


def _project(root: Path, workspace: Path, config: Path | None) -> Project:
    kind = "pytest"
    if config is None:
        # pytest takes a pyproject.toml without a table of its own, too, and its folder as the rootdir
        config = root / "pyproject.toml" if (root / "pyproject.toml").is_file() else None
        if (root / "manage.py").is_file():
            kind = "django"
        elif _is_unittest(root):
            kind = "unittest"
    return Project(root, workspace, config, kind)


def _is_unittest(root: Path) -> bool:
    """Whether the tests are written for unittest and none for pytest; the first few files decide."""
    seen = 0
    unittest = False
    for folder, names in _walk(str(root)):
        for name in sorted(names):
            if not _TEST_FILE.fullmatch(name):
                continue
            try:
                text = Path(folder, name).read_bytes()
            except OSError:
                continue
            if _PYTEST.search(text):
                return False
            unittest = unittest or _UNITTEST.search(text) is not None
            seen += 1
            if seen == MOST_TEST_FILES:
                return unittest
    return unittest


def _walk(top: str | Path) -> Iterator[tuple[str, frozenset[str]]]:
    """Folders and the names of their files, parents first; links to folders are not followed."""
    for count, (folder, folders, files) in enumerate(os.walk(top)):
        if count == MOST_FOLDERS:
            return
        if count and ignore.content_reason(folder, {*folders, *files}):
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not ignore.folder_reason(name))
        yield folder, frozenset(files)


def _absolute(path: Path) -> Path:
    """Absolute and without `..`; links are kept, since editors name files by them."""
    return Path(os.path.abspath(path))  # noqa: PTH100 — see above
