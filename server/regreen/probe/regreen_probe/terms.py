"""Which different things can be computed from the values at a place, and how is each written most shortly?

Expressions are enumerated bottom-up, small ones first, and evaluated at every recorded visit of the place at once. Of
those that give the same there (observational equivalence: Albarghouthi et al., Recursive Program Synthesis, CAV 2013;
Udupa et al., TRANSIT, PLDI 2013) only the first is kept, and larger ones are made of what was kept.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from regreen_probe.frozen import BITS, LONGEST, Thing
from regreen_probe.productions import (
    ANY,
    ATOM,
    BINARY,
    FLAG,
    KINDS,
    NOT,
    SIGN,
    SUM,
    UNARY,
    Production,
)

EVERYTHING = 6000
"""How many different values one bank holds at most."""


class Term:
    """An expression and its value at each visit.

    Args:
        text: as it is written.
        size: how many names, literals and operations it has.
        values: one for each visit.
        binds: how tightly it binds.
        constant: it is a literal.

    Attributes:
        kind: of its values.
        number: of its place among all that its bank keeps.
    """

    __slots__ = ("binds", "constant", "kind", "number", "size", "text", "values")

    def __init__(
        self, text: str, size: int, values: tuple[object, ...], binds: int = ATOM, *, constant: bool = False
    ) -> None:
        self.text = text
        self.size = size
        self.values = values
        self.binds = binds
        self.constant = constant
        self.kind = kind_of(values)
        self.number = 0

    def inside(self, needed: int) -> str:
        """The text where it stands as an operand."""
        return self.text if self.binds >= needed else f"({self.text})"


def kind_of(values: Iterable[object]) -> str:
    """What kind all the values are of; "" when they differ or are of no kind that is computed with."""
    kinds = {KINDS.get(type(value), ANY) for value in values}
    return kinds.pop() if len(kinds) == 1 else ANY


def key_of(values: Iterable[object]) -> str:
    """Equal for values that cannot be told apart."""
    return repr([(value.__class__.__name__, value) for value in values])


def same(value: object, wanted: object) -> bool:
    """Whether a value is the wanted one; floats need only be near."""
    if type(value) is float and type(wanted) is float:
        return math.isclose(value, wanted, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(value, (list, tuple)) and type(value) is type(wanted) and len(value) == len(wanted):
        return all(map(same, value, wanted))
    return type(value) is type(wanted) and value == wanted


class Spent(Exception):
    """The bank is full, or its time is over."""


class Bank:
    """The expressions over the values of some visits.

    Args:
        atoms: (text, values, how tightly it binds, whether it is a literal), the likeliest first.
        deadline: of the processor's time (time.process_time).
    """

    def __init__(self, atoms: Sequence[tuple[str, Sequence[object], int, bool]], deadline: float) -> None:
        self.deadline = deadline
        self.known: set[str] = set()
        self.terms: list[list[Term]] = [[], []]  # by size
        for text, values, binds, constant in atoms:
            self._keep(Term(text, 1, tuple(values), binds, constant=constant))

    def upto(self, size: int) -> Iterator[Term]:
        """Every different term of at most this size, the smaller ones first, making them as they are asked for."""
        return (term for term, new in self._all(size) if new)

    def fitting(self, size: int, accepts: Callable[[int, object], bool]) -> Iterator[Term]:
        """The terms whose value is accepted at every visit, (number of the visit, value) → whether it is.

        Among them are those that cannot be told apart by the visits: one of them is meant, and it need not be the
        first. Of the largest size only these are evaluated to the end.
        """
        for term, _ in itertools.chain(self._all(size - 1), self._last(size, accepts)):
            if all(accepts(n, value) for n, value in enumerate(term.values)):
                yield term

    def _all(self, size: int) -> Iterator[tuple[Term, bool]]:
        """Every term of at most this size, and whether it gives something new."""
        for term in self.terms[1]:
            yield term, True
        try:
            for now in range(2, size + 1):
                self.terms.append([])
                for term in self._made(now):
                    yield term, self._keep(term)
        except Spent:
            return

    def _last(self, size: int, accepts: Callable[[int, object], bool]) -> Iterator[tuple[Term, bool]]:
        try:
            for term in self._made(size, accepts):
                yield term, False
        except Spent:
            return

    # ------------------------------------------------------------------ making

    def _keep(self, term: Term) -> bool:
        key = key_of(term.values)
        if key in self.known:
            return False
        if len(self.known) >= EVERYTHING:
            raise Spent
        self.known.add(key)
        term.number = len(self.known)
        self.terms[term.size].append(term)
        return True

    def _made(self, size: int, accepts: Callable[[int, object], bool] | None = None) -> Iterator[Term]:
        for term in self.terms[size - 1]:
            yield from self._attributes(term, size)
            for production in UNARY:
                if _takes(production, 0, term):
                    yield from self._applied(production, (term,), size, accepts)
        for small in range(1, size - 1):
            for left in self.terms[small]:
                for right in self.terms[size - 1 - small]:
                    yield from self._pairs(left, right, size, accepts)

    def _attributes(self, term: Term, size: int) -> Iterator[Term]:
        """The attributes that all the values have."""
        if not all(isinstance(value, Thing) for value in term.values):
            return
        things = [value.attributes for value in term.values if isinstance(value, Thing)]
        for name in things[0] if things else ():
            if all(name in attributes for attributes in things):
                yield Term(
                    f"{term.inside(ATOM)}.{name}", size, tuple(attributes[name] for attributes in things)
                )

    def _pairs(
        self, left: Term, right: Term, size: int, accepts: Callable[[int, object], bool] | None
    ) -> Iterator[Term]:
        if left.constant and right.constant:
            return
        for production in _BY_KIND.get((left.kind, right.kind), ()):
            operands = (left, right)
            if production.binds == SUM and right.text.startswith("-"):
                continue
            if production.symmetric:
                if left.number > right.number:
                    continue
                if left.constant or left.size < right.size:
                    operands = (right, left)
            yield from self._applied(production, operands, size, accepts)

    def _applied(
        self,
        production: Production,
        operands: tuple[Term, ...],
        size: int,
        accepts: Callable[[int, object], bool] | None,
    ) -> Iterator[Term]:
        """What a production makes of these operands, unless it raises at a visit or does nothing at any."""
        if time.process_time() > self.deadline:
            raise Spent
        values: list[object] = []
        for number, given in enumerate(zip(*(operand.values for operand in operands))):  # noqa: B905 — Python 3.9 has no `strict`
            try:
                value = production.run(*given)
            except Exception:  # whatever the operation thinks of these values: it is no use here
                return
            if _is_large(value) or (accepts is not None and not accepts(number, value)):
                return
            values.append(value)
        if any(values == list(operand.values) for operand in operands):
            return
        parts = [operand.inside(needed) for operand, needed in zip(operands, production.needs)]  # noqa: B905 — Python 3.9 has no `strict`
        yield Term(production.form.format(*parts), size, tuple(values), production.binds)


def _is_large(value: object) -> bool:
    kind = type(value)
    if kind is int:
        return value.bit_length() > BITS
    return kind is complex or (kind in (str, list, tuple) and len(value) > LONGEST)


def _takes(production: Production, place: int, term: Term) -> bool:
    kinds = production.kinds[place]
    if production.binds in (NOT, SIGN) and term.binds <= SIGN:
        return False  # there is a shorter way to say that
    return not term.constant and (not kinds or term.kind in kinds)


def _by_kind() -> dict[tuple[str, str], list[Production]]:
    """The productions of two operands for each pair of kinds."""

    def fits(kind: str, kinds: tuple[str, ...]) -> bool:
        return kind in kinds if kinds else kind != FLAG

    every = {*KINDS.values(), ANY}
    return {
        (left, right): [one for one in BINARY if fits(left, one.kinds[0]) and fits(right, one.kinds[1])]
        for left in every
        for right in every
    }


_BY_KIND = _by_kind()
