"""Which red tests may a search start for by itself, and which tests may run by themselves?

Test-driven work and refactoring are not fought: a search starts only for tests that were green before or
whose code is unchanged since the last commit, and not when too many turned red at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from regreen.engine.state import Offer, ProjectState, file_of
from regreen.settings import Settings
from regreen.values import Failure, Snapshot, TestOutcome

MAX_RED_AT_ONCE = 20
SLOW_SECONDS = 5.0
MAX_SUITE_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Search:
    """Which red tests to heal now, and which only to show, grouped by cause."""

    heal: tuple[str, ...]
    grouped: frozenset[str]


def choose_search(
    state: ProjectState,
    ran: Mapping[str, TestOutcome],
    red_before: Collection[str],
    committed: Collection[Path],
) -> Search:
    """Decide after a run that nobody asked for.

    Args:
        state: what is known of the project.
        ran: the outcomes of the run.
        red_before: tests that were red before it.
        committed: test files that do not differ from the last commit.
    """
    reds = [o for o in ran.values() if o.status.is_red and o.failure is not None]
    fresh = [o for o in reds if o.nodeid not in red_before]
    if len(fresh) > MAX_RED_AT_ONCE:
        return Search((), frozenset(o.nodeid for o in reds))
    allowed = [o for o in reds if _may_search(state, o, committed)]
    if len(allowed) > MAX_RED_AT_ONCE:
        old = [o for o in allowed if o.nodeid in red_before]
        return Search(
            tuple(o.nodeid for o in allowed if o.nodeid not in red_before), frozenset(o.nodeid for o in old)
        )
    return Search(tuple(o.nodeid for o in allowed), frozenset())


def _may_search(state: ProjectState, outcome: TestOutcome, committed: Collection[Path]) -> bool:
    if outcome.nodeid in state.muted_tests or too_slow(outcome, state.settings):
        return False
    return outcome.path in committed or was_green(state, outcome.nodeid)


def was_green(state: ProjectState, nodeid: str) -> bool:
    """Whether the test, or for a file any test in it, was green at some time."""
    if "::" in nodeid:
        return nodeid in state.green_before
    return any(file_of(known) == nodeid for known in state.green_before)


def too_slow(outcome: TestOutcome, settings: Settings) -> bool:
    """Whether a test is never run by itself: marked, named by the user, or known to take long."""
    return (
        outcome.seconds > SLOW_SECONDS
        or bool(outcome.markers & set(settings.slow_markers))
        or is_named(outcome.nodeid, settings)
    )


def is_named(nodeid: str, settings: Settings) -> bool:
    """Whether the user named this test, or the beginning of its id, as never to run by itself."""
    return any(nodeid.startswith(beginning) for beginning in settings.tests_never)


def cause_of(failure: Failure) -> tuple[str, str, int]:
    """What failures of one cause share: the exception and the innermost frame of the project."""
    own = [frame for frame in failure.frames if frame.own]
    place = own[-1] if own else None
    return (failure.exception, str(place.path) if place else "", place.line if place else -1)


def group_by_cause(failures: Iterable[Failure]) -> list[Sequence[Failure]]:
    """Failures of one cause together, the largest group first."""
    groups: dict[tuple[str, str, int], list[Failure]] = {}
    for failure in failures:
        groups.setdefault(cause_of(failure), []).append(failure)
    return sorted(groups.values(), key=len, reverse=True)


def unchecked_offers(state: ProjectState, snapshot: Snapshot | None) -> list[Offer]:
    """Offers that the whole suite was not run with, and that fit this text."""
    files = snapshot.files if snapshot else {}
    return [
        offer
        for fix_id, offer in state.offers.items()
        if fix_id not in state.suite_checked
        and not offer.fix.target_only
        and all((e := files.get(p)) and e.digest == d for p, d in offer.fix.base_digests.items())
    ]


def suite_is_due(state: ProjectState) -> bool:
    """Whether idle time may be spent on the whole suite."""
    return (
        state.suite_seconds is not None
        and state.suite_seconds < MAX_SUITE_SECONDS
        and state.settings.run_tests == "onSave"
        and bool(unchecked_offers(state, state.snapshot))
    )
