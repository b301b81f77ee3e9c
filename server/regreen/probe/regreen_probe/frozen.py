"""What does a value look like at one moment, so that it can be computed with later and nothing of the project runs?"""

from __future__ import annotations

import datetime as dt
import decimal
import fractions

ROOM = 300
"""How many values one picture may hold; what is larger is left out."""
LONGEST = 1000
"""Characters of a text, or items of a container."""
BITS = 256
DEPTH = 4

_PLAIN = (
    type(None), bool, float, complex, dt.date, dt.datetime, dt.time, dt.timedelta,
    decimal.Decimal, fractions.Fraction,
)  # fmt: skip


class Unfit(Exception):
    """The value is too large, or of a kind that can only be computed with by running code of the project."""


class Thing:
    """Stands for an object of the project: it has attributes and an identity, and no methods.

    Args:
        mark: equal for pictures of one object.
        attributes: name → picture.
    """

    __slots__ = ("attributes", "mark")

    def __init__(self, mark: int, attributes: dict[str, object]) -> None:
        self.mark = mark
        self.attributes = attributes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Thing) and other.mark == self.mark

    def __hash__(self) -> int:
        return hash(self.mark)

    def __repr__(self) -> str:
        return f"<{self.mark}>"


def frozen(value: object) -> object:
    """A picture of a value: built-in values as they are or copied, other objects as a `Thing`.

    Raises:
        Unfit: there is none.
    """
    return _Picture().of(value, DEPTH)


class _Picture:
    def __init__(self) -> None:
        self.left = ROOM

    def of(self, value: object, depth: int) -> object:
        self.left -= 1
        if self.left < 0 or depth < 0:
            raise Unfit
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind is int:
            if value.bit_length() > BITS:
                raise Unfit
            return value
        if kind in (str, bytes, range):
            if len(value) > LONGEST:
                raise Unfit
            return value
        if kind in (list, tuple, set, frozenset):
            if len(value) > ROOM:
                raise Unfit
            return kind([self.of(part, depth - 1) for part in list(value)])
        if kind is dict:
            if len(value) > ROOM:
                raise Unfit
            return {self.of(k, depth - 1): self.of(v, depth - 1) for k, v in list(value.items())}
        return self._thing(value, depth)

    def _thing(self, value: object, depth: int) -> Thing:
        """An object by what is in its `__dict__`; its class, with properties and methods, is not asked."""
        try:
            state = object.__getattribute__(value, "__dict__")
        except AttributeError:
            state = None
        if type(state) is not dict or issubclass(type(value), type) or callable(value):
            raise Unfit
        parts = {name: self._of_or_unfit(part, depth - 1) for name, part in list(state.items())}
        return Thing(id(value), {name: part for name, part in parts.items() if part is not Unfit})

    def _of_or_unfit(self, value: object, depth: int) -> object:
        try:
            return self.of(value, depth)
        except Unfit:
            return Unfit
