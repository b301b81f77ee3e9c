"""Which of the tests that were asked for are known to be red already?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from regreen.errors import UsageError
from regreen.workspace.arguments import Target
from regreen.workspace.known_failures import cache_folder, junit, last_failed


def from_last_failed(target: Target) -> Target:
    """The target with only the tests that pytest itself saw fail last.

    Raises:
        UsageError: pytest never left a cache here: that is not the same as nothing having failed.
    """
    root = target.project.root
    if not (cache_folder(target.project) / "v" / "cache").is_dir():
        raise UsageError(
            f"{root} has no pytest cache, so its last failures are not known.",
            "Run pytest there once, or leave --last-failed out.",
        )
    return _narrowed(target, last_failed(target.project).nodeids)


def from_junit(targets: Sequence[Target], report: Path) -> tuple[Target, ...]:
    """The targets with only the tests that a JUnit report names as red.

    Raises:
        UsageError: the report cannot be read, or none of its red tests belongs to any of the projects.
    """
    known = [junit(target.project, report) for target in targets]
    if not any(one.nodeids for one in known) and any(one.unmatched for one in known):
        raise UsageError(
            f"None of the red tests in {report} belongs to {targets[0].project.root}: "
            f"{', '.join(known[0].unmatched[:3])} …",
            "Give the folder of the project that the report is about.",
        )
    return tuple(_narrowed(target, one.nodeids) for target, one in zip(targets, known, strict=True))


def _narrowed(target: Target, red: Sequence[str]) -> Target:
    """Those red tests that lie in one of the wanted files, folders or tests; all when all are wanted."""
    wanted = target.nodeids
    kept = [
        nodeid
        for nodeid in red
        if not wanted or any(nodeid == part or nodeid.startswith(_inside(part)) for part in wanted)
    ]
    return Target(target.project, tuple(kept))


def _inside(part: str) -> tuple[str, ...]:
    return f"{part}::", f"{part}/", f"{part}["
