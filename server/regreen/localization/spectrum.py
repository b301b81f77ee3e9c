"""How suspicious does a line look, judged by which tests execute it?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path

from regreen.values import Spectrum

Place = tuple[Path, int]


def ochiai(spectrum: Spectrum, failing: Iterable[str], passing: Iterable[str]) -> Mapping[Place, float]:
    """Rank lines by the Ochiai coefficient, failed / sqrt(all failed × executed).

    Source: Abreu, Zoeteweij, van Gemund, "On the accuracy of spectrum-based fault localization",
    TAIC PART 2007.

    Args:
        spectrum: lines executed by each test.
        failing: node ids that are red because of the fault looked for.
        passing: node ids that are green; red tests of other faults belong to neither.

    Returns:
        (file, 0-based line) → coefficient in (0, 1], only for lines that a failing test executes.
    """
    failed: dict[Place, int] = {}
    total_failed = 0
    for nodeid in failing:
        lines = spectrum.lines.get(nodeid)
        if lines is None:
            continue
        total_failed += 1
        for path, numbers in lines.items():
            for number in numbers:
                failed[path, number] = failed.get((path, number), 0) + 1
    passed = dict.fromkeys(failed, 0)
    for nodeid in passing:
        for path, numbers in spectrum.lines.get(nodeid, {}).items():
            for number in numbers:
                if (path, number) in passed:
                    passed[path, number] += 1
    return {
        place: count / math.sqrt(total_failed * (count + passed[place])) for place, count in failed.items()
    }
