"""How are results told in a terminal?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from regreen.bench.trial import Result

ROWS = (
    ("verified", "verified, by Regreen's own word"),
    ("plausible", "plausible: the visible tests pass"),
    ("offered", "offered"),
    ("correct", "correct: held-out tests pass, too"),
    ("precision", "correct among the offers"),
)


def progress_line(result: Result, done: int, of: int, left: float) -> str:
    """One finished case; `left`: seconds until all are, as far as can be told."""
    ends = f"; about {_duration(left)} left" if done < of else ""
    problem = f" ({result.problem})" if result.problem else ""
    return f"[{done}/{of}] {result.id}: {verdict(result)}{problem}, {result.seconds:.1f} s{ends}"


def verdict(result: Result) -> str:
    """What became of a case in few words: what is said of it, and what is true."""
    if not result.offered:
        return result.outcome
    held_out = {True: "correct", False: "not correct", None: "not graded"}[result.correct]
    return f"{result.outcome}, {held_out}" if result.plausible else f"{result.outcome}, visible tests red"


def table(figures: Mapping[str, Any]) -> str:
    """The totals, with intervals of 95 %."""
    lines = [f"{figures['cases']} cases"]
    lines += [_row(label, figures["shares"][name]) for name, label in ROWS]
    lines += [
        _row(f"correct among the offers of class {name}", share) for name, share in figures["classes"].items()
    ]
    lines.append(
        "seconds a case: "
        f"median {_number(figures['seconds_median'])}, nine of ten within {_number(figures['seconds_p90'])}"
    )
    lines.append(
        "seconds from the beginning of the search to the first plausible candidate: "
        f"median {_number(figures['first_plausible_median'])}, "
        f"nine of ten within {_number(figures['first_plausible_p90'])}"
    )
    lines.append(
        f"from the start to a verified fix: {_number(figures['pytest_runs_median'])} pytest runs (median)"
    )
    if figures["problems"]:
        lines.append(f"cases with a problem of their own: {figures['problems']}")
    return "\n".join(lines) + "\n"


def percent(value: float) -> str:
    """A proportion for people."""
    return f"{100 * value:.1f} %"


def _row(label: str, share: Mapping[str, Any]) -> str:
    start = f"  {label:<42}{share['hits']:>5} of {share['of']:<5}"
    if "share" not in share:
        return start.rstrip()
    return f"{start}{percent(share['share']):>8}   ({percent(share['low'])} to {percent(share['high'])})"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
