"""What does `regreen heal` make of a project, as its user sees it?

The command itself is run, in a process of its own: what is measured is what anybody gets, and a heal that crashes or
hangs is one lost case. Only its NDJSON lines are read, and the patch that it writes.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regreen.platform import processes
from regreen.platform.waiting import within
from regreen.values import Outcome, Verdict

CLASSES = ("", "agreed", "split", "thin")
"""Confidence classes, from the one that promises most; "" where the heal names none."""


@dataclass(slots=True)
class Spent:
    """What one family of templates cost in one case, and how many plausible candidates it gave."""

    tried: int = 0
    seconds: float = 0.0
    plausible: int = 0


@dataclass(slots=True)
class Healed:
    """What one heal said and did.

    Args:
        outcomes: by node id.
        classes: the confidence class of each red test's best fix.
        families: what was tried, by family of templates.
        first_plausible: from the beginning of the search to the first plausible candidate, None without one.
        offer_seconds: from the start of the command to the first verified fix, None without one.
        seconds: from the start of the command to its end.
        patch: what was applied, for `git apply`; "" when nothing was.
        tokens, usd: what a language model read and wrote, and took for it.
        summary: the line that ends every run was heard.
        problem: why the command did not end as it should; "" when it did.
    """

    outcomes: dict[str, str] = field(default_factory=dict)
    classes: list[str] = field(default_factory=list)
    families: dict[str, Spent] = field(default_factory=dict)
    first_plausible: float | None = None
    offer_seconds: float | None = None
    seconds: float = 0.0
    patch: str = ""
    tokens: int = 0
    usd: float = 0.0
    summary: bool = False
    problem: str = ""

    @property
    def outcome(self) -> str:
        """The first outcome other than VERIFIED, which stands only where every red test has it."""
        if self.problem:
            return Outcome.INTERNAL_ERROR.value
        others = [name for name in self.outcomes.values() if name != Outcome.VERIFIED.value]
        return (others or [*self.outcomes.values()] or [Outcome.NOT_REPRODUCED.value])[0]

    @property
    def confidence(self) -> str:
        """The class of the least certain of the fixes; "" without one."""
        return max(self.classes, key=CLASSES.index, default="")

    def hear(self, event: Mapping[str, Any], at: float) -> None:
        """Note one event, `at` seconds after the start."""
        if event["event"] == "candidate":
            spent = self.families.setdefault(event["template"].partition(".")[0], Spent())
            spent.tried += 1
            spent.seconds += event["seconds"]
            if event["verdict"] == Verdict.PLAUSIBLE.value:
                spent.plausible += 1
                if self.first_plausible is None:
                    self.first_plausible = event["after"]
        elif event["event"] == "offer":
            self._offered(at)
        elif event["event"] == "summary":
            self.summary = True
        elif event["event"] == "result":
            self.outcomes[event["nodeid"]] = event["outcome"]
            if (asked := event.get("model")) is not None:
                self.tokens += asked["tokens"]
                self.usd += asked["usd"]
            if event["outcome"] == Outcome.VERIFIED.value:
                self.classes.append((event["evidence"] or {}).get("confidence", ""))
                self._offered(at)

    def _offered(self, at: float) -> None:
        if self.offer_seconds is None:
            self.offer_seconds = round(at, 3)


async def heal(project: Path, red: Sequence[str], options: Sequence[str], *, limit: float) -> Healed:
    """Heal a project in place.

    Args:
        project: a private copy; what Regreen keeps for it goes beside it.
        red: the node ids to heal; empty for every test that is red.
        options: further ones of the command.
        limit: seconds after which the command is ended, with all that it started.
    """
    patch = project.with_name("fix.patch")
    what: list[str | Path] = [f"{project}/{nodeid}" for nodeid in red] or [project]
    command = [
        sys.executable,
        "-m",
        "regreen",
        "heal",
        *what,
        "--json",
        "--apply",
        "--patch",
        patch,
        *options,
    ]
    environment = {
        **os.environ,
        "REGREEN_CACHE_DIR": str(project.with_name("cache")),
        "REGREEN_STATE_DIR": str(project.with_name("state")),
        "GIT_CEILING_DIRECTORIES": str(project.parent),
    }
    healed = Healed()
    began = time.monotonic()
    # Not in the project: Python would look there first for the modules that Regreen imports.
    process = await processes.start(command, cwd=project.parent, env=environment, stdout=True)
    try:
        status = await within(limit, _listen(process, healed, began))
        await process.drained()
    except asyncio.TimeoutError:
        healed.problem = f"still running after {limit:g} s, and stopped"
    else:
        if status not in (0, 1) or not healed.summary:
            last = process.stderr_tail().strip().rpartition("\n")[2]
            healed.problem = f"ended with status {status}: {last}"
    finally:
        await process.kill_tree()
    healed.seconds = round(time.monotonic() - began, 3)
    if not healed.problem and patch.is_file():
        healed.patch = patch.read_text(encoding="utf-8", errors="replace")
    return healed


async def _listen(process: processes.Process, healed: Healed, began: float) -> int:
    while process.stdout is not None and (line := await process.stdout.readline()):
        if line.endswith(b"\n"):  # else the command died while it wrote
            healed.hear(json.loads(line), time.monotonic() - began)
    return await process.wait()
