"""What does git know about a folder, asked without running anything of that folder?

A repository's own configuration can name programs (monitors, hooks, filters, signature checkers, transports)
that git would start while it answers harmless questions. Each is switched off here, so that a folder can be
asked about before it is trusted. Where git is missing, every folder is outside of git.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from regreen.platform.background import run_blocking
from regreen.platform.processes import Captured, capture

log = logging.getLogger(__name__)

SECONDS = 20.0
"""How long one question may take."""

HARMLESS = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "core.sshCommand=false",
    "core.alternateRefsCommand=",
    "core.pager=cat",
    "log.showSignature=false",
    "log.follow=false",
    "diff.external=",
    "diff.ignoreSubmodules=all",
    "submodule.recurse=false",
    "protocol.allow=never",
    "credential.helper=",
    "gc.auto=0",
    "maintenance.auto=false",
    "core.quotePath=false",
)
"""Settings that keep git from starting anything, whatever the repository says."""


class GitCommand:
    """Asks the `git` program; implements `ports.Git`.

    Args:
        program: its name or path. It is looked up on PATH, never in the folder that is asked about.
    """

    def __init__(self, program: str = "git") -> None:
        self._program = program
        self._path: str | None = None  # empty: looked for and not found

    async def toplevel(self, folder: Path) -> Path | None:
        """The work tree that holds `folder`, None outside of git."""
        answer = await self._ask(folder, "rev-parse", "--show-toplevel")
        return None if answer is None else await run_blocking(_as_named, folder, answer)

    async def changed_files(self, folder: Path) -> frozenset[Path]:
        """Files that differ from the last commit, untracked ones included; empty outside of git.

        Submodules count as unchanged: looking into one means running git with that one's configuration.
        """
        top = await self.toplevel(folder)
        inert = None if top is None else await self._without_filters(folder)
        if top is None or inert is None:
            return frozenset()
        answer = await self._ask(
            folder,
            *inert,
            *("status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"),
            *("--ignore-submodules=all", "--", "."),
        )
        return frozenset(top / os.fsdecode(entry[3:]) for entry in (answer or b"").split(b"\0") if entry)

    async def ignored(self, folder: Path, paths: Sequence[Path]) -> frozenset[Path]:
        """Those of `paths` that git ignores; empty outside of git."""
        top = await self.toplevel(folder)
        inside = (
            {} if top is None else {os.fsencode(path): path for path in paths if path.is_relative_to(top)}
        )
        if top is None or not inside:
            return frozenset()
        question = b"".join(path + b"\0" for path in inside)
        answer = await self._ask(top, "check-ignore", "-z", "--stdin", stdin=question, fine=(0, 1))
        return frozenset(inside[path] for path in (answer or b"").split(b"\0") if path in inside)

    async def last_change(self, path: Path) -> datetime | None:
        """When the file's last commit was made; None when unknown or never committed."""
        answer = await self._ask(
            path.parent, "log", "-1", "--no-show-signature", "--format=%cI", "--", path.name
        )
        text = (answer or b"").decode().strip()
        return datetime.fromisoformat(text.replace("Z", "+00:00")) if text else None

    async def _without_filters(self, folder: Path) -> tuple[str, ...] | None:
        """Options that switch off the content filters which the repository's own configuration defines.

        Filters of the user's own configuration (git-lfs) stay: the folder does not choose what they run.
        None when they cannot be switched off, so that git had better not look at contents.
        """
        answer = await self._ask(folder, "config", "--show-scope", "--name-only", "-z", "--list")
        if answer is None:
            return None
        words = answer.decode(errors="surrogateescape").split("\0")
        options: list[str] = []
        for scope, key in zip(words[::2], words[1::2], strict=False):
            if scope not in {"local", "worktree"} or not key.startswith("filter."):
                continue
            name = key.rpartition(".")[0]
            if "=" in name:  # git would read the option as one of another filter
                log.warning("%s defines the filter %r, so git is not asked for changes there", folder, name)
                return None
            for setting in ("clean=", "smudge=", "process=", "required=false"):
                options += ["-c", f"{name}.{setting}"]
        return tuple(options)

    async def _ask(
        self, folder: Path, *words: str, stdin: bytes = b"", fine: tuple[int, ...] = (0,)
    ) -> bytes | None:
        """What git answers in `folder`; None when it is missing, or does not want to answer there."""
        if self._path is None:
            self._path = await run_blocking(_find, self._program) or ""
        if not self._path:
            return None
        options = [word for setting in HARMLESS for word in ("-c", setting)]
        command = [self._path, "--no-pager", *options, *words]
        try:
            answer: Captured = await capture(
                command, cwd=folder, env=_environment(), stdin=stdin, seconds=SECONDS
            )
        except OSError as error:  # the folder is gone, or git is
            log.info("git cannot be asked about %s: %s", folder, error)
            return None
        if answer.code is None:
            log.warning("git %s in %s took longer than %g s and was ended", words[-1], folder, SECONDS)
        if answer.code not in fine:
            log.debug("git %s in %s: %s %s", words[0], folder, answer.code, answer.stderr.strip())
            return None
        return answer.stdout


def _find(program: str) -> str | None:
    """The program on the absolute entries of PATH: `.` would be the folder that is asked about."""
    if Path(program).is_absolute():
        return program
    for entry in os.get_exec_path():
        if Path(entry).is_absolute() and (found := shutil.which(Path(entry, program))):
            return os.fspath(found)
    log.info("there is no %s on PATH, so every folder counts as outside of git", program)
    return None


def _as_named(folder: Path, answer: bytes) -> Path | None:
    """The top level as the user names it: git tells real paths, and the user may have come through a link."""
    top = Path(os.fsdecode(answer.rstrip(b"\r\n")))
    real = Path(os.path.realpath(folder))
    if not real.is_relative_to(top) or not os.path.lexists(top / ".git"):
        return None  # the repository claims a work tree that is not around it
    depth = len(real.relative_to(top).parts)
    named = folder.parents[depth - 1] if 0 < depth <= len(folder.parents) else folder
    return named if os.path.realpath(named) == os.fspath(top) else top


def _environment() -> dict[str, str]:
    """Ours without the variables by which a hook that started us would point git at another repository."""
    kept = {key: text for key, text in os.environ.items() if not key.startswith("GIT_")}
    return kept | {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",
        "LC_ALL": "C",
    }
