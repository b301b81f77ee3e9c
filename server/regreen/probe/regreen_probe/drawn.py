"""With what would hypothesis call a function, judging by the calls that were seen?

Where it is installed, and only there. It is asked for values of the types and ranges that were seen, within containers,
too; what it does not know how to make is taken from what was seen. The same calls give the same inputs.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import warnings

from regreen_probe.calls import Call

WIDER = 10
"""How far numbers go beyond those that were seen, at least; else as far again as these are apart."""
LONGER = 2
"""How many times as long as the longest that was seen a container or text may be."""
LONGEST = 20
"""But never longer than this; nor are more parts of one that was seen looked at: a call may be given a million."""
DEEP = 4
"""Containers in containers."""
LETTERS = " aZ0_-."
"""What a text may have besides the characters that were seen."""


def more(calls: list[Call], wanted: int) -> list[Call]:
    """About `wanted` calls, or fewer; none where hypothesis is not installed, or is too old for this."""
    made: list[Call] = []
    functions = list(dict.fromkeys(call.function for call in calls))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for function in functions:
            with contextlib.suppress(Exception):  # it is a help, and not needed
                _draw([c for c in calls if c.function is function], wanted // len(functions), made)
    known = {call.text for call in calls}
    return list({call.text: call for call in made if call.text not in known}.values())


def _draw(calls: list[Call], wanted: int, made: list[Call]) -> None:
    """Add calls of one function, given as many values as most of its calls were."""
    import hypothesis  # here: it may not be there, and takes a while
    from hypothesis import strategies as st

    shapes = [_shape(call) for call in calls]
    count, names = shape = max(dict.fromkeys(shapes), key=shapes.count)
    alike = [call for call in calls if _shape(call) == shape]
    places = [[call.positional[n] for call in alike] for n in range(count)]
    places += [[call.named[name] for call in alike] for name in names]

    @hypothesis.settings(
        database=None,
        derandomize=True,
        max_examples=max(1, wanted),
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
        deadline=None,
    )
    @hypothesis.given(st.tuples(*(_like(values, st) for values in places)))
    def keep(values: tuple) -> None:
        given = copy.deepcopy(list(values))
        named = {name: given[count + n] for n, name in enumerate(names)}
        made.append(Call(calls[0].function, given[:count], named))

    keep()


def _shape(call: Call) -> tuple[int, tuple[str, ...]]:
    return len(call.positional), tuple(call.named)


def _like(values: list, st, depth: int = DEEP):
    """A strategy for values like these."""
    kinds = list(dict.fromkeys(map(type, values)))
    return st.one_of([_of(kind, [v for v in values if type(v) is kind], st, depth) for kind in kinds])


def _of(kind: type, values: list, st, depth: int):
    if kind is bool:
        return st.booleans()
    if kind is int or (kind is float and all(abs(value) < float("inf") for value in values)):
        low, high = min(values), max(values)
        wider = max(WIDER, high - low)
        return (st.integers if kind is int else st.floats)(low - wider, high + wider)
    if depth and kind in (str, bytes, list, tuple, set, frozenset, dict):
        return _container(kind, values, st, depth)
    return st.sampled_from(values)


def _container(kind: type, values: list, st, depth: int):
    longest = min(LONGER * max(map(len, values)) + 1, LONGEST)
    parts = [part for value in values for part in itertools.islice(value, LONGEST)]
    if kind is str:
        return st.text(sorted({*parts, *LETTERS}), max_size=longest)
    if kind is bytes:
        return st.binary(max_size=longest)
    if not parts:
        return st.just(kind())
    if kind is tuple and {len(value) for value in values} == {min(len(values[0]), LONGEST)}:
        return st.tuples(
            *(_like([value[n] for value in values], st, depth - 1) for n in range(len(values[0])))
        )
    elements = _like(parts, st, depth - 1)
    if kind is dict:
        held = [held for value in values for held in itertools.islice(value.values(), LONGEST)]
        return st.dictionaries(elements, _like(held, st, depth - 1), max_size=longest)
    if kind is set or kind is frozenset:
        return st.sets(elements, max_size=longest).map(kind)
    return st.lists(elements, max_size=longest).map(kind)
