"""Why may this fix be believed, in one sentence?"""

from __future__ import annotations

from regreen.values import Evidence


def sentence(evidence: Evidence) -> str:
    """The evidence as people read it: "1 red → green, 37 still green, 3/3 runs, tests untouched, 1 line, 0.8 s".

    What weakens the proof is said in the same sentence: other tests still red, runs without confinement, and
    the notes of the validation (affected tests that were not run, fewer repetitions).
    """
    parts = [
        f"{len(evidence.red_to_green)} red → green",
        f"{evidence.still_green} still green",
    ]
    if evidence.still_red:
        parts.append(f"{len(evidence.still_red)} still red")
    parts += [
        f"{evidence.runs}/{evidence.runs_wanted} runs",
        "tests untouched",
        plural(evidence.lines_changed, "line"),
        seconds(evidence.seconds),
    ]
    if evidence.isolation == "partial":
        parts.append("runs partly isolated")
    if evidence.isolation == "none":
        parts.append("runs not confined")
    return ", ".join([*parts, *evidence.notes])


def plural(count: int, noun: str) -> str:
    """A counted noun: "1 line", "2 lines"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def seconds(value: float) -> str:
    """A duration in seconds: "0.8 s", "12 s", "3 min 20 s"."""
    if value < 10:
        return f"{value:.1f} s"
    if value < 120:
        return f"{value:.0f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s"


def size(count: int) -> str:
    """An amount of bytes: "812 B", "3.4 MB"."""
    value = float(count)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"
