"""How do tests call the command line as a user does: as a process of its own, with its own cache and state?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECONDS = 120
REPOSITORY = Path(__file__).parents[2]
PLAIN = REPOSITORY / ".e2e" / "plain" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
"""The interpreter of the projects that are healed; `make deps` makes it. Its plugins are few: each costs every run."""

BRIEF = "\n[tool.regreen]\nheal.maxCandidates = 30\nheal.offers = 1\n"
"""For the pyproject.toml of a project whose bug is soon mended: how far a search goes for rivals is another question."""


@dataclass(frozen=True)
class Regreen:
    """The command with a private home.

    Args:
        home: holds the cache and the state.
        cwd: where it is called.
    """

    home: Path
    cwd: Path

    def __call__(
        self,
        *arguments: str | Path,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        return subprocess.run(
            self.command(*arguments),
            cwd=cwd or self.cwd,
            env=environment or self.environment(),
            capture_output=True,
            encoding="utf-8",
            timeout=SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        )

    def start(
        self,
        *arguments: str | Path,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[str]:
        """Start it, to be stopped by the test."""
        return subprocess.Popen(
            self.command(*arguments),
            cwd=cwd or self.cwd,
            env=environment or self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def command(self, *arguments: str | Path) -> list[str]:
        return [sys.executable, "-m", "regreen", *map(str, arguments)]

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        return kept | {
            "REGREEN_CACHE_DIR": str(self.home / "cache"),
            "REGREEN_STATE_DIR": str(self.home / "state"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }


def events(run: subprocess.CompletedProcess[str], kind: str = "") -> list[dict[str, Any]]:
    """The events of a run with `--json`, all or those of one kind."""
    found = [json.loads(line) for line in run.stdout.splitlines()]
    return [event for event in found if not kind or event["event"] == kind]


def tree(folder: Path) -> dict[str, bytes]:
    """Every file of a folder with its bytes; what pytest and Python leave behind does not count."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not {"__pycache__", ".pytest_cache"} & set(path.parts)
    }
