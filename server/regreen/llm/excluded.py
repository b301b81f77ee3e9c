"""Which files must never be sent to a model?

Those that `.regreenignore` names, those that git ignores, those that hold secrets by their names, and whatever lies outside of
the project. Nothing in a repository can allow what this forbids: it may only forbid more.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

import pathspec

NAME = ".regreenignore"

SECRETS = pathspec.GitIgnoreSpec.from_lines(
    [
        ".env",
        ".env.*",
        "*.env",
        ".envrc",
        ".git/",
        ".ssh/",
        ".aws/",
        ".gnupg/",
        ".kube/",
        ".netrc",
        "_netrc",
        ".pypirc",
        ".npmrc",
        ".htpasswd",
        ".dockercfg",
        ".docker/config.json",
        ".streamlit/secrets.toml",
        "id_rsa*",
        "id_dsa*",
        "id_ecdsa*",
        "id_ed25519*",
        "*.pem",
        "*.key",
        "*.p12",
        "*.pfx",
        "*.jks",
        "*.keystore",
        "*.kdbx",
        "*.ppk",
        "*.asc",
        "*.gpg",
        "*.tfstate",
        "*.tfstate.*",
        "*.tfvars",
        "credentials",
        "credentials.*",
        "*credentials*.json",
        "service-account*.json",
        "secrets.*",
        "secret.*",
        "secrets/",
        "local_settings.py",
    ]
)
"""Files that hold secrets by their names, in the language of `.gitignore`."""

SKIPPED = frozenset({".git", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache"})
"""Folders in which nobody looks for a `.regreenignore`."""


@dataclass(frozen=True, slots=True)
class _Ignores:
    """One `.regreenignore`. `spec`: None when it cannot be read: then nothing below its folder may be sent."""

    folder: Path
    spec: pathspec.GitIgnoreSpec | None


def exclusions(root: Path, ignored: AbstractSet[Path]) -> Callable[[Path], str]:
    """Read every `.regreenignore` of a project; blocks.

    Args:
        root: the project's folder, absolute.
        ignored: the files of it that git ignores.

    Returns:
        A function that says why an absolute path must not be sent, "" when it may. A link is judged by where it leads, too.
    """
    own = [_read(folder) for folder in _holders(root)]
    real_root = Path(os.path.realpath(root))
    known: dict[Path, str] = {}

    def why_not(path: Path) -> str:
        if path not in known:
            real = Path(os.path.realpath(path))
            known[path] = _why(path, root, own) or (
                _why(root / real.relative_to(real_root), root, own)
                if real.is_relative_to(real_root)
                else "it leads out of the project"
            )
            if not known[path] and (path in ignored or real in ignored):
                known[path] = "git ignores it"
        return known[path]

    return why_not


def _holders(root: Path) -> list[Path]:
    """The folders that hold a `.regreenignore`, from the top down."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        if NAME in names:
            found.append(Path(folder))
    return found


def _read(folder: Path) -> _Ignores:
    try:
        lines = (folder / NAME).read_text("utf-8-sig").splitlines()
        return _Ignores(folder, pathspec.GitIgnoreSpec.from_lines(lines))
    except (OSError, UnicodeError, ValueError):
        return _Ignores(folder, None)


def _why(path: Path, root: Path, own: list[_Ignores]) -> str:
    if not path.is_relative_to(root) or ".." in path.parts:
        return "it is outside of the project"
    relative = path.relative_to(root).as_posix()
    if SECRETS.match_file(relative):
        return "files of this name hold secrets"
    for one in own:
        if one.spec is None and path.is_relative_to(one.folder):
            return f"{one.folder / NAME} cannot be read, so nothing beside it may be sent"
    verdict = False
    for one in own:  # the nearest has the last word, as with git
        if one.spec is not None and path.is_relative_to(one.folder):
            said = one.spec.check_file(path.relative_to(one.folder).as_posix()).include
            verdict = verdict if said is None else said
    return f"{NAME} names it" if verdict else ""
