"""Which small expressions, put where, give the failing test what it asks for, as far as recorded values tell?

The tests run once with holes in the suspicious functions (see `holes`). Then what is wanted is found out:

* what the failing test compared with something else was returned somewhere: there the other side is wanted, and at
  the returns of the passing tests what they gave (SemFix: Nguyen et al., ICSE 2013);
* conditions, and guards that are not there, are forced the other way in more runs of the failing test: where that
  turns it green, these are the truth values that are wanted (angelic values; Nopol: Xuan et al., TSE 2017).

Expressions that fit are told first, then, the nearest ones first, those that give something else than what is there.
"""

from __future__ import annotations

import ast
import difflib
import re
import time
from collections.abc import Callable, Iterator

import pytest

from regreen_probe import comparisons, forcing, frozen, holes, ordering, productions, reprs
from regreen_probe.holes import ORDER, SKIP, TRUTH, VALUE, Hole, Visit
from regreen_probe.terms import Bank, Term, key_of, kind_of, same

SIZE, SURE_SIZE = 5, 2
"""Of expressions for which it is known what is wanted, and of those that need not even fit: see `_allowed`."""
LOOSE_SIZE = 3
"""… and of others."""
TERNARY_SIZES = (2, 4)
"""Of the value and of the condition of `value if condition else what is there`."""
EACH_SECONDS = 0.2
"""Of processor time, for the expressions of one place."""
TEST_SECONDS = 0.5
"""Of processor time, after which a test hangs."""
RERUN_SECONDS, RERUN_TIMES = 0.04, 3
"""The processor time of a forced run: as much, and so many times what the test took."""
LOOKED_AT = 200
"""How many that fit are looked at …"""
FITS = 6
"""… and how many are told of one place."""
LOOSE = 16
"""How many others are told of one place, and at how many visits they are looked at."""
LOOSE_VISITS = 8
PLANS = 6
"""How many ways of forcing a condition that turned the test green are looked into."""
LIKENESS = 3.0
"""How much smaller an expression that looks like nothing there must be than one that looks the same …"""
IDLE = 2.0
"""… and how much larger one may be for each parameter in it that nothing else reads."""

_NAME = re.compile(r"\b[^\W\d]\w*")
_NEAR = re.compile(r"(.+?) ± ")


