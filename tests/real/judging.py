"""What do a project's own tests say about the files as they are now?

Runs pytest itself, in the project's own environment; Regreen has no part in it.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.real.places import Place

RECORDER = Path(__file__).resolve().parent / "recorder"
RUN_SECONDS = 180


class NotRunError(Exception):
    """pytest ended without saying what became of the tests."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Outcomes by node id: "passed", "failed" or "skipped"."""

    outcomes: dict[str, str]

    @property
    def red(self) -> frozenset[str]:
        """Everything that failed."""
        return frozenset(nodeid for nodeid, outcome in self.outcomes.items() if outcome == "failed")

    @property
    def green(self) -> frozenset[str]:
        """Everything that passed."""
        return frozenset(nodeid for nodeid, outcome in self.outcomes.items() if outcome == "passed")


def judge(at: Place, nodeids: Sequence[str] = ()) -> Judgement:
    """Run these tests, or all that the data file selects.

    Raises:
        NotRunError: with the last words of the run.
    """
    outcomes = at.sdist.with_name("outcomes.json")
    outcomes.unlink(missing_ok=True)
    environment = {
        **os.environ,
        "PYTHONPATH": str(RECORDER),
        "PYTHONDONTWRITEBYTECODE": "1",  # a file of the same second and size would hide the next edit
        "REGREEN_OUTCOMES": str(outcomes),
    }
    arguments = nodeids or at.project.selection
    try:
        done = subprocess.run(
            [str(at.python), "-m", "pytest", "-q", "-p", "regreen_outcome_recorder", *arguments],
            cwd=at.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=RUN_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as hanging:
        raise NotRunError(f"{at.project.name}: the tests took more than {RUN_SECONDS} s") from hanging
    if not outcomes.exists():
        raise NotRunError(f"{at.project.name}: pytest ended with {done.returncode}:\n{done.stdout[-2000:]}")
    return Judgement(json.loads(outcomes.read_text(encoding="utf-8")))
