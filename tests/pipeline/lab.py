"""A small project on disk with real tools: what the tests of the pipeline work on."""

from __future__ import annotations

import asyncio
import subprocess
import textwrap
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from regreen import edits, pipeline
from regreen.history.store import Store
from regreen.oracle import interpreters
from regreen.oracle.backend import LocalBackend
from regreen.oracle.client import ProbeOracle
from regreen.pipeline import Baseline, Tools
from regreen.pipeline.coverage import Coverage
from regreen.pipeline.texts import load_sources
from regreen.platform import processes
from regreen.platform.clock import SystemClock
from regreen.settings import Settings
from regreen.values import CandidateVerdict, Failure, HealResult, Progress, Project, VerifiedFix
from regreen.workspace.git import GitCommand
from regreen.workspace.mirror import ProjectMirror


def only(results: tuple[HealResult, ...]) -> HealResult:
    """The one result that there must be."""
    assert len(results) == 1, [r.failure.nodeid for r in results]
    return results[0]


class Ledger:
    """A reporter that remembers."""

    def __init__(self) -> None:
        self.verdicts: list[CandidateVerdict] = []
        self.results: list[HealResult] = []
        self.offers: list[tuple[HealResult, int]] = []  # with the number of heals that had ended
        self.stages: list[str] = []

    def progress(self, progress: Progress) -> None:
        self.stages.append(progress.stage)

    def failure(self, failure: Failure) -> None:
        pass

    def candidate(self, failure: Failure, verdict: CandidateVerdict) -> None:
        self.verdicts.append(verdict)

    def offer(self, result: HealResult) -> None:
        self.offers.append((result, len(self.results)))

    def result(self, result: HealResult) -> None:
        self.results.append(result)


class Lab:
    """One project folder and the tools that heal it; `outside` is a folder beside the project."""

    def __init__(self, folder: Path, python: Path) -> None:
        self.root = folder / "project"
        self.outside = folder / "outside"
        self.root.mkdir()
        self.outside.mkdir()
        self.project = Project(self.root, self.root)
        self.ledger = Ledger()
        self._settings = Settings(heal_seconds=40, interpreter=str(python))
        self._history = Store(folder / "history.db")
        self._mirror = ProjectMirror(self.project, cache=folder / "cache")
        self._building = asyncio.Lock()
        self._tools: Tools | None = None

    def text(self, text: str) -> str:
        """Lay out text as it is written to disk."""
        return textwrap.dedent(text).lstrip("\n")

    def write(self, files: Mapping[str, str]) -> None:
        """Write files below the project's root, indentation removed."""
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.text(text), encoding="utf-8")

    def settings(self, **changes: Any) -> None:
        """Change settings."""
        self._settings = replace(self._settings, **changes)

    def picture(self) -> dict[str, tuple[bytes, int]]:
        """Show every file of the project with its content and time of change."""
        return {
            str(path): (path.read_bytes(), path.stat().st_mtime_ns)
            for path in sorted(self.root.rglob("*"))
            if path.is_file()
        }

    def commit(self) -> None:
        """Make the project a git work tree and commit everything."""
        git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
        for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
            subprocess.run([*git, *command], cwd=self.root, check=True, capture_output=True)

    def apply(self, fix: VerifiedFix) -> None:
        """Write a fix to disk."""
        for file in fix.candidate.edits:
            file.path.write_bytes(edits.apply_to_bytes(file.path.read_bytes(), file))

    async def tools(self) -> Tools:
        """Build the real tools, once, however many ask at the same time."""
        async with self._building:
            if self._tools is None:
                interpreter = await interpreters.find(self.project, self._settings)
                oracle = ProbeOracle(self.project, interpreter, LocalBackend(self._mirror), self._settings)
                self._tools = Tools(
                    oracle, self._mirror, GitCommand(), self._history, SystemClock(), interpreter
                )
            return self._tools

    async def baseline(
        self, unsaved: Mapping[Path, bytes] | None = None, nodeids: tuple[str, ...] = ()
    ) -> Baseline:
        """Run the tests unpatched, the whole suite when none are named."""
        tools = await self.tools()
        return await pipeline.baseline(tools, self._settings, self.ledger, nodeids=nodeids, unsaved=unsaved)

    async def mapped(self, base: Baseline, name: str, *, seconds: float) -> tuple[Baseline, bool]:
        """Fill the coverage map of one file; whether it got complete in these seconds."""
        tools = await self.tools()
        sources, _ = await load_sources(base.snapshot, tools)
        files, failure = [self.root / name], base.report.failures[0]
        return await Coverage(tools, seconds).extend(base, files, sources, failure)

    async def heal(self, base: Baseline | None = None) -> tuple[HealResult, ...]:
        """Heal everything that is red."""
        base = base or await self.baseline()
        return await pipeline.heal_all(base, await self.tools(), self._settings, self.ledger)

    async def heal_one(self, failure: Failure, base: Baseline) -> HealResult:
        """Heal one failure."""
        return await pipeline.heal(failure, base, await self.tools(), self._settings, self.ledger)

    async def close(self) -> None:
        """End every process; none must be left."""
        if self._tools is not None:
            await self._tools.oracle.close()
            await self._mirror.close()
            self._tools = None
        assert processes.alive() == frozenset()
