"""Which files and folders of a project are left out of its copy?

Only what a run can do without: version control, environments, caches, packages of other languages. Nothing
is left out because of git: ignored inputs (`.env`, local settings, built extensions, generated files) are
what a test needs. Names like `build`, `dist` or `env` mean nothing: an environment is known by what it holds.
"""

from __future__ import annotations

import os
from collections.abc import Collection

VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".jj", ".bzr"})
"""Left out whether folder or file: a submodule's or worktree's `.git` is a file."""

CACHES = frozenset(
    {
        "__pycache__",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
        ".pytype",
        ".pyre",
        ".tox",
        ".nox",
        ".hypothesis",
        ".ipynb_checkpoints",
        ".import_linter_cache",
        ".eggs",
    }
)
OTHER_LANGUAGES = frozenset({"node_modules", "bower_components"})

CACHE_TAG = "CACHEDIR.TAG"
"""By the Cache Directory Tagging Specification (bford.info/cachedir) this file marks a folder as a cache."""
CACHE_TAG_SIGNATURE = b"Signature: 8a477f597d28d172789f06886806bc55"

ENVIRONMENT_MARKS = frozenset({"pyvenv.cfg", "conda-meta"})


def folder_reason(name: str) -> str:
    """Why a folder of this name is left out before it is opened; empty when it is not."""
    if name in VERSION_CONTROL:
        return "version control"
    if name in CACHES:
        return "cache"
    if name in OTHER_LANGUAGES:
        return "packages of another language"
    return ""


def content_reason(folder: str, names: Collection[str]) -> str:
    """Why a folder that holds `names` is left out; empty when it is not."""
    if not ENVIRONMENT_MARKS.isdisjoint(names):
        return "environment"
    if CACHE_TAG in names and _is_tagged(os.path.join(folder, CACHE_TAG)):
        return "cache"
    return ""


def is_environment(folder: str) -> bool:
    """Whether a folder, reached directly or through a link, is a Python environment."""
    try:
        return not ENVIRONMENT_MARKS.isdisjoint(os.listdir(folder))
    except OSError:
        return False


def in_root_environment(parent: str, name: str) -> bool:
    """Whether this folder is the installed part of an environment made in the project's root itself.

    Such a root (`python -m venv .`) cannot be left out as a whole.

    Args:
        parent: its folder relative to the root, with `/`; empty for the root.
        name: its own name.
    """
    path = f"{parent}/{name}" if parent else name
    return (
        path in {"Lib/site-packages", "Scripts", "bin", "lib64", "Include", "conda-meta"}
        or (parent == "lib" and name.startswith(("python", "pypy")))
        or (parent == "include" and name.startswith(("python", "pypy")))
    )


def _is_tagged(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(len(CACHE_TAG_SIGNATURE)) == CACHE_TAG_SIGNATURE
    except OSError:
        return False
