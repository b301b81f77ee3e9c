"""How is one long run shared out among the processors?

Each shard is a run of its own, with its own copy and process; together they run what the one would have run. The tests
of one file stay together and in order, so that what a module's fixtures make is made once, and what only works after
an earlier test of its file still does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from regreen.pipeline.concurrent import all_or_none
from regreen.platform.processors import at_once
from regreen.ports import Oracle
from regreen.values import RunReport, RunRequest, Spectrum

EACH_SECONDS = 0.001
"""What a test takes at least; the weight of one that has not been timed."""

LEVELS = ("none", "partial", "full")


def split(nodeids: Sequence[str], seconds: Mapping[str, float]) -> tuple[tuple[str, ...], ...]:
    """Share tests out so that all shards take about as long.

    Longest first, each file to whom has the least: at worst 4/3 of the best there is (R. L. Graham, "Bounds on
    multiprocessing timing anomalies", 1969).

    Args:
        nodeids: tests, or files.
        seconds: how long those take that were timed.

    Returns:
        At most as many shards as may run at once, none of them empty; the tests in their order.
    """
    files: dict[str, list[str]] = {}
    for nodeid in nodeids:
        files.setdefault(nodeid.partition("::")[0], []).append(nodeid)
    weights = {
        file: sum(max(EACH_SECONDS, seconds.get(nodeid, 0.0)) for nodeid in inside)
        for file, inside in files.items()
    }
    loads = [0.0] * min(at_once(), len(files))
    shard_of: dict[str, int] = {}
    for file in sorted(files, key=lambda name: -weights[name]):
        least = loads.index(min(loads))
        loads[least] += weights[file]
        shard_of[file] = least
    return tuple(
        tuple(chain.from_iterable(inside for file, inside in files.items() if shard_of[file] == number))
        for number in range(len(loads))
    )


async def in_shards(oracle: Oracle, request: RunRequest, seconds: Mapping[str, float]) -> RunReport:
    """Run the tests that a request names in shards, at the same time.

    Args:
        oracle: runs them.
        request: names at least one test, and observes no behaviour: that is one digest for each process.
        seconds: how long the tests take, as far as it is known.
    """
    shards = split(request.nodeids, seconds)
    return joined(await all_or_none(*(oracle.run(replace(request, nodeids=shard)) for shard in shards)))


def joined(reports: Sequence[RunReport]) -> RunReport:
    """What shards show together; it came to its end, or was isolated, only as far as each of them was."""
    ends = [report.exit_status for report in reports]
    return replace(
        reports[0],
        outcomes={nodeid: outcome for one in reports for nodeid, outcome in one.outcomes.items()},
        collected=tuple(chain.from_iterable(one.collected for one in reports)),
        exit_status=None if None in ends else max(end for end in ends if end is not None),
        spectrum=Spectrum({nodeid: lines for one in reports for nodeid, lines in one.spectrum.lines.items()}),
        origins=frozenset().union(*(one.origins for one in reports)),
        canary_arrived=any(one.canary_arrived for one in reports),
        problem=next((one.problem for one in reports if one.problem), ""),
        uncompilable=frozenset().union(*(one.uncompilable for one in reports)),
        isolation=min((one.isolation for one in reports), key=LEVELS.index),
        stderr="".join(one.stderr for one in reports),
        seconds=max(one.seconds for one in reports),
        foreign={name: file for one in reports for name, file in one.foreign.items()},
        replaced=frozenset().union(*(one.replaced for one in reports)),
    )
