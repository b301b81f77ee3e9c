"""How much can go on at the same time?"""

from __future__ import annotations

import os

MOST = 4
"""More runs at once would take more memory than an editor's companion should: each is a process tree of its own."""


def at_once() -> int:
    """How many runs of tests may go on together: one for each processor we may use, up to a few."""
    affinity = getattr(os, "sched_getaffinity", None)  # not on macOS and Windows
    usable = len(affinity(0)) if affinity is not None else os.cpu_count()
    return min(usable or 1, MOST)
