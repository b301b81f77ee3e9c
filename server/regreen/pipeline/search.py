"""Which candidate patches turn the target green and leave what was green alone?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, product

from regreen import edits
from regreen.pipeline.concurrent import all_or_none
from regreen.pipeline.pairs import Refused, pairs, together
from regreen.pipeline.parts import Tools
from regreen.pipeline.places import patched_points
from regreen.pipeline.screening import Field, Queue, Ready, prepared
from regreen.pipeline.stream import Stream
from regreen.ports import Clock, Reporter
from regreen.validation.ladder import (
    Step,
    climb_selection,
    climb_target,
)
from regreen.validation.literals import COPIED
from regreen.values import (
    Answer,
    Candidate,
    CandidateVerdict,
    Flag,
    Progress,
    Rung,
    TestOutcome,
    TestStatus,
    Verdict,
)

WORKERS = 2
"""Candidates in flight. More would only make them wait for each other on a small machine."""

ENOUGH = 5
"""Plausible candidates that leave nothing red, and ask for no second look, after which the search ends."""

RIVALS_MOST = 32
RIVALS_LEAST = 8
RIVALS_SECONDS = 10.0
"""How many more candidates to judge for rivals once the first plausible one is found, as the ranking picks the right
one far more often than the order of the search does: what these seconds of a worker pay for, within the bounds. With
quick tests that is the upper one, so that the same project gets the same offers on any machine."""

HALF_MENDED = 4
"""The same as a multiple, while every plausible candidate leaves another test red that runs the patched code: a fix
of the one fault that made them all red would be better, but they may have faults of their own."""

PAIRS = 1500
"""How many combinations of two edits to try when no single one is the fix."""

CHEAP_SECONDS = 0.1
"""They are tried only where a candidate takes less than this: they are many, and each is a long shot."""

DOUBTED = 12
"""How many candidates that failed hot are run warm when none passed, and how many that ran out of time: a hot run may
be wrong about a few."""


@dataclass(slots=True)
class Budget:
    """What one heal may still spend.

    Args:
        clock: tells the time.
        deadline: on `clock`, when the search must stop.
        candidates: how many more may be run.
    """

    clock: Clock
    deadline: float
    candidates: int

    @property
    def spent(self) -> bool:
        """Whether nothing is left."""
        return self.candidates <= 0 or self.clock.monotonic() >= self.deadline


@dataclass(frozen=True, slots=True)
class Found:
    """A plausible candidate.

    Args:
        candidate: the patch.
        order: how many candidates were judged before it.
        mended: the red tests that it turned green, the target included.
        took: how many seconds the target ran with it.
        leaves: how many of the selected tests are red still.
        flags: what asks for a second look.
        behaviour: equal for candidates whose patched functions returned the same on every call the tests made.
        answers: to those calls and others like them; none where that is not known.
    """

    candidate: Candidate
    order: int
    behaviour: str = ""
    mended: tuple[str, ...] = ()
    took: float = 0.0
    leaves: int = 0
    flags: tuple[Flag, ...] = ()
    answers: tuple[Answer, ...] = ()


@dataclass(slots=True)
class Search:
    """The state of one search.

    Args:
        found: the plausible candidates so far.
        tried: verdict → how many candidates ended so.
        reasons: verdict → the last reason for it.
        exhausted: no candidate is left.
        tried_at_first: how many had been judged when the first plausible one was found; found anew with the first
            that leaves no test red.
        seconds_refused: what the candidates that were not plausible took together.
        refused: those that left the target red.
        doubted: the first of these that only a hot run has refused.
        late: the first of those that a hot run gave little time, and that used it up.
    """

    found: list[Found] = field(default_factory=list)
    tried: Counter[str] = field(default_factory=Counter)
    reasons: dict[str, str] = field(default_factory=dict)
    exhausted: bool = False
    tried_at_first: int = 0
    seconds_refused: float = 0.0
    refused: list[Refused] = field(default_factory=list)
    doubted: list[Candidate] = field(default_factory=list)
    late: list[Candidate] = field(default_factory=list)

    @property
    def total(self) -> int:
        """Candidates judged so far."""
        return sum(self.tried.values())

    def note(self, candidate: Candidate, step: Step, found: Found | None, seconds: float) -> None:
        """Count one candidate; `seconds`: what it took."""
        if found is None:
            self.seconds_refused += seconds
            if step.verdict is Verdict.STILL_FAILING:
                self.refused.append(Refused(candidate, step.reason))
            doubted = self.late if step.verdict is Verdict.TIMEOUT else self.doubted
            if step.report and step.report.rung is Rung.HOT and len(doubted) < DOUBTED:
                doubted.append(candidate)
        else:
            if not self.found or (not found.leaves and all(one.leaves for one in self.found)):
                self.tried_at_first = self.total
            self.found.append(found)
        self.tried[step.verdict.value] += 1
        self.reasons[step.verdict.value] = step.reason

    @property
    def whole(self) -> bool:
        """Whether a plausible candidate leaves no test red."""
        return any(not found.leaves for found in self.found)

    @property
    def seconds_each(self) -> float:
        """What a candidate that is refused takes."""
        return self.seconds_refused / max(1, self.total - len(self.found))

    @property
    def rivals_wanted(self) -> int:
        """How many candidates to judge after the first plausible one."""
        each = self.seconds_each
        affordable = int(RIVALS_SECONDS / each) if each else RIVALS_MOST
        return max(RIVALS_LEAST, min(RIVALS_MOST, affordable))


async def search(
    field: Field,
    candidates: Stream,
    tools: Tools,
    budget: Budget,
    reporter: Reporter,
    halves: Sequence[Candidate] = (),
) -> Search:
    """Judge candidates in order until enough are plausible, none is left or the budget is spent.

    Where no single one leaves nothing red, two together may.

    Args:
        field: what they are judged against.
        candidates: the most promising first.
        tools: the project's parts.
        budget: what may be spent.
        reporter: hears of each.
        halves: patches that turned another test green, to be combined with those that do so for the target.
    """
    state = Search()

    async def judge_all(stream: Stream, done: Callable[[], bool]) -> bool:
        """Judge the candidates of a stream until `done`; whether none is left."""
        queue = Queue(field, stream, tools)
        exhausted = False

        async def work() -> None:
            nonlocal exhausted
            while not done():
                each = await queue.next()
                if each is None:
                    exhausted = True
                    return
                budget.candidates -= 1
                started = tools.clock.monotonic()
                step, found = await climb(field, each, tools, state.total, rung=Rung.HOT)
                seconds = each.seconds + tools.clock.monotonic() - started
                state.note(each.candidate, step, found, seconds)
                if state.whole:
                    stream.settle()
                verdict = CandidateVerdict(each.candidate, step.verdict, step.reason, seconds)
                reporter.candidate(field.target.failure, verdict)
                told = f"{state.total} tried, {len(state.found)} plausible"
                reporter.progress(Progress("search", told, field.target.failure.nodeid))

        try:
            await all_or_none(*(work() for _ in range(WORKERS)))
        finally:
            await queue.close()
        return exhausted

    state.exhausted = await judge_all(candidates, lambda: _done(state, budget))
    for order, candidate in enumerate((*state.late, *state.doubted) if not state.found else ()):
        if budget.spent:
            break
        budget.candidates -= 1
        _, found = await judge(field, candidate, tools, order)
        state.found += [found] if found is not None else []
    await judge_all(Stream(_combined(state, field, halves), tools.clock), lambda: budget.spent or state.whole)
    return state


def _combined(state: Search, field: Field, halves: Sequence[Candidate]) -> Iterator[Candidate]:
    """Two patches in one: each mends another red test, or neither does anything alone and trying is cheap."""
    texts = {path: edits.decode(data).text for path, data in field.texts.items()}
    for found, half in product(state.found, halves):
        both = together(found.candidate, half, texts)
        if both is not None:
            yield both
    if not state.found and state.seconds_each < CHEAP_SECONDS:
        yield from islice(pairs(state.refused, field.target.failure, texts), PAIRS)


def _done(state: Search, budget: Budget) -> bool:
    whole = [found for found in state.found if not found.leaves]
    if budget.spent or sum(not found.flags for found in whole) >= ENOUGH:
        return True
    longer = 1 if whole else HALF_MENDED
    return bool(state.found) and state.total - state.tried_at_first > state.rivals_wanted * longer


async def judge(
    field: Field, candidate: Candidate, tools: Tools, order: int = 0, *, rung: Rung = Rung.WARM
) -> tuple[Step, Found | None]:
    """Climb the cheap rungs: the gate, the target alone on `rung`, then warm with the impacted tests."""
    return await climb(field, prepared(field, candidate), tools, order, rung=rung)


async def climb(
    field: Field, ready: Ready, tools: Tools, order: int, *, rung: Rung
) -> tuple[Step, Found | None]:
    """Judge a candidate that was prepared: the target alone on `rung`, then warm with the impacted tests."""
    if isinstance(ready.next, Step):
        return ready.next, None
    candidate, request = ready.candidate, ready.next
    overlay = request.overlay
    step = await climb_target(tools.oracle, field.target, replace(request, rung=rung))
    if step.verdict is not Verdict.PLAUSIBLE:
        return step, None
    selection = field.select(candidate)
    request = replace(request, observe=patched_points(candidate, overlay))
    answer = next((flag for flag in ready.flags if flag.name == COPIED), None)
    if answer is not None:  # what it answers by heart is one case: the others must be green, too
        selection = replace(selection, nodeids=(*selection.nodeids, *field.siblings))
        request = replace(request, stop_at_first_failure=False)
    step = await climb_selection(tools.oracle, field.target, selection, field.known, request)
    if step.verdict is not Verdict.PLAUSIBLE:
        return step, None
    outcomes = step.report.outcomes if step.report else {}
    if answer is not None and (red := _first_red(outcomes, field.siblings)):
        return Step(Verdict.STILL_FAILING, f"{answer.text}, and {red} is not green", step.report), None
    mended = tuple(
        nodeid
        for nodeid, outcome in outcomes.items()
        if outcome.status is TestStatus.PASSED and field.known.red(nodeid)
    )
    took = outcomes[field.target.failure.nodeid].seconds if field.target.failure.nodeid in outcomes else 0.0
    leaves = sum(outcome.status.is_red for outcome in outcomes.values())
    behaviour = step.report.behaviour if step.report else ""
    return step, Found(candidate, order, behaviour, mended, took, leaves, ready.flags)


def _first_red(outcomes: Mapping[str, TestOutcome], siblings: Sequence[str]) -> str:
    """A test that is red, or one of the siblings that did not come to an end; "" when there is none."""
    red = (nodeid for nodeid, outcome in outcomes.items() if outcome.status.is_red)
    return next(red, next((nodeid for nodeid in siblings if nodeid not in outcomes), ""))
