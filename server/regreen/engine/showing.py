"""What is shown of every project, and when is it computed again?"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from regreen.engine.registry import Registry
from regreen.engine.state import ProjectState
from regreen.engine.views import EMPTY, View, build
from regreen.engine.world import Face, Status

CHEAP_SECONDS = 0.02
SHARE = 10
"""Computing and sending what is shown takes at most one part in so many of the time."""


class Showing:
    """The views and states of all projects; tells the face what changed."""

    def __init__(self, registry: Registry, face: Face) -> None:
        self._registry = registry
        self._face = face
        self._costs: dict[Path, tuple[float, float]] = {}  # when it was last computed, and how long that took
        self._later: dict[Path, asyncio.TimerHandle] = {}
        self.views: dict[Path, View] = {}
        self.statuses: dict[Path, Status] = {}

    def refresh(self, state: ProjectState) -> None:
        """Show what is known now: at once, or a little later where thousands of red tests make that costly."""
        root = state.root
        if root not in self._registry.states:
            return
        self.set_activity(state, self._activity(state))
        if root in self._later:
            return
        at, cost = self._costs.get(root, (0.0, 0.0))
        wait = at + SHARE * cost - time.perf_counter()
        if cost > CHEAP_SECONDS and wait > 0:
            self._later[root] = asyncio.get_running_loop().call_later(wait, self._refresh_now, state)
        else:
            self._refresh_now(state)

    def _refresh_now(self, state: ProjectState) -> None:
        root = state.root
        self._later.pop(root, None)
        if root not in self._registry.states:
            return
        began = time.perf_counter()
        old, new = self.views.get(root, EMPTY), build(state)
        self.views[root] = new
        differing = frozenset(
            path
            for path in old.paths | new.paths
            if old.marks.get(path) != new.marks.get(path) or old.lenses.get(path) != new.lenses.get(path)
        )
        if differing:
            self._face.publish(differing)
        now = time.perf_counter()
        self._costs[root] = (now, now - began)

    def forget(self, root: Path) -> None:
        """Take back everything that is shown of a project."""
        if (later := self._later.pop(root, None)) is not None:
            later.cancel()
        shown = self.views.pop(root, EMPTY).paths
        self.statuses.pop(root, None)
        self._face.publish(shown)

    def close(self) -> None:
        """Show nothing more."""
        for later in self._later.values():
            later.cancel()
        self._later.clear()

    def _activity(self, state: ProjectState) -> str:
        if state.searching:
            return "healing"
        running = self.statuses.get(state.root)
        return "running" if running is not None and running.state in ("running", "healing") else "idle"

    def set_activity(self, state: ProjectState, activity: str) -> None:
        """Tell what a project does: running, healing or idle; why it is idle is added here."""
        if not state.settings.enable:
            activity = "disabled"
        elif activity == "idle" and not self._registry.is_trusted(state.folder):
            activity = "untrusted"
        elif activity == "idle" and state.problem:
            activity = "problem"
        status = Status(
            root=state.root,
            state=activity,
            message=state.problem or summary(state),
            red=_red(state),
            fixes=_fixes(state),
            auto_heal=state.settings.auto_heal_on_save,
            isolation=state.isolation,
            model="" if state.settings.llm_mode == "off" else state.settings.llm_model,
            usd_today=state.usd_today,
        )
        if self.statuses.get(state.root) != status:
            self.statuses[state.root] = status
            self._face.status(status)


def summary(state: ProjectState) -> str:
    """How a project stands, in a few words."""
    red, fixes = _red(state), _fixes(state)
    if not red:
        return "all green" if state.outcomes else ""
    return f"{red} red, {fixes} with a fix" if fixes else f"{red} red"


def _red(state: ProjectState) -> int:
    return sum(o.status.is_red for o in state.outcomes.values()) + len(state.known_reds)


def _fixes(state: ProjectState) -> int:
    return sum(bool(state.offers_for(nodeid)) for nodeid in state.results)
