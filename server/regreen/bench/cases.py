"""Which cases are there to heal, and how does one become a project on disk?

Two formats. A JSONL file has one small module a line: `id`, `module`, `buggy` and `tests_visible` make a project of
two files; `tests_held_out` and `tests_differential` grade what is offered. A folder has a folder for each case:
`project/`, `held_out/` with files that are laid over the project to grade it, and `meta.json`.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regreen.errors import UsageError

Files = Mapping[str, str] | Path
"""Texts by relative path, or a folder that holds them."""

CONFIGURATION = "[tool.pytest.ini_options]\n"


@dataclass(frozen=True, slots=True)
class Case:
    """One broken project.

    Args:
        id: unique among its cases.
        project: what the heal sees.
        exams: what grades a fix, one after the other: files that are laid over the healed project. Never seen by
            the heal; empty when nothing can grade it.
        red: the node ids to heal; empty for every test that is red.
        interpreter: the Python that runs its tests; "" for that of the command.
        seconds: how long each heal may search; None for the limit of the command.
    """

    id: str
    project: Files
    exams: tuple[Files, ...] = ()
    red: tuple[str, ...] = ()
    interpreter: str = ""
    seconds: float | None = None


def load(path: Path) -> tuple[Case, ...]:
    """The cases of a JSONL file or of a folder, in their order there.

    Raises:
        UsageError: it is neither, or a case cannot be read.
    """
    if path.is_dir():
        cases = tuple(_of_folder(meta.parent) for meta in sorted(path.glob("*/meta.json")))
    elif path.is_file():
        cases = tuple(_of_lines(path))
    else:
        raise UsageError(f"There is no file or folder {path} with cases.")
    if not cases:
        raise UsageError(f"{path} holds no cases.")
    ids = [case.id for case in cases]
    if twice := {id_ for id_ in ids if ids.count(id_) > 1}:
        raise UsageError(f"{path} has several cases named {min(twice)}.")
    return cases


def lay(files: Files, folder: Path) -> None:
    """Write files into a folder, over what is there. Links stay links."""
    if isinstance(files, Path):
        shutil.copytree(files, folder, symlinks=True, dirs_exist_ok=True)
        return
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")


def names(files: Files) -> tuple[str, ...]:
    """The relative paths of files, with forward slashes, sorted."""
    if isinstance(files, Path):
        return tuple(
            sorted(path.relative_to(files).as_posix() for path in files.rglob("*") if path.is_file())
        )
    return tuple(sorted(files))


def digest(case: Case) -> str:
    """What tells a case from an edited one; files of a folder by size and time, as it may hold an environment."""
    parts = [case.id, case.red, case.interpreter, case.seconds, *map(_stamp, (case.project, *case.exams))]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _stamp(files: Files) -> list[list[Any]]:
    if not isinstance(files, Path):
        return [[name, text] for name, text in sorted(files.items())]
    stats = [(name, os.lstat(files / name)) for name in names(files)]
    return [[name, stat.st_size, stat.st_mtime_ns] for name, stat in stats]


def _of_lines(path: Path) -> Iterator[Case]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            yield _of_fields(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(f"{path}:{number} is not a case: {type(error).__name__}: {error}.") from error


def _of_fields(fields: Mapping[str, Any]) -> Case:
    module = fields["module"]
    tests = f"test_{module}.py"
    project = {
        "pyproject.toml": CONFIGURATION,
        f"{module}.py": fields["buggy"],
        tests: fields["tests_visible"],
    }
    grading = (fields.get("tests_held_out", ""), fields.get("tests_differential", ""))
    return Case(fields["id"], project, tuple({tests: text} for text in grading if text.strip()))


def _of_folder(folder: Path) -> Case:
    folder = folder.resolve()
    if not (folder / "project").is_dir():
        raise UsageError(f"{folder} is not a case: it has no folder `project`.")
    try:
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        interpreter = meta.get("interpreter") or ""
        if os.sep in interpreter or "/" in interpreter:
            interpreter = str(folder / interpreter)
        held_out = folder / "held_out"
        return Case(
            meta["id"],
            folder / "project",
            (held_out,) if held_out.is_dir() else (),
            tuple(meta.get("red") or ()),
            interpreter,
            meta.get("seconds"),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{folder} is not a case: {type(error).__name__}: {error}.") from error
