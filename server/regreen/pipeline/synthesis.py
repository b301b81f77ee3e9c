"""Which candidates follow from the values that the suspicious functions saw while tests ran?

The oracle enumerates expressions beside the live values (docs/offline-engine.md); here they become candidates.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from regreen.edits import minimal, with_newline
from regreen.errors import OracleFailed
from regreen.pipeline.parts import Baseline
from regreen.pipeline.screening import Field
from regreen.pipeline.stream import Synthesised
from regreen.ports import Oracle
from regreen.source import SourceFile
from regreen.validation.ladder import request_for
from regreen.values import (
    CanaryPoint,
    Candidate,
    Expression,
    FileEdit,
    RunRequest,
    Suspect,
    TestStatus,
    TextEdit,
)

log = logging.getLogger(__name__)

PLACES = 12
"""How many of the best suspects name the functions that are looked into."""

BESIDE = 8
"""How many other tests run along: what they saw tells expressions apart."""

OTHER_LINES = 0.45
"""The weight of a line of a suspicious function that is no suspect itself."""


@dataclass(frozen=True, slots=True)
class Sort:
    """How expressions of one kind are taken.

    Args:
        prior: of the first that fits, as in the catalogue: the shares of TSSB-3M there (wrong operand or identifier
            12 %, stricter or looser `if` 2.7 %, new `if` 38 % of BugsInPy), over what a search leaves of each.
        what: it does, for people.
        kind: of the candidate.
    """

    prior: float
    what: str
    kind: str = "cause"


SORTS = {
    "value": Sort(0.0040, "compute `{}`"),
    "condition": Sort(0.0050, "check `{}`"),
    "order": Sort(0.0400, "order by `{}`"),
    "special": Sort(0.0030, "use `{}`", "guard"),
    "continue": Sort(0.0060, "skip when `{}`", "guard"),
    "break": Sort(0.0060, "stop when `{}`", "guard"),
}
LOOSE = 0.1
"""The weight of what only gives something else than what is there."""
SMALL, LARGER = 3, 0.8
"""The weight of each name, literal or operation beyond the first three: with enough of them, anything fits."""
NEXT = 0.6
"""The weight of each further expression of one place beside the one before."""


async def synthesise(
    oracle: Oracle, field: Field, base: Baseline, suspects: Sequence[Suspect], weight: Callable[[str], float]
) -> Synthesised:
    """Run the target, and some tests that run the same functions, with eyes on their values.

    Args:
        oracle: runs them.
        field: of the search.
        base: tells which tests run what.
        suspects: best first.
        weight: a factor for each sort of candidate by its name ("synthesis.condition").
    """
    places = tuple(dict.fromkeys(CanaryPoint(s.path, s.line) for s in suspects[:PLACES] if s.function))
    target = field.target
    wanted = any(weight(f"synthesis.{kind}") for kind in SORTS)
    if not places or not wanted or target.failure.is_collection:
        return Synthesised()
    request = request_for(target, field.snapshot, {}, "template")
    tests = (*target.nodeids, *_beside(base, places, target.nodeids))
    try:
        report = await oracle.run(_with_eyes(request, tests, places))
    except OracleFailed as error:
        log.warning("nothing is synthesised: %s", error)
        return Synthesised()
    rank: Counter[tuple[Path, tuple[int, int], bool]] = Counter()
    made: list[tuple[bool, Candidate]] = []
    for one in report.expressions:
        place = (one.path, one.start, one.fits)
        candidate = _candidate(one, field, suspects, weight, rank[place])
        rank[place] += 1
        if candidate is not None and not field.gate.forbids(candidate):
            made.append((one.fits or one.kind == "order", candidate))
    made.sort(key=lambda pair: -pair[1].score)
    return Synthesised(
        tuple(candidate for fits, candidate in made if fits),
        tuple(candidate for fits, candidate in made if not fits),
    )


def _with_eyes(request: RunRequest, tests: tuple[str, ...], places: tuple[CanaryPoint, ...]) -> RunRequest:
    return replace(
        request,
        nodeids=tests,
        synthesise=places,
        details=True,
        stop_at_first_failure=False,
        seconds=request.seconds + request.seconds_per_test * len(tests),
    )


def _beside(base: Baseline, places: Sequence[CanaryPoint], without: Sequence[str]) -> tuple[str, ...]:
    """Other tests that run a line of the places: red ones first, then those that are quick."""
    lines: dict[Path, set[int]] = {}
    for place in places:
        lines.setdefault(place.path, set()).add(place.line)
    found = [
        outcome
        for nodeid, outcome in base.outcomes.items()
        if nodeid not in without
        and outcome.status in (TestStatus.PASSED, TestStatus.FAILED)
        and any(
            lines.get(path, set()) & ran for path, ran in base.report.spectrum.lines.get(nodeid, {}).items()
        )
    ]
    found.sort(key=lambda outcome: (not outcome.status.is_red, outcome.seconds))
    return tuple(outcome.nodeid for outcome in found[:BESIDE])


def _candidate(
    one: Expression, field: Field, suspects: Sequence[Suspect], weight: Callable[[str], float], rank: int
) -> Candidate | None:
    """The candidate of an expression; None where it changes nothing."""
    file = field.sources.get(one.path)
    sort = SORTS.get(one.kind)
    suspect = _suspect(one, suspects, file)
    if file is None or sort is None or suspect is None:
        return None
    name = f"synthesis.{one.kind}"
    size = 0 if one.kind == "order" else max(0, one.size - SMALL)  # keys are told by what order they give
    score = suspect.suspiciousness * sort.prior * weight(name) * NEXT**rank * LARGER**size
    score *= 1.0 if one.fits else LOOSE
    edits = tuple(_edits(one, file))
    if not edits or not score:
        return None
    return Candidate(
        (FileEdit(one.path, file.digest, edits),),
        name,
        sort.what.format(one.text),
        score,
        suspect,
        sort.kind,
    )


def _suspect(one: Expression, suspects: Sequence[Suspect], file: SourceFile | None) -> Suspect | None:
    """What speaks for the place: the suspect on its line, or with less weight the best of its function."""
    line = one.start[0]
    function = file.function_at(line) if file is not None else None
    if file is None or function is None:
        return None
    best: Suspect | None = None
    for suspect in suspects:
        if suspect.path != one.path:
            continue
        if suspect.line == line:
            return suspect
        if best is None and function.first_line <= suspect.line <= function.last_line:
            best = suspect
    return best and replace(best, line=line, suspiciousness=best.suspiciousness * OTHER_LINES)


def _edits(one: Expression, file: SourceFile) -> Iterator[TextEdit]:
    """The minimal edits of the file."""
    start, end = (file.lines.offset(line, column) for line, column in (one.start, one.end))
    text = one.text
    if one.kind in ("continue", "break"):
        indent = file.indentation(one.start[0])
        text = f"if {text}:\n{indent}{file.step}{one.kind}\n{indent}"
    for small in minimal(file.text[start:end], with_newline(text, file.newline)):
        yield TextEdit(small.start + start, small.end + start, small.new)
