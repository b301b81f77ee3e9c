"""Which real projects are healed, and which bugs are injected into them?

Reads `projects.toml` and `bugs.toml` beside this file, and refuses data that contradicts itself.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class RealProject:
    """One source distribution.

    Args:
        name: as the package index knows it.
        version: exact.
        sha256: hex digest of the source distribution.
        requirements: `name==version` of its build backend and test needs.
        selection: arguments that tell pytest which of the project's tests judge a fix.
    """

    name: str
    version: str
    sha256: str
    requirements: tuple[str, ...]
    selection: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bug:
    """One wrong place: a line, or a few that follow each other.

    Args:
        name: unique, for people and the command line.
        project: the name of the project it goes into.
        file: below the project's folder, with forward slashes.
        line: 1-based place of the first original line.
        original: the lines as published, without the end of the last.
        mutated: what is written instead; None when the lines are deleted.
        kind: what sort of slip it is.
        story: how a developer comes to write it.
        extra: healed only when all bugs are asked for, or it by name.
        caught: node ids of the project's own tests that turn red.
    """

    name: str
    project: str
    file: str
    line: int
    original: str
    mutated: str | None
    kind: str
    story: str
    extra: bool
    caught: tuple[str, ...]

    def inject(self, text: str) -> str:
        """The file's text with the bug.

        Raises:
            ValueError: the original lines are not where the data says they are.
        """
        lines, original = text.split("\n"), self.original.split("\n")
        place = slice(self.line - 1, self.line - 1 + len(original))
        if lines[place] != original:
            raise ValueError(f"{self.file}:{self.line} holds {lines[place]}, not {original}")
        lines[place] = [] if self.mutated is None else self.mutated.split("\n")
        return "\n".join(lines)


def projects(folder: Path = HERE) -> tuple[RealProject, ...]:
    """Every project, in the order of the file."""
    return tuple(
        RealProject(
            row["name"], row["version"], row["sha256"], tuple(row["requirements"]), tuple(row["selection"])
        )
        for row in _rows(folder / "projects.toml", "project")
    )


def bugs(folder: Path = HERE) -> tuple[Bug, ...]:
    """Every bug, in the order of the file."""
    return tuple(
        Bug(
            row["name"],
            row["project"],
            row["file"],
            row["line"],
            row["original"],
            row.get("mutated"),
            row["kind"],
            row["story"],
            row.get("extra", False),
            tuple(row["caught"]),
        )
        for row in _rows(folder / "bugs.toml", "bug")
    )


def _rows(path: Path, table: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))[table]
    return rows
