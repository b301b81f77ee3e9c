"""With what else could a function be called, judging by the calls that were seen?

Values stay of the types that were seen, and near them: neighbours, edges, other orders, other lengths, and what another
call was given in the same place. The same calls give the same inputs.
"""

from __future__ import annotations

import copy
import dataclasses
import random
import time

from regreen_probe.calls import Call

TRIES = 600
"""How often another call is made up; some are as those that are there already."""
SECONDS = 0.5
"""For making them up: what was seen may be large."""


def more(calls: list[Call], wanted: int) -> list[Call]:
    """Up to `wanted` different calls that are none of those that were seen."""
    choose = random.Random(0)  # noqa: S311 — chance has to be the same every time
    known = {call.text for call in calls}
    made: list[Call] = []
    until = time.process_time() + SECONDS
    for _ in range(TRIES):
        if len(made) == wanted or time.process_time() > until:
            break
        new = _another(choose.choice(calls), calls, choose)
        if new is not None and new.text not in known:
            known.add(new.text)
            made.append(new)
    return made


def _another(call: Call, calls: list[Call], choose: random.Random) -> Call | None:
    """A call like one of those that were seen, with one or two of its values changed."""
    others = [other for other in calls if other.function is call.function]
    try:
        positional, named = call.given()
        places = [(positional, n) for n in range(len(positional))] + [(named, name) for name in named]
        for values, place in choose.sample(places, min(len(places), choose.choice((1, 1, 2)))):
            pool = [value for other in others for value in _at(other, place)]
            for _ in range(choose.choice((1, 1, 2, 3))):
                values[place] = varied(values[place], pool, choose)
        return Call(call.function, *copy.deepcopy((positional, named)))
    except Exception:  # values may do as they please when they are copied, compared or hashed
        return None


def _at(call: Call, place: "int | str") -> list:
    if isinstance(place, str):
        return [call.named[place]] if place in call.named else []
    return call.positional[place : place + 1]


def varied(value: object, pool: list, choose: random.Random) -> object:
    """Another value of the kind, or one of the pool."""
    made = [] if choose.random() < 0.2 else _near(value, pool, choose)
    return choose.choice(made or pool)


def _near(value: object, pool: list, choose: random.Random) -> list:
    kind = type(value)
    if kind is bool:
        return [not value]
    if kind is int:
        return [
            value + 1,
            value - 1,
            value + 2,
            0,
            1,
            -value,
            value * 2,
            value // 2,
            value + choose.randrange(100),
        ]
    if kind is float:
        return [value + 1, value - 1, value + 0.5, 0.0, -value, value / 2, value * choose.random()]
    if kind in (str, bytes, list, tuple):
        return _sequences(value, pool, choose)
    if kind in (set, frozenset, dict):
        return _collections(value, pool, choose)
    if dataclasses.is_dataclass(value):
        return _fields(value, pool, choose)
    return []


def _sequences(value, pool: list, choose: random.Random) -> list:
    kind = type(value)

    def join(parts):
        return "".join(parts) if kind is str else kind(parts)

    whole = list(value)
    parts = [part for other in [value, *pool] if type(other) is kind for part in other]
    mixed = [choose.choice(parts) for _ in range(choose.randrange(1, 8))] if parts else []
    at = choose.randrange(len(value) + 1)
    made = [value[:0], value[:1], value[::-1], value + value, value[:at], value[at:], value[:at] + value[at + 1 :],
            join(choose.sample(whole, len(whole))), join(mixed)]  # fmt: skip
    if parts:
        made.append(join([*whole[:at], choose.choice(parts), *whole[at:]]))
    if kind is str:
        made += [value.swapcase(), value.upper(), value.lower(), value.title(), " " + value, value + " ",
                 value[:at] + choose.choice(" aZ0-_.,é") + value[at:]]  # fmt: skip
    elif kind is not bytes:
        if value:
            at = choose.randrange(len(whole))
            for _ in range(4):  # as often as all the others: what is inside matters most
                changed = varied(whole[at], parts, choose)
                made += [kind([*whole[:at], changed, *whole[at + 1 :]])]
        made += _sorted(whole, kind)
    return made


def _sorted(whole: list, kind: type) -> list:
    try:
        return [kind(sorted(whole)), kind(sorted(whole, reverse=True))]
    except TypeError:  # they have no order
        return []


def _collections(value, pool: list, choose: random.Random) -> list:
    kind = type(value)
    others = [other for other in pool if type(other) is kind]
    if kind is dict:
        made = [{}]
        if value:
            key = choose.choice(list(value))
            made += [
                {k: v for k, v in value.items() if k != key},
                {**value, key: varied(value[key], [v for other in others for v in other.values()], choose)},
                dict(reversed(list(value.items()))),
            ]
        return made + [{**value, **other} for other in others]
    made = [kind()] + [value | other for other in others]
    if value:
        member = choose.choice(sorted(value, key=repr))
        made += [value - {member}, (value - {member}) | {varied(member, list(value), choose)}]
    return made


def _fields(value, pool: list, choose: random.Random) -> list:
    names = [field.name for field in dataclasses.fields(value) if hasattr(value, field.name)]
    if not names:
        return []
    name = choose.choice(names)
    others = [getattr(other, name) for other in pool if type(other) is type(value) and hasattr(other, name)]
    made = copy.copy(value)
    object.__setattr__(made, name, varied(getattr(value, name), others, choose))  # frozen ones, too
    return [made]
