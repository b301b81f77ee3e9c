"""Which red tests have one cause, so that it is searched once?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from regreen.values import Failure

Signature = tuple[str, str, int]


def signature(failure: Failure, is_test: Callable[[Path], bool]) -> Signature:
    """What two failures of one cause share: the exception's type and the project's own line that raised it.

    A failure that never left the test's own file is alike only with itself.
    """
    for frame in reversed(failure.frames):
        if frame.own and not is_test(frame.path):
            return (failure.exception, str(frame.path), frame.line)
    return (failure.exception, failure.nodeid, -1)


def grouped(failures: Iterable[Failure], is_test: Callable[[Path], bool]) -> list[list[Failure]]:
    """Group failures by signature; the fastest of each group first, groups in order of their fastest."""
    groups: dict[Signature, list[Failure]] = {}
    for failure in sorted(failures, key=lambda one: one.seconds):
        groups.setdefault(signature(failure, is_test), []).append(failure)
    return list(groups.values())
