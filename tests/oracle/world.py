"""A project with its real mirror, probe and pytest."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from regreen.oracle import backend
from regreen.oracle.backend import LocalBackend
from regreen.oracle.client import ProbeOracle
from regreen.platform import processes
from regreen.settings import Settings
from regreen.values import Interpreter, Project, RunReport, RunRequest, Snapshot
from regreen.workspace.mirror import ProjectMirror

LEAN = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""The plug-ins of our own environment have nothing to do with these projects, and take a second to import."""


class World:
    """One project, its mirror and its oracle."""

    def __init__(self, root: Path, cache: Path) -> None:
        self.root = root
        self.project = Project(root, root)
        self.mirror = ProjectMirror(self.project, cache=cache)
        self.oracle = self.make_oracle()

    def make_oracle(
        self,
        *,
        backend: LocalBackend | None = None,
        kind: str = "pytest",
        pytest_version: str | None = "x",
        env_file: str = "",
        disk_megabytes: float = 1000,
        services: tuple[str, ...] = (),
        model_variables: tuple[str, ...] = (),
        unconfined_models: bool = False,
        **env: str,
    ) -> ProbeOracle:
        project = Project(self.root, self.root, kind=kind)
        version = pytest_version and pytest.__version__
        interpreter = Interpreter(Path(sys.executable), sys.version_info[:3], version, "test")
        settings = Settings(
            env_file=env_file,
            disk_megabytes=disk_megabytes,
            services=services,
            model_variables=model_variables,
            unconfined_models=unconfined_models,
        )
        return ProbeOracle(
            project,
            interpreter,
            backend or LocalBackend(self.mirror),
            settings,
            {**os.environ, **LEAN, **env},
        )

    def write(self, **files: str) -> None:
        for name, text in files.items():
            path = self.root / (name.replace("__", "/") + ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))

    async def run(self, *nodeids: str, snapshot: Snapshot | None = None, **fields: Any) -> RunReport:
        snapshot = snapshot or await self.mirror.sync({})
        return await self.oracle.run(RunRequest(snapshot, nodeids, **fields))


@asynccontextmanager
async def opened(base: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    """A new project in an empty folder; in the end nothing of its processes is left."""
    monkeypatch.setattr(backend, "NICE", 0)  # beside other tests a low priority only takes longer
    root = base / "shop"
    root.mkdir()
    (root / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    world = World(root, base / "cache")
    yield world
    await world.oracle.close()
    await world.mirror.close()
    assert processes.alive() == frozenset()
    assert working_in(root, base / "cache") == set()


def working_in(*folders: Path) -> set[int]:
    """The processes whose working folder lies in one of `folders`, as they themselves see it."""
    return {
        pid
        for pid in psutil.pids()
        if (cwd := cwd_of(pid)) is not None and any(cwd.is_relative_to(folder) for folder in folders)
    }


def cwd_of(pid: int) -> Path | None:
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else Path(process.cwd())
    except (psutil.Error, OSError):  # ended while we looked
        return None
