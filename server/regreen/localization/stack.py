"""What does the traceback say about the place of the fault?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from regreen.values import Failure

CRASH_BONUS = 0.5
"""What the crash line gains over its Ochiai score; each caller up the stack gains 0.7 of the one below."""


def bonuses(failure: Failure, is_test: Callable[[Path], bool]) -> Mapping[tuple[Path, int], float]:
    """Bonus for each of the project's own, non-test lines on the traceback, the innermost highest."""
    found: dict[tuple[Path, int], float] = {}
    bonus = CRASH_BONUS
    for frame in reversed(failure.frames):
        if not frame.own or is_test(frame.path) or (frame.path, frame.line) in found:
            continue
        found[frame.path, frame.line] = bonus
        bonus *= 0.7
    return found
