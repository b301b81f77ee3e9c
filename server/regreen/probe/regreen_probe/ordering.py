"""By which keys would things come in another order?"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator

from regreen_probe import frozen, holes
from regreen_probe.holes import Hole, Visit
from regreen_probe.terms import Bank, Term

SIZE = 4
"""Of one key."""
KEYS = 16
"""How many keys are told of one place …"""
PAIRED = 8
"""… and of how many of them pairs are made."""
VISITS, ITEMS = 6, 12
"""How many visits are looked at, and how many items of each."""

_COMPARABLE = ("number", "bool", "str", "list", "tuple")
_NAME = re.compile(r"\b[^\W\d]\w*")


class Orders:
    """The orders that keys give at the visits of one place; each is new once.

    Args:
        hole: what is put in order.
    """

    def __init__(self, hole: Hole) -> None:
        function = hole.call.func
        self.name = function.id if isinstance(function, ast.Name) else "sort"
        self.element = _element(hole)
        self.seen: set[str] = set()
        self.sizes: list[int] = []
        self.flat: list[Visit] = []  # one for each item
        for visit in hole.visits():
            if type(visit.value) in (list, tuple, set, frozenset, str, dict) and len(self.sizes) < VISITS:
                items = list(visit.value)[:ITEMS]
                self.sizes.append(len(items))
                for item in items:
                    space = {**visit.space, self.element: item}
                    self.flat.append(Visit("", 0, space, frozen.Unfit, outermost=False))

    def is_new(self, keys: tuple[object, ...]) -> bool:
        """Whether no keys before brought the things in this order; keys of all items, visit by visit."""
        orders = []
        following = iter(keys)
        for size in self.sizes:
            mine = list(itertools.islice(following, size))
            try:
                order = sorted(range(size), key=mine.__getitem__, reverse=self.name == "max")
            except TypeError:
                return False
            orders.append(order if self.name in ("sorted", "sort") else order[:1])
        before = len(self.seen)
        self.seen.add(repr(orders))
        return len(self.seen) > before


def keys(hole: Hole, deadline: float) -> Iterator[tuple[str, int]]:
    """(a function of one item, its size) for each other order, the smaller ones first.

    Args:
        hole: what is put in order.
        deadline: of the processor's time.
    """
    orders = Orders(hole)
    if len(orders.flat) < 2:
        return
    name = orders.element
    atoms = sorted(holes.atoms_of(hole, orders.flat), key=lambda atom: atom[0] != name)
    if _key(hole.call) is None:
        orders.is_new(tuple(visit.space[name] for visit in orders.flat))  # the order that is there
    found: list[Term] = []
    for term in Bank(atoms, deadline).upto(SIZE):
        if term.kind in _COMPARABLE and name in _NAME.findall(term.text):
            new = orders.is_new(term.values)
            if new:
                yield _function(name, term.text), term.size
            if (
                new or term.text == name
            ):  # which may be the order that is there, and decide where others do not
                found.append(term)
            if len(found) == KEYS:
                break
    for one, other in itertools.permutations(found[:PAIRED], 2):
        if orders.is_new(tuple(zip(one.values, other.values))):  # noqa: B905 — Python 3.9 has no `strict`
            yield f"lambda {name}: ({one.text}, {other.text})", one.size + other.size + 1


def place(hole: Hole, line: str) -> tuple[int, int, str] | None:
    """(column, column, what is written before) of the key of a call; None where it would be hard to add one.

    Args:
        hole: what is put in order.
        line: on which the call stands.
    """
    call = hole.call
    key = _key(call)
    if key is not None:
        return holes.points(line, key.col_offset), holes.points(line, key.end_col_offset or 0), ""
    end = holes.points(line, call.end_col_offset or 0) - 1
    if line[:end].rstrip().endswith(","):
        return None
    return end, end, ", key=" if call.args or call.keywords else "key="


def _key(call: ast.Call) -> ast.expr | None:
    """The key that is there."""
    for keyword in call.keywords:
        if keyword.arg == "key":
            return keyword.value.args[0] if holes.is_hole(keyword.value) else keyword.value
    return None


def _element(hole: Hole) -> str:
    """What to call an item."""
    key = _key(hole.call)
    if isinstance(key, ast.Lambda) and len(key.args.args) == 1:
        return key.args.args[0].arg
    return next(name for name in ("x", "item", "element", "each") if name not in hole.function.reads)


def _function(name: str, text: str) -> str:
    """A function of one item: `len` for `len(x)`, else a lambda."""
    simple = re.fullmatch(rf"(\w+)\({name}\)", text)
    return simple.group(1) if simple else f"lambda {name}: {text}"
