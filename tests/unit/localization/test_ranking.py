"""The faulty statement ranks above the innocent ones."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regreen.localization import rank
from regreen.localization.spectrum import ochiai
from regreen.source import ProjectSources
from regreen.values import Failure, Frame, Spectrum, Suspect

ROOT = Path("/p")
CART = ROOT / "cart.py"
RATES = ROOT / "rates.py"
TEST = ROOT / "test_cart.py"

TEXT = b"""from rates import RATE

LIMIT = 10


def total(items, scale=2):
    result = 0
    for item in items:
        result -= item
    return result


def discount(value):
    if value > LIMIT:
        return value * RATE
    return value
"""
FILES = {CART: TEXT, RATES: b"OTHER = 1\nRATE = 0.8\n", TEST: b"from cart import total\n"}


def failure(exception: str = "AssertionError", message: str = "", frames: tuple[Frame, ...] = ()) -> Failure:
    return Failure("red", "call", exception, message, frames, TEST, 0)


def suspects(
    one: Failure, lines: dict[str, set[int]], *, passing: tuple[str, ...] = ()
) -> tuple[Suspect, ...]:
    spectrum = Spectrum({name: {CART: frozenset(numbers)} for name, numbers in lines.items()})
    sources = ProjectSources(FILES, ROOT)
    return rank(one, spectrum, passing=passing, sources=sources, may_change=lambda path: path != TEST)


def test_a_line_that_only_the_red_test_runs_comes_first() -> None:
    ranked = suspects(failure(), {"red": {6, 7, 8, 9}, "green": {6, 7, 9}}, passing=("green",))
    assert (ranked[0].path, ranked[0].line, ranked[0].function) == (CART, 8, "total")


def test_the_crash_line_beats_its_callers() -> None:
    frames = (
        Frame(TEST, 3, "test_total", own=True),
        Frame(CART, 9, "total", own=True),
        Frame(CART, 13, "discount", own=True),
    )
    ranked = suspects(failure("TypeError", "x", frames), {"red": {6, 7, 8, 9, 13}})
    assert [s.line for s in ranked[:2]] == [13, 9]


def test_tests_are_never_suspects() -> None:
    frames = (Frame(TEST, 3, "test_total", own=True),)
    assert all(s.path != TEST for s in suspects(failure(frames=frames), {"red": {8}}))


def test_constants_are_suspected_through_the_functions_that_read_them_also_across_files() -> None:
    ranked = suspects(failure(), {"red": {13, 14}})
    found = {(s.path, s.line) for s in ranked}
    assert (CART, 2) in found
    assert (RATES, 1) in found
    assert (RATES, 0) not in found


def test_a_constant_that_the_test_itself_reads_is_suspected_though_no_function_ran() -> None:
    test = b"from rates import RATE\n\n\nLIMIT = 3\n\n\ndef test_rate():\n    assert RATE == LIMIT - 2\n"
    frames = (Frame(TEST, 7, "test_rate", own=True),)
    one = Failure("red", "call", "AssertionError", "", frames, TEST, 6)
    sources = ProjectSources({**FILES, TEST: test}, ROOT)
    ranked = rank(one, Spectrum({}), passing=(), sources=sources, may_change=lambda path: path != TEST)
    assert [(suspect.path, suspect.line) for suspect in ranked] == [(RATES, 1)]


def test_a_default_value_is_suspected_with_its_function() -> None:
    assert (CART, 5) in {(s.path, s.line) for s in suspects(failure(), {"red": {8}})}


@pytest.mark.parametrize(
    ("exception", "message", "place"),
    [
        ("TypeError", "discount() missing 1 required positional argument: 'value'", (CART, 12)),
        ("ImportError", "cannot import name 'rate' from 'rates' (/p/rates.py)", (RATES, 0)),
        ("AttributeError", "module 'cart' has no attribute 'totl'", (CART, 0)),
    ],
)
def test_a_definition_that_the_message_names_is_suspected_though_nothing_of_it_ran(
    exception: str, message: str, place: tuple[Path, int]
) -> None:
    ranked = suspects(failure(exception, message), {"red": set()})
    assert (ranked[0].path, ranked[0].line) == place


def test_the_place_a_parser_names_is_the_first_suspect_of_a_file_that_cannot_be_collected() -> None:
    broken = Failure(
        "test_cart.py", "collect", "SyntaxError", "invalid syntax", (Frame(CART, 8, "", own=True),), TEST, 0
    )
    ranked = rank(
        broken, Spectrum(), passing=(), sources=ProjectSources(FILES, ROOT), may_change=lambda p: p != TEST
    )
    assert (ranked[0].path, ranked[0].line) == (CART, 8)


@given(st.integers(0, 30))
def test_ochiai_falls_with_every_green_test_that_runs_the_line(green: int) -> None:
    lines = {"red": {CART: frozenset({1})}, **{f"g{n}": {CART: frozenset({1})} for n in range(green)}}
    value = ochiai(Spectrum(lines), ("red",), [f"g{n}" for n in range(green)])[CART, 1]
    assert math.isclose(value, 1 / math.sqrt(1 + green))


@given(st.dictionaries(st.text(max_size=3), st.sets(st.integers(0, 9)), max_size=6))
def test_suspiciousness_stays_between_zero_and_one(greens: dict[str, set[int]]) -> None:
    frames = (Frame(CART, 8, "total", own=True),)
    ranked = suspects(failure(frames=frames), {**greens, "red": {6, 8}}, passing=tuple(greens))
    assert all(0 < s.suspiciousness <= 1 for s in ranked)
