"""Expressions are different by what they give, and give what they say."""

from __future__ import annotations

import itertools
import time
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from .client import island

frozen, terms = island("frozen"), island("terms")

NUMBERS = st.integers(-20, 20)
SPACES = st.fixed_dictionaries(
    {
        "a": NUMBERS,
        "b": NUMBERS,
        "flag": st.booleans(),
        "share": st.floats(-4, 4, allow_nan=False),
        "text": st.text("ab c", max_size=5),
        "items": st.lists(NUMBERS, max_size=4),
        "pair": st.tuples(NUMBERS, st.text("xy", max_size=2)),
        "unique": st.sets(NUMBERS, max_size=3),
        "prices": st.dictionaries(st.sampled_from("ab"), NUMBERS, max_size=2),
    }
)
LITERALS = {"0": 0, "1": 1, "2": 2, '""': "", "'a'": "a", "[]": [], "None": None, "True": True}


def bank(spaces: list[dict[str, Any]], literals: dict[str, Any], seconds: float = 20.0) -> Any:
    atoms = [(name, [space[name] for space in spaces], 11, False) for name in spaces[0]]
    atoms += [(text, [value] * len(spaces), 11, True) for text, value in literals.items()]
    return terms.Bank(atoms, time.process_time() + seconds)


@settings(max_examples=30, deadline=None)
@given(st.lists(SPACES, min_size=1, max_size=4))
def test_every_text_evaluates_to_the_values_that_are_claimed(spaces: list[dict[str, Any]]) -> None:
    for term in bank(spaces, LITERALS).upto(3):
        for space, value in zip(spaces, term.values, strict=True):
            again = eval(term.text, {}, dict(space))
            assert terms.key_of([again]) == terms.key_of([value]), term.text


@settings(max_examples=10, deadline=None)
@given(st.lists(SPACES, min_size=2, max_size=3))
def test_parentheses_are_where_they_are_needed(spaces: list[dict[str, Any]]) -> None:
    several = [{name: space[name] for name in ("a", "b", "flag", "items")} for space in spaces]
    larger = (term for term in bank(several, {"2": 2}).upto(5) if term.size == 5)
    for term in itertools.islice(larger, 1500):
        for space, value in zip(several, term.values, strict=True):
            assert terms.key_of([eval(term.text, {}, dict(space))]) == terms.key_of([value]), term.text


@settings(max_examples=20, deadline=None)
@given(st.lists(SPACES, min_size=1, max_size=4))
def test_no_two_have_the_same_values(spaces: list[dict[str, Any]]) -> None:
    found = [terms.key_of(term.values) for term in bank(spaces, LITERALS).upto(3)]
    assert len(found) == len(set(found))


def test_what_fits_is_found_in_each_form_that_the_values_cannot_tell_apart() -> None:
    spaces = [{"text": "hello", "n": 2}, {"text": "abc", "n": 0}]
    wanted = ["hel", "a"]
    fitting = bank(spaces, {"1": 1}).fitting(5, lambda n, value: value == wanted[n])
    assert {"text[:n + 1]", "text[:1 + n]"} & {term.text for term in fitting}


def test_the_time_that_was_given_is_all_that_is_taken() -> None:
    spaces = [{f"n{number}": number * 7 + seed for number in range(12)} for seed in range(20)]
    began = time.process_time()
    found = list(bank(spaces, {}, seconds=0.1).upto(7))
    assert found
    assert len(found) < terms.EVERYTHING or time.process_time() > began


def test_an_object_of_the_project_is_its_attributes_and_none_of_its_code_runs() -> None:
    class Order:
        def __init__(self, total: int) -> None:
            self.total = total

        def __getattribute__(self, name: str) -> object:
            raise AssertionError

        def __eq__(self, other: object) -> bool:
            raise AssertionError

        __hash__ = None  # type: ignore[assignment]

    orders = [Order.__new__(Order), Order.__new__(Order)]
    for number, order in enumerate(orders):
        object.__getattribute__(order, "__dict__")["total"] = number * 10
    spaces = [{"order": frozen.frozen(order), "limit": 5} for order in orders]
    found = bank(spaces, {}).fitting(4, lambda n, value: value is (n == 1))
    assert {"order.total > limit", "limit < order.total"} & {term.text for term in found}


def test_a_picture_stays_as_it_was() -> None:
    items = [[1], {"a": 2}]
    picture = frozen.frozen(items)
    items[0].append(3)  # type: ignore[attr-defined]
    items.clear()
    assert picture == [[1], {"a": 2}]
