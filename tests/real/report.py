"""What do people and programs get to see of all trials?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from statistics import median
from typing import Any

from tests.real.trial import Trial

NEEDED_PERCENT = 60


def needed(bugs: int) -> int:
    """How many of so many bugs must be healed."""
    return math.ceil(bugs * NEEDED_PERCENT / 100)


def line(trial: Trial) -> str:
    """One row, shown as soon as it is known and again in the table."""
    healed = trial.heal
    tried = sum(healed.tried.values()) if healed else 0
    remarks = [
        "the original line" if trial.original else "",
        "" if trial.mended or not (healed and healed.diff) else "leaves other reds of the bug",
        f"BREAKS {', '.join(trial.broken)}" if trial.broken else "",
        trial.problem.splitlines()[0] if trial.problem else "",
    ]
    name = f"{trial.bug.project}/{trial.bug.name}"
    took = f"{healed.seconds:6.1f} s" if healed else f"{'':8}"
    return (
        f"{name:42} {trial.bug.kind:26.26} {trial.outcome:20} {tried:5} {took}  "
        + "; ".join(filter(None, remarks))
    ).rstrip()


def table(trials: Sequence[Trial]) -> str:
    """Every trial, then the details of what went wrong."""
    heading = f"{'bug':42} {'kind':26} {'outcome':20} {'tried':>5} {'first fix':>8}"
    rows = [heading, "-" * len(heading), *map(line, trials)]
    for trial in trials:
        if trial.problem:
            rows += ["", f"{trial.bug.project}/{trial.bug.name}: {trial.problem}"]
        elif trial.heal and not trial.verified:
            first = next(iter(trial.heal.reasons.values()), "no reason given")
            rows += ["", f"{trial.bug.project}/{trial.bug.name}: {first}"]
    return "\n".join(rows)


def summary(trials: Sequence[Trial]) -> str:
    """How many are found, how many equal the original line, and how long it took."""
    verified = [trial for trial in trials if trial.verified]
    seconds = [trial.heal.seconds for trial in verified if trial.heal]
    times = f"median {median(seconds):.1f} s, slowest {max(seconds):.1f} s to the fix" if seconds else "none"
    return (
        f"{len(verified)} of {len(trials)} verified ({needed(len(trials))} wanted), {times}; "
        f"{sum(trial.original for trial in verified)} equal the original line; "
        f"{sum(bool(trial.broken) for trial in trials)} break another test"
    )


def as_json(trials: Iterable[Trial], seconds: float) -> dict[str, Any]:
    """Everything, for programs."""
    return {
        "v": 1,
        "seconds": round(seconds, 1),
        "bugs": [{**asdict(trial), "outcome": trial.outcome, "verified": trial.verified} for trial in trials],
    }
