"""What does the engine need from the outside, and whom does it tell?

`World` is filled by the composition root with the real parts; `Face` is the editor (or a list in a test).
"""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from regreen.llm.parts import Person
from regreen.ports import Clock
from regreen.settings import Settings
from regreen.values import Project

if TYPE_CHECKING:  # the pipeline is imported when something runs: the server answers sooner
    from regreen.pipeline import Tools


class Trust(Protocol):
    """Which folders the user trusts, kept outside of every repository."""

    def is_trusted(self, folder: Path) -> bool:
        """Whether code of this folder may run."""
        ...

    def trust(self, folder: Path) -> None:
        """Remember that the user trusts this folder."""
        ...


class Watch(Protocol):
    """A running watch of some folders."""

    def close(self) -> None:
        """Stop it; no event comes after this."""
        ...


ToolsFactory = Callable[[Project, Settings, Person], Awaitable["Tools"]]


@dataclass(frozen=True, slots=True)
class World:
    """The parts that the composition root wires.

    Args:
        tools: builds the oracle, mirror, git, history and, for a user who is there to be asked, the model's parts of
            one project; raises EnvironmentProblem.
        discover: every project in a workspace folder, nearest the root first.
        project_of: the project of a file, given the workspace folder; reads a few directory entries.
        trust: what the user trusts.
        clock: time.
        watch: watches a workspace folder, calling back from any thread with paths that may have changed;
            used where the client cannot watch. None: files are only noticed when they are saved.
    """

    tools: ToolsFactory
    discover: Callable[[Path], Sequence[Project]]
    project_of: Callable[[Path, Path], Project | None]
    trust: Trust
    clock: Clock
    watch: Callable[[Path, Callable[[Path], None]], Watch] | None = None


class Level(enum.Enum):
    """How important a line of the log is."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Status:
    """What Regreen is doing in one project, for a status line.

    Args:
        state: idle | running | healing | untrusted | disabled | problem.
        red, fixes: how many tests are red, and for how many of them a fix is ready.
        auto_heal: whether verified fixes are applied after a save by hand.
        isolation: what held in the last run: full, partial or none; "" before the first one.
        model: the language model that may be asked, "" for none.
        usd_today: what models have cost today (UTC) in all projects, estimated, in US dollars.
    """

    root: Path
    state: str
    message: str = ""
    red: int = 0
    fixes: int = 0
    auto_heal: bool = False
    isolation: str = ""
    model: str = ""
    usd_today: float = 0.0


@dataclass(frozen=True, slots=True)
class Change:
    """New text for some files, to be applied by the editor as one undoable step."""

    label: str
    fix_id: str
    before: Mapping[Path, bytes]
    after: Mapping[Path, bytes]


class Face(Person, Protocol):
    """Whoever shows what the engine knows. Every method returns at once but `apply` and the questions of `Person`."""

    def publish(self, paths: frozenset[Path]) -> None:
        """The marks or lenses of these files changed."""
        ...

    def log(self, level: Level, text: str) -> None:
        """A line for the log; never a pop-up."""
        ...

    def status(self, status: Status) -> None:
        """The state of a project changed."""
        ...

    def begin(self, root: Path, title: str, cancel: Callable[[], object]) -> None:
        """A run of this project began; `cancel` ends it."""
        ...

    def report(self, root: Path, message: str, fraction: float | None) -> None:
        """The run moved on."""
        ...

    def end(self, root: Path, message: str) -> None:
        """The run ended."""
        ...

    async def apply(self, change: Change) -> None:
        """Ask the editor to make a change. Whether it did is seen in the documents, never in a reply."""
        ...


Sources = Callable[[Path], Awaitable[Sequence[Mapping[str, Any]]]]


@dataclass(frozen=True, slots=True)
class Folder:
    """One open workspace folder, with what the client said about it.

    Args:
        path: absolute.
        sources: asks the client for the settings at a folder, oldest first; of the folder itself, or of a project in it.
        trusted: whether the client says that the user trusts it; None leaves it to the user's own list.
        ready: set once the settings are known and the projects were looked for; no event is judged before.
    """

    path: Path
    sources: Sources | None = field(default=None, compare=False)
    trusted: bool | None = None
    ready: asyncio.Event = field(default_factory=asyncio.Event, compare=False)
