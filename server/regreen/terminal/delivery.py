"""How do fixes leave the command line: as a patch, or as changed files that can be changed back?"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from regreen.errors import EnvironmentProblem
from regreen.platform.dirs import state_dir
from regreen.platform.files import write_atomic
from regreen.ports import Git
from regreen.terminal.patches import FileChange, git_patch
from regreen.terminal.writing import keep_undo, undo_command, write_changes


@dataclass(frozen=True, slots=True)
class Delivery:
    """What was written.

    Args:
        patch: the patch's path.
        top: the folder that its paths are relative to.
        written: the changed files.
        undo: the command that changes them back.
    """

    patch: str = ""
    top: str = ""
    written: tuple[str, ...] = ()
    undo: str = ""


def patched(files: Sequence[FileChange], top: Path, path: Path, so_far: Delivery) -> Delivery:
    """Write a patch for `git apply`, to be called in `top`; an empty file when there are no fixes.

    Raises:
        EnvironmentProblem: it cannot be written.
    """
    data = git_patch(files, top)
    try:
        write_atomic(path, data)
    except OSError as error:
        raise EnvironmentProblem(f"{path} cannot be written: {error.strerror}.") from error
    return replace(so_far, patch=str(path), top=str(top))


def applied(files: Sequence[FileChange], top: Path, so_far: Delivery) -> Delivery:
    """Change the files, after a patch that takes it back is safe in the state folder.

    Raises:
        StaleFix: a file changed since the fix was verified; nothing is written.
        EnvironmentProblem: a file cannot be written; nothing is changed.
    """
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.patch"
    kept = keep_undo(git_patch(files, top), state_dir("undo"), name)
    write_changes(files)
    undo = undo_command(kept, top, git=shutil.which("git") is not None)
    return replace(so_far, written=tuple(str(file.path) for file in files), undo=undo)


async def top_of(files: Sequence[FileChange], projects: Sequence[Path], git: Git) -> Path:
    """The folder that a patch's paths are relative to.

    The git work tree if it holds all files, because `git apply` counts from its top; else the project's folder,
    or what several projects have in common.
    """
    top = await git.toplevel(files[0].path.parent)
    if top is not None and all(file.path.is_relative_to(top) for file in files):
        return top
    return Path(os.path.commonpath([*projects, *(file.path.parent for file in files)]))
