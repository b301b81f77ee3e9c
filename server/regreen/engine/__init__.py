"""What is going on in every open project? The only mutable state of Regreen; read `core.py` first."""

from __future__ import annotations

from regreen.engine.core import Engine
from regreen.engine.lane import Again
from regreen.engine.state import Offer, ProjectState
from regreen.engine.views import Lens, Mark, fix_title
from regreen.engine.world import Change, Face, Folder, Level, Status, ToolsFactory, Trust, Watch, World

__all__ = [
    "Again",
    "Change",
    "Engine",
    "Face",
    "Folder",
    "Lens",
    "Level",
    "Mark",
    "Offer",
    "ProjectState",
    "Status",
    "ToolsFactory",
    "Trust",
    "Watch",
    "World",
    "fix_title",
]