class Synthesis:
    """The pytest plug-in that does it when the tests have run.

    Args:
        sampler: has the holes.
        tell: takes records.
        compared: the last comparison that failed.
        again: runs a test with a condition forced.
        seconds: of processor time, for all of it.
    """

    def __init__(
        self,
        sampler: holes.Sampler,
        tell: Callable[[dict[str, object]], None],
        compared: comparisons.Compared,
        again: forcing.Again,
        seconds: float,
    ) -> None:
        self.sampler = sampler
        self.tell = tell
        self.compared = compared
        self.again = again
        self.seconds = seconds
        self.red: dict[str, pytest.Item] = {}
        self.sides: dict[str, dict[str, str]] = {}  # what the red tests compared
        self.took: dict[str, float] = {}  # processor time of each test

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item):
        """Sample while the test itself runs."""
        if not self.sampler.open or not forcing.possible():
            yield
            return
        self.sampler.test = item.nodeid
        began = time.process_time()
        with forcing.limited(TEST_SECONDS):
            yield
        took = time.process_time() - began
        self.took[item.nodeid] = took if took < TEST_SECONDS else 0.0  # how long it should take is not known
        self.sampler.test = ""

    def pytest_runtest_makereport(self, item, call):
        """Note how a test fails."""
        if self.sampler.open and call.when == "call" and call.excinfo is not None:
            self.red[item.nodeid] = item
            sides = comparisons.of(call.excinfo.value, self.compared)
            if sides is not None and sides["op"] in ("==", "is"):
                self.sides[item.nodeid] = sides

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtestloop(self):
        """Once all tests have run, look for expressions."""
        yield
        self.sampler.open = False
        self.deadline = time.process_time() + self.seconds
        for item in list(self.red.values())[:1]:
            self._look(item)

    def _look(self, item: pytest.Item) -> None:
        """Tell what may turn this test green: first what is the likeliest to, then what is quick to find."""
        every = [hole for hole in self.sampler.holes if hole.of(item.nodeid)]
        for kinds, look in (
            ((VALUE,), self._returned),
            ((TRUTH, SKIP), lambda hole: self._forced(hole, item)),
            ((ORDER,), self._ordered),
            ((VALUE,), self._loose),
        ):
            for hole in every:
                if hole.kind in kinds and time.process_time() < self.deadline:
                    look(hole)

    def _bank(self, hole: Hole, visits: list[Visit]) -> Bank:
        return Bank(holes.atoms_of(hole, visits), self._soon())

    def _soon(self) -> float:
        return min(self.deadline, time.process_time() + EACH_SECONDS)

    # ------------------------------------------------------------------ returned values

    def _returned(self, hole: Hole) -> None:
        """A `return` of what the failing test compared."""
        wanted = self._wanted(hole) if hole.returns else []
        visits = [visit for visit, _ in wanted]
        goal = [value for _, value in wanted]
        wrong = frozenset(n for n, visit in enumerate(visits) if not same(visit.value, goal[n]))
        if not wrong:
            return
        size = _allowed(hole, len({key_of([value]) for value in goal}))
        fitting = self._bank(hole, visits).fitting(size, lambda n, value: same(value, goal[n]))
        for term in _nearest(fitting, hole):
            self._tell(hole, term.text, term.size)
        if len(wrong) < len(visits):
            self._special(hole, visits, goal, wrong)

    def _wanted(self, hole: Hole) -> list[tuple[Visit, object]]:
        """Visits, and what should have been returned.

        Where the function was called by a test: by a green one what it gave, as well as by a red one before the
        comparison that failed, for others held until then.
        """
        found: list[tuple[Visit, object]] = []
        for test in hole.first:
            visits = [visit for visit in hole.of(test) if visit.value is not frozen.Unfit]
            end = float("inf")
            if test in self.red:
                compared = self._compared(test, visits)
                found += [compared] if compared is not None else []
                end = compared[0].number if compared is not None else 0
            found += [(visit, visit.value) for visit in visits if visit.outermost and visit.number < end]
        return found

    def _compared(self, test: str, visits: list[Visit]) -> tuple[Visit, object] | None:
        """The visit whose value a red test compared, and with what; None when there is none."""
        sides = self.sides.get(test)
        for mine, other in (("left", "right"), ("right", "left")) if sides is not None else ():
            value = _read(sides[other])
            for visit in reversed(visits):
                if value is not frozen.Unfit and reprs.show(visit.value) == sides[mine]:
                    is_float = type(visit.value) is float and type(value) is int
                    return visit, float(value) if is_float else value
        return None

    def _special(self, hole: Hole, visits: list[Visit], goal: list[object], wrong: frozenset[int]) -> None:
        """A value for the failing calls alone, and the condition that tells them from the others."""
        value_size, condition_size = TERNARY_SIZES
        wanted = [goal[n] for n in sorted(wrong)]
        values = self._bank(hole, [visits[n] for n in sorted(wrong)])
        fitting = values.fitting(value_size, lambda n, value: same(value, wanted[n]))
        value = next(fitting, None)
        if value is None:
            return
        conditions = self._bank(hole, visits).fitting(
            min(condition_size, _allowed(hole, len(visits) // 2)),
            lambda n, found: type(found) is bool and found == (n in wrong),
        )
        for term in _nearest(conditions, hole)[: FITS // 2]:
            text = f"{value.inside(productions.OR)} if {term.text} else {hole.span.text}"
            self._tell(hole, text, value.size + term.size, kind="special")

    # ------------------------------------------------------------------ conditions

    def _forced(self, hole: Hole, item: pytest.Item) -> None:
        """Find out what a condition should have been, and conditions that are just that.

        A test may call a function more than once: what lets it fail later than before is kept, and the visits after
        that are forced.
        """
        seconds = RERUN_SECONDS + RERUN_TIMES * self.took[item.nodeid]
        elsewhere = [visit for test in hole.first if test not in self.red for visit in hole.of(test)]
        solved: set[str] = set()
        kept: dict[int, bool] = {}
        reached = self.again.run(item, seconds, hole, ({}, None))
        while not solved:
            now = [visit.value is True for visit in reached.visits]
            later = None
            for plan, after in forcing.plans(now[len(kept) :], guard=hole.kind == SKIP):
                if time.process_time() > self.deadline or len(solved) == PLANS:
                    return
                turned = {**kept, **{number + len(kept): truth for number, truth in plan.items()}}
                rerun = self.again.run(item, seconds, hole, (turned, after))
                seen = repr([(visit.space, visit.value) for visit in rerun.visits])
                if rerun.green and seen not in solved:
                    solved.add(seen)
                    self._conditions(hole, [*rerun.visits, *elsewhere])
                elif later is None and after is None and rerun.line > reached.line:
                    later, until = rerun, max(turned) + 1
            if later is None:
                return
            reached = later
            kept = {number: visit.value is True for number, visit in enumerate(later.visits[:until])}

    def _conditions(self, hole: Hole, visits: list[Visit]) -> None:
        """Conditions that are true just where they should be."""
        goal = [visit.value is True for visit in visits]
        seen: dict[str, bool] = {}
        for visit, truth in zip(visits, goal):  # noqa: B905 — Python 3.9 has no `strict`
            if seen.setdefault(repr(visit.space), truth) != truth:
                return  # the same in sight, and another truth is wanted
        size = _allowed(hole, len(seen) // 2)
        fitting = self._bank(hole, visits).fitting(size, lambda n, value: value is goal[n])
        for term in _nearest(fitting, hole):
            self._tell(hole, term.text, term.size, kind=hole.way)

    # ------------------------------------------------------------------ others

    def _ordered(self, hole: Hole) -> None:
        """Keys by which things come in another order."""
        where = ordering.place(hole, self.sampler.line(hole.path, hole.call.lineno))
        if where is not None:
            begin, end, before = where
            line = hole.call.lineno
            for text, size in ordering.keys(hole, self._soon()):
                self._record(hole, (line, begin, line, end), before + text, ORDER, size, fits=False)

    def _loose(self, hole: Hole) -> None:
        """Expressions that give something else than what is there, of the same kind."""
        visits = [visit for visit in hole.visits() if visit.value is not frozen.Unfit]
        visits = visits[:: -(-len(visits) // LOOSE_VISITS) or 1]
        now = [visit.value for visit in visits]
        names = set().union(*(visit.space for visit in visits[:1]))
        found = [
            term
            for term in self._bank(hole, visits).upto(LOOSE_SIZE)
            if not term.constant and term.kind == kind_of(now) and key_of(term.values) != key_of(now)
        ]

        def rank(term: Term) -> tuple[bool, float]:  # for what is made of one name alone there are templates
            return len(names.intersection(_NAME.findall(term.text))) < 2, _unlikeness(term, hole)

        for term in sorted(found, key=rank)[:LOOSE]:
            self._tell(hole, term.text, term.size, fits=False)

    # ------------------------------------------------------------------ telling

    def _tell(self, hole: Hole, text: str, size: int, *, fits: bool = True, kind: str = "") -> None:
        span = hole.span
        where = (span.line, span.column, span.end_line, span.end_column)
        if text != span.text:
            self._record(hole, where, text, kind or hole.kind, size, fits=fits)

    def _record(
        self, hole: Hole, where: tuple[int, int, int, int], text: str, kind: str, size: int, *, fits: bool
    ) -> None:
        names = ("line", "column", "end_line", "end_column")
        self.tell(
            {
                "ev": "expression",
                "path": hole.path,
                **dict(zip(names, where)),  # noqa: B905 — Python 3.9 has no `strict`
                "text": text,
                "kind": kind,
                "size": size,
                "fits": fits,
            }
        )


def _read(text: str) -> object:
    """The value that a repr shows; `frozen.Unfit` where it shows none."""
    near = _NEAR.match(text)
    try:
        return ast.literal_eval(near.group(1) if near else text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return frozen.Unfit


def _allowed(hole: Hole, facts: int) -> int:
    """How large an expression may be of which so many different things are known: something large fits anything.

    A parameter that is put to no use is a fact, too.
    """
    return min(SIZE, SURE_SIZE + facts + len(hole.function.idle))


def _nearest(terms: Iterator[Term], hole: Hole) -> list[Term]:
    """The few that are worth a try: small ones, and those that look like what is there."""
    some = [term for term, _ in zip(terms, range(LOOKED_AT)) if not term.constant]  # noqa: B905 — Python 3.9 has no `strict`
    return sorted(some, key=lambda term: _unlikeness(term, hole))[:FITS]


def _unlikeness(term: Term, hole: Hole) -> float:
    likeness = difflib.SequenceMatcher(None, term.text, hole.span.text).ratio()
    idle = hole.function.idle.intersection(_NAME.findall(term.text))
    return term.size - LIKENESS * likeness - IDLE * len(idle)
