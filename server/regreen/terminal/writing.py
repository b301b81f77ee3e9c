"""How are accepted fixes written into the user's files so that nothing is lost, and how are they taken back?"""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Sequence
from pathlib import Path

from regreen.errors import EnvironmentProblem, StaleFix
from regreen.platform.files import write_atomic
from regreen.terminal.patches import FileChange


def write_changes(parts: Sequence[FileChange]) -> None:
    """Write all the files or none of them; each takes its file's place in one step, with its mode.

    Everything that can be known beforehand is checked first; when a later file cannot be written all the
    same, the earlier ones get their old bytes back.

    Raises:
        StaleFix: a file is no longer what the change was made from.
        EnvironmentProblem: a file is read-only, or its folder or disk refuses the write.
    """
    for part in parts:
        status = part.path.stat()
        if not status.st_mode & stat.S_IWUSR or not os.access(part.path, os.W_OK):
            raise EnvironmentProblem(f"{part.path} is read-only.", "Nothing was changed.")
        if part.path.read_bytes() != part.old:
            raise StaleFix(f"{part.path} changed while the fix was being applied")
    done: list[FileChange] = []
    try:
        for part in parts:
            write_atomic(part.path, part.new)
            done.append(part)
    except OSError as error:
        for part in done:
            write_atomic(part.path, part.old)
        raise EnvironmentProblem(
            f"{parts[len(done)].path} cannot be written: {error.strerror}.", "Nothing was changed."
        ) from error


def keep_undo(patch: bytes, folder: Path, name: str) -> Path:
    """Keep the patch that was applied, readable by its owner only, so that it can be taken back later.

    Args:
        patch: what was applied.
        folder: Regreen's state folder for these; made if missing.
        name: the file's name, unique for this run.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / name
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(patch)
    return path


def undo_command(patch: Path, top: Path, *, git: bool) -> str:
    """The shell line that takes an applied patch back.

    Args:
        patch: the file.
        top: the folder that the patch's paths are relative to.
        git: git is installed; `patch` is used otherwise.
    """
    if git:
        return shlex.join(["git", "-C", str(top), "apply", "-R", str(patch)])
    return f"{shlex.join(['patch', '-R', '-p1', '-d', str(top)])} < {shlex.quote(str(patch))}"
