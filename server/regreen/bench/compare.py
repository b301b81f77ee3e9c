"""Is one run better than another, case by case?

Only cases that both have count. Proportions are compared as pairs; so are medians and precision, by drawing the
same cases for both.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from regreen.bench.intervals import bootstrap, mcnemar, paired
from regreen.bench.journal import from_fields
from regreen.bench.report import percent
from regreen.bench.totals import percentile
from regreen.bench.trial import Result
from regreen.errors import UsageError

Pair = tuple[Result, Result]

PROPORTIONS: tuple[tuple[str, Callable[[Result], bool]], ...] = (
    ("plausible", lambda one: one.plausible),
    ("offered", lambda one: one.offered),
    ("correct", lambda one: bool(one.correct)),
)


def compare_command(first: Path, second: Path) -> int:
    """Print what the second run has more, or less, than the first.

    Raises:
        UsageError: a file is not what `regreen bench --json` wrote, or they have no case in common.
    """
    before, after = _read(first), _read(second)
    pairs = [(before[name], after[name]) for name in before if name in after]
    if not pairs:
        raise UsageError(f"{first} and {second} have no case in common.")
    lines = [f"{len(pairs)} cases in both; B minus A, with intervals of 95 %"]
    if alone := len(before) + len(after) - 2 * len(pairs):
        lines.append(f"{alone} cases are in only one of the files and do not count")
    lines += [_proportion(name, [(of(a), of(b)) for a, b in pairs]) for name, of in PROPORTIONS]
    lines.append(_drawn("precision", pairs, _precision, percent))
    lines.append(_drawn("seconds a case, median", pairs, _seconds, lambda value: f"{value:.2f}"))
    lines += _changed(pairs)
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def _read(path: Path) -> dict[str, Result]:
    try:
        cases = [from_fields(told) for told in json.loads(path.read_text(encoding="utf-8"))["cases"]]
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} is not what `regreen bench --json` writes.") from error
    return {case.id: case for case in cases}


def _proportion(name: str, pairs: Sequence[tuple[bool, bool]]) -> str:
    gained = sum(b and not a for a, b in pairs)
    lost = sum(a and not b for a, b in pairs)
    low, high = paired(gained, lost, len(pairs))
    return (
        f"  {name:<24}{sum(a for a, _ in pairs):>5} → {sum(b for _, b in pairs):<5}"
        f"+{gained} -{lost}: {percent((gained - lost) / len(pairs))} ({percent(low)} to {percent(high)}), "
        f"p = {mcnemar(gained, lost):.3f}"
    )


def _drawn(
    name: str,
    pairs: Sequence[Pair],
    statistic: Callable[[Sequence[Result]], float | None],
    shown: Callable[[float], str],
) -> str:
    def difference(drawn: Sequence[Pair]) -> float | None:
        before, after = statistic([a for a, _ in drawn]), statistic([b for _, b in drawn])
        return None if before is None or after is None else after - before

    middle, interval = difference(pairs), bootstrap(pairs, difference)
    if middle is None or interval is None:
        return f"  {name:<24}nothing to compare"
    before, after = (statistic([pair[side] for pair in pairs]) or 0.0 for side in (0, 1))
    return (
        f"  {name:<24}{shown(before):>5} → {shown(after):<5}: "
        f"{shown(middle)} ({shown(interval[0])} to {shown(interval[1])})"
    )


def _precision(results: Sequence[Result]) -> float | None:
    graded = [one for one in results if one.offered and one.correct is not None]
    return sum(bool(one.correct) for one in graded) / len(graded) if graded else None


def _seconds(results: Sequence[Result]) -> float | None:
    return percentile([one.seconds for one in results], 0.5)


def _changed(pairs: Sequence[Pair]) -> list[str]:
    """Names the cases that were gained or lost."""
    lists = {
        "newly correct": [b.id for a, b in pairs if b.correct and not a.correct],
        "no longer correct": [b.id for a, b in pairs if a.correct and not b.correct],
    }
    return [f"  {name}: {', '.join(ids)}" for name, ids in lists.items() if ids]
