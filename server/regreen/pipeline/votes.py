"""What do the plausible candidates answer where the tests do not look?

One run of the unpatched tests, in which the calls that they make to the patched functions are kept, and then put to
every candidate, with others like them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from regreen import edits
from regreen.pipeline.parts import Tools
from regreen.pipeline.screening import Field
from regreen.pipeline.search import Found
from regreen.validation.ladder import request_for
from regreen.values import Answer, TestStatus

WATCHED_SECONDS = 2.0
"""How long the tests take together whose calls are kept: the target, then what is quickest."""
WATCHED = 100
"""And how many they are."""
ENDED = frozenset({TestStatus.PASSED, TestStatus.FAILED, TestStatus.ERROR})


async def answered(found: Sequence[Found], field: Field, tools: Tools) -> list[Found]:
    """The candidates with their answers; without any where there is nothing to compare."""
    overlays = [
        {e.path: edits.apply_to_bytes(field.texts[e.path], e) for e in one.candidate.edits} for one in found
    ]
    single = [n for n, overlay in enumerate(overlays) if len(overlay) == 1]
    watched = _watched(found, field)
    if not single or not watched:
        return list(found)
    by_model = any(found[n].candidate.origin == "model" for n in single)
    request = replace(
        request_for(field.target, field.snapshot, {}, "model" if by_model else "template"),
        nodeids=watched,
        compare=tuple(overlays[n] for n in single),
        details=False,
        stop_at_first_failure=False,
    )
    report = await tools.oracle.run(request)
    compared = report.compared if not report.problem else ()
    answers: list[tuple[Answer, ...]] = [()] * len(found)
    for place, n in enumerate(single):
        told = [(one, one.after[place]) for one in compared]
        answers[n] = tuple(
            Answer(one.call, one.test, one.before, after) for one, after in told if after is not None
        )
    return [replace(one, answers=theirs) for one, theirs in zip(found, answers, strict=True)]


def _watched(found: Sequence[Found], field: Field) -> tuple[str, ...]:
    """The tests whose calls are kept: those that come to an end, the target first, then the quickest."""
    known = field.known
    selected = {nodeid for one in found for nodeid in field.select(one.candidate).nodeids}
    ended = [nodeid for nodeid in selected if known.statuses.get(nodeid) in ENDED]
    target = field.target
    chosen = [*target.nodeids] if known.statuses.get(target.failure.nodeid) in ENDED else []
    left = WATCHED_SECONDS
    for nodeid in sorted(ended, key=lambda nodeid: (known.seconds.get(nodeid, 0.0), nodeid)):
        left -= known.seconds.get(nodeid, 0.0)
        if left < 0 or len(chosen) >= WATCHED:
            break
        chosen.append(nodeid)
    return tuple(dict.fromkeys(chosen))
