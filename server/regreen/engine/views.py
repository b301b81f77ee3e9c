"""What is shown at which line: marks, lenses and fixes, computed from memory alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from regreen.engine.judgement import group_by_cause
from regreen.engine.state import Offer, ProjectState, short_name
from regreen.values import Comparison, Failure, Outcome

MarkKind = Literal["failure", "known", "suspect", "fix", "notice"]

MAX_MESSAGE = 600
MAX_SUSPECTS = 3
MIN_SUSPICIOUSNESS = 0.5


@dataclass(frozen=True, slots=True)
class Mark:
    """Something to show at a line.

    Args:
        line: 0-based, in the text whose digest is `digest` (empty when unknown).
        related: other places that explain it: (file, line, text).
    """

    path: Path
    line: int
    kind: MarkKind
    message: str
    nodeid: str = ""
    digest: str = ""
    related: tuple[tuple[Path, int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Lens:
    """A line of text above a test that does something when clicked."""

    path: Path
    line: int
    title: str
    command: str
    argument: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Spot:
    """Lines (first, last) of a file where the offers or the failure of a red test are within reach."""

    first: int
    last: int
    nodeid: str


@dataclass(frozen=True, slots=True)
class View:
    """All that is shown of one project, by file."""

    marks: Mapping[Path, Sequence[Mark]]
    lenses: Mapping[Path, Sequence[Lens]]
    spots: Mapping[Path, Sequence[Spot]]

    @property
    def paths(self) -> frozenset[Path]:
        """Every file that shows anything."""
        return frozenset({*self.marks, *self.lenses})


EMPTY = View({}, {}, {})


def build(state: ProjectState) -> View:
    """Compute the view; takes time linear in the number of red tests."""
    marks: dict[Path, list[Mark]] = {}
    lenses: dict[Path, list[Lens]] = {}
    spots: dict[Path, list[Spot]] = {}
    for mark in _marks(state):
        marks.setdefault(mark.path, []).append(mark)
    for lens in _lenses(state):
        lenses.setdefault(lens.path, []).append(lens)
    for path, spot in _spots(state):
        spots.setdefault(path, []).append(spot)
    return View(marks, lenses, spots)


def failing_line(failure: Failure) -> tuple[Path, int]:
    """Where a failure shows: the failing assertion, or the place a parser or import names."""
    if failure.is_collection:
        own = [frame for frame in failure.frames if frame.own]
        return (own[-1].path, own[-1].line) if own else (failure.path, failure.line)
    for frame in reversed(failure.frames):
        if frame.path == failure.path:
            return frame.path, frame.line
    return failure.path, failure.line


def describe(failure: Failure) -> str:
    """What went wrong, in one or two lines, expected and actual first."""
    summary = expectation(failure.comparison)
    text = failure.message.strip()
    if not summary:
        lines = text.splitlines()
        summary = f"{failure.exception}: {lines[0]}" if lines else failure.exception
    own = [frame for frame in failure.frames if frame.own]
    if own and own[-1].path != failure.path and not failure.is_collection:
        summary += f"\nraised at {own[-1].path.name}:{own[-1].line + 1}"
    return _short(summary, MAX_MESSAGE)


def expectation(comparison: Comparison | None) -> str:
    """Say "Expected 15, got 10" from the two sides of a failed comparison; empty when there is none."""
    if comparison is None:
        return ""
    left, right = _short(comparison.left, 120), _short(comparison.right, 120)
    return (
        f"Expected {right}, got {left}"
        if comparison.op == "=="
        else f"{left} {comparison.op} {right} is false"
    )


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _digest(state: ProjectState, path: Path) -> str:
    entry = state.snapshot.files.get(path) if state.snapshot else None
    return entry.digest if entry else ""


def _marks(state: ProjectState) -> Iterator[Mark]:
    if state.problem and state.notice_at is not None:
        yield Mark(state.notice_at, 0, "notice", state.problem)
    for known in state.known_reds.values():
        message = f"{short_name(known.nodeid)} failed in the last pytest run; it did not run again yet."
        yield Mark(known.path, known.line, "known", message, known.nodeid)
    for failure in state.red_failures():
        path, line = failing_line(failure)
        offers = state.offers_for(failure.nodeid)
        message = f"{short_name(failure.nodeid)}: {describe(failure)}"
        if offers:
            message += f"\n{len(offers)} verified fix{'es' if len(offers) > 1 else ''}, see the quick fixes"
        elif note := outcome_note(state, failure.nodeid):
            message += f"\n{note}"
        related = tuple(_places(state, failure.nodeid))
        yield Mark(path, line, "failure", message, failure.nodeid, _digest(state, path), related)
    yield from _suspects(state)


def outcome_note(state: ProjectState, nodeid: str) -> str:
    """How the last heal ended when it gave no fix, with its reason; empty otherwise."""
    result = state.results.get(nodeid)
    if result is None or result.outcome in (
        Outcome.VERIFIED,
        Outcome.VERIFIED_TARGET_ONLY,
        Outcome.CANCELLED,
    ):
        return ""
    return f"{result.outcome.value}: {_short(result.reason, 300)}"


def _places(state: ProjectState, nodeid: str) -> Iterator[tuple[Path, int, str]]:
    for offer in state.offers_for(nodeid):
        for path, (first, _) in offer.lines.items():
            yield path, first, f"verified fix: {offer.fix.candidate.title}"
    if result := state.results.get(nodeid):
        for suspect in result.suspects[:MAX_SUSPECTS]:
            if suspect.suspiciousness >= MIN_SUSPICIOUSNESS:
                yield suspect.path, suspect.line, f"suspect ({suspect.suspiciousness:.2f})"


def _suspects(state: ProjectState) -> Iterator[Mark]:
    """Fixes and suspects where they are, once per place however many tests point at it."""
    places: dict[tuple[Path, int, MarkKind], list[str]] = {}
    titles: dict[tuple[Path, int, MarkKind], str] = {}
    warnings: dict[tuple[Path, int, MarkKind], str] = {}
    for nodeid, result in state.results.items():
        offers = state.offers_for(nodeid)
        for offer in offers:
            for path, (first, _) in offer.lines.items():
                at: tuple[Path, int, MarkKind] = (path, first, "fix")
                if at not in titles:
                    titles[at], warnings[at] = f"Verified fix: {offer.fix.candidate.title}", offer.fix.warning
                places.setdefault(at, []).append(nodeid)
        if offers:
            continue
        for suspect in result.suspects[:MAX_SUSPECTS]:
            if suspect.suspiciousness >= MIN_SUSPICIOUSNESS:
                key: tuple[Path, int, MarkKind] = (suspect.path, suspect.line, "suspect")
                places.setdefault(key, []).append(nodeid)
                titles.setdefault(key, f"Suspect ({suspect.suspiciousness:.2f})")
    for (path, line, kind), nodeids in places.items():
        names = ", ".join(short_name(n) for n in dict.fromkeys(nodeids[:3]))
        more = f" and {len(nodeids) - 3} more" if len(nodeids) > 3 else ""
        message = f"{titles[path, line, kind]} for {names}{more}"
        if warning := warnings.get((path, line, kind)):
            message += f". {warning}"
        yield Mark(path, line, kind, message, nodeids[0], _digest(state, path))


def _lenses(state: ProjectState) -> Iterator[Lens]:
    for known in state.known_reds.values():
        argument = {"nodeid": known.nodeid, "root": str(state.root)}
        yield Lens(known.path, known.line, "Red in the last run · Find a fix", "heal", argument)
    sizes = {
        failure.nodeid: len(group)
        for group in group_by_cause(f for f in state.red_failures() if f.nodeid in state.grouped)
        for failure in group
    }
    for failure in state.red_failures():
        argument = {"nodeid": failure.nodeid, "root": str(state.root)}
        what = expectation(failure.comparison) or failure.exception
        what = _short(what.replace("\n", " "), 80)
        if failure.nodeid in state.searching:
            yield Lens(failure.path, failure.line, f"{what} · Looking for a fix…", "cancel", argument)
        elif offers := state.offers_for(failure.nodeid):
            fix = offers[0].fix
            offered = {**argument, "fix": fix.fix_id}
            warning = f" · {fix.warning}" if fix.flags else ""
            title = (
                f"{what} · Fix ready: {fix.candidate.title} ({fix.evidence.vote.confidence.value}){warning}"
            )
            yield Lens(failure.path, failure.line, title, "explain", argument)
            yield Lens(failure.path, failure.line, "Preview", "showDiff", offered)
            yield Lens(failure.path, failure.line, "Apply", "apply", offered)
        else:
            others = sizes.get(failure.nodeid, 1) - 1
            cause = f" (same cause as {others} other{'s' if others > 1 else ''})" if others > 0 else ""
            yield Lens(failure.path, failure.line, f"{what}{cause} · Find a fix", "heal", argument)


def _spots(state: ProjectState) -> Iterator[tuple[Path, Spot]]:
    for known in state.known_reds.values():
        yield known.path, Spot(known.line, known.line, known.nodeid)
    for failure in state.red_failures():
        path, line = failing_line(failure)
        first = min(failure.line, line) if path == failure.path else line
        yield path, Spot(first, line, failure.nodeid)
        for place, at, _ in _places(state, failure.nodeid):
            yield place, Spot(at, at, failure.nodeid)
        for offer in state.offers_for(failure.nodeid):
            for place, (low, high) in offer.lines.items():
                yield place, Spot(low, high, failure.nodeid)


def fix_title(offer: Offer) -> str:
    """Name an offer in a menu: "Fix test_total: `-=` → `+=` in cart.py:12 (37 affected tests green, agreed)".

    What to look at twice follows.
    """
    fix = offer.fix
    path, (first, _) = next(iter(offer.lines.items()))
    green = fix.evidence.still_green + len(fix.evidence.red_to_green)
    confidence = fix.evidence.vote.confidence.value
    proof = f"{green} affected test{'s' if green != 1 else ''} green, {confidence}"
    if fix.target_only:
        proof = f"only this test verified, {proof}"
    where = f"{path.name}:{first + 1}"
    more = f" and {len(offer.lines) - 1} more" if len(offer.lines) > 1 else ""
    title = f"Fix {short_name(fix.failure.nodeid)}: {fix.candidate.title} in {where}{more} ({proof})"
    return f"{title}. {fix.warning}" if fix.flags else title
