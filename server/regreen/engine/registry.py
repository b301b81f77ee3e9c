"""Which folders and projects are open, and which settings are in force in each?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from regreen.engine.known import read_last_run
from regreen.engine.state import ProjectState
from regreen.engine.world import Folder, World
from regreen.platform.background import run_blocking
from regreen.settings import Settings, from_pyproject, merge
from regreen.values import Project


class Registry:
    """Folders and their projects.

    Args:
        complain: hears each sentence about a setting that cannot be used, once.
    """

    def __init__(self, world: World, complain: Callable[[str], None]) -> None:
        self._world = world
        self._complain = complain
        self._complaints: set[tuple[Path, str]] = set()
        self._auto_heal: dict[Path, bool] = {}
        self._trusted: dict[Path, bool] = {}
        self.folders: dict[Path, Folder] = {}
        self.states: dict[Path, ProjectState] = {}

    def folder_of(self, path: Path) -> Folder | None:
        """The innermost open folder that holds the path."""
        holding = [folder for folder in self.folders.values() if path.is_relative_to(folder.path)]
        return max(holding, key=lambda folder: len(folder.path.parts), default=None)

    def state_of(self, path: Path) -> ProjectState | None:
        """The innermost known project that holds the path, or whose snapshot contains it."""
        holding = [state for root, state in self.states.items() if path.is_relative_to(root)]
        if holding:
            return max(holding, key=lambda state: len(state.root.parts))
        return next((s for s in self.states.values() if s.snapshot and path in s.snapshot.files), None)

    async def find(self, path: Path) -> ProjectState | None:
        """The project of a file, looked for on disk: a folder may have become a project since it was opened."""
        folder = self.folder_of(path)
        if folder is None:
            return self.state_of(path)
        await folder.ready.wait()
        await self.learn_trust(folder.path)
        folder = self.folders.get(folder.path, folder)
        project = await run_blocking(self._world.project_of, path, folder.path)
        return await self._add(project, folder) if project is not None else self.state_of(path)

    async def discover(self, folder: Folder) -> Sequence[ProjectState]:
        """Find every project of a folder, with the reds of the user's own last run. Runs nothing."""
        await self.learn_trust(folder.path)
        projects = await run_blocking(self._world.discover, folder.path)
        return [await self._add(project, folder) for project in projects]

    async def _add(self, project: Project, folder: Folder) -> ProjectState:
        if (state := self.states.get(project.root)) is not None:
            return state
        settings = await self.settings_for(project, folder)
        last_run = await run_blocking(read_last_run, project.root)
        if (state := self.states.get(project.root)) is not None:  # added while we read
            return state
        state = ProjectState(project, folder.path, settings)
        state.known_reds.update(last_run.red)
        state.green_before.update(last_run.green)
        self.states[project.root] = state
        return state

    async def settings_for(self, project: Project, folder: Folder) -> Settings:
        """What is in force in a project: defaults, repository, then what the client said, oldest first."""
        text = await run_blocking(_pyproject, project.root)
        values, problem = from_pyproject(text)
        settings, complaints = merge(Settings(), values, from_repository=True)
        told = [problem] if problem else []
        told += [f"{project.root / 'pyproject.toml'}: {sentence}" for sentence in complaints]
        for source in await folder.sources(project.root) if folder.sources is not None else ():
            settings, complaints = merge(settings, source, from_repository=False)
            told += complaints
        for sentence in told:
            if (folder.path, sentence) not in self._complaints:
                self._complaints.add((folder.path, sentence))
                self._complain(sentence)
        if folder.path in self._auto_heal:
            settings = replace(settings, auto_heal_on_save=self._auto_heal[folder.path])
        return settings

    async def reconfigure(self, folder: Folder) -> None:
        """Compute the settings of every project of a folder again."""
        self.folders[folder.path] = folder
        for state in [state for state in self.states.values() if state.folder == folder.path]:
            state.settings = await self.settings_for(state.project, folder)

    def toggle_auto_heal(self, folder: Path) -> bool:
        """Turn healing on save on or off for this session; tells what it is now."""
        states = [state for state in self.states.values() if state.folder == folder]
        now = not any(state.settings.auto_heal_on_save for state in states)
        self._auto_heal[folder] = now
        for state in states:
            state.settings = replace(state.settings, auto_heal_on_save=now)
        return now

    def is_trusted(self, folder: Path) -> bool:
        """Whether code of this folder may run."""
        known = self.folders.get(folder)
        if known is not None and known.trusted is not None:
            return known.trusted
        return self._trusted.get(folder, False)

    async def learn_trust(self, folder: Path) -> None:
        """Look an untrusted folder up in the user's list: it may have been trusted in a terminal meanwhile."""
        if not self.is_trusted(folder):
            self._trusted[folder] = await run_blocking(self._world.trust.is_trusted, folder)


def _pyproject(root: Path) -> str:
    try:
        return (root / "pyproject.toml").read_text("utf-8", errors="replace")
    except OSError:  # none, or not readable: then it sets nothing
        return ""
