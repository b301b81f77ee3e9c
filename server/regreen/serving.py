"""How is the language server put together so that it answers at once?

What runs tests is imported when something runs, and what watches folders when the client cannot watch.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from regreen import lsp
from regreen.engine import World
from regreen.engine.world import ToolsFactory, Watch
from regreen.llm.parts import Person
from regreen.platform.background import run_blocking
from regreen.platform.clock import SystemClock
from regreen.settings import Settings
from regreen.values import Project
from regreen.workspace.projects import discover, locate
from regreen.workspace.trust import TrustStore

if TYPE_CHECKING:
    from regreen.pipeline import Tools


def serve(tcp: tuple[str, int] | None) -> int:
    """Serve one LSP client, on stdin and stdout or at (host, port), until it leaves; the exit code."""
    return lsp.serve(make_world, lsp.Options(tcp))


def make_world() -> World:
    """The real parts for the engine of one language server."""
    return World(_tools, discover, locate, TrustStore(), SystemClock(), _watch)


async def _tools(project: Project, settings: Settings, person: Person) -> Tools:
    """Build a project's tools; the parts are imported away from the event loop."""
    composition = await run_blocking(import_module, "regreen.composition")
    open_tools: ToolsFactory = composition.open_tools
    return await open_tools(project, settings, person)


def _watch(folder: Path, seen: Callable[[Path], None]) -> Watch:
    from regreen.workspace.watcher import FolderWatcher  # noqa: PLC0415 — only some clients need it

    return FolderWatcher(folder, seen)
