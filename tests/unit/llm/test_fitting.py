"""Does the evidence fit, whatever there is of it?"""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from regreen.llm.fitting import Section, fit

lines = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=60), min_size=1, max_size=30
)
others = st.lists(
    st.builds(lambda text, rank: ("x", tuple(text), rank), lines, st.integers(1, 6)), max_size=6
)


def count(text: str) -> int:
    return math.ceil(len(text) / 4)


def made(failure: list[str], rest: list[tuple[str, tuple[str, ...], int]]) -> list[Section]:
    first = Section("The failure:", tuple(failure), "failure", 0)
    return [
        first,
        *(
            Section(f"Piece {n}:", text, "code", rank, f"f{n}.py", n)
            for n, (_, text, rank) in enumerate(rest)
        ),
    ]


@given(lines, others, st.integers(150, 2000))
def test_evidence_is_never_longer_than_it_may_be(
    failure: list[str], rest: list[tuple[str, tuple[str, ...], int]], tokens: int
) -> None:
    assert count(fit(made(failure, rest), tokens, count).text) <= tokens


@given(lines, others, st.integers(1, 2000))
def test_the_failure_itself_is_never_dropped(
    failure: list[str], rest: list[tuple[str, tuple[str, ...], int]], tokens: int
) -> None:
    text = fit(made(failure, rest), tokens, count).text
    assert "The failure:" in text
    assert failure[0] in text


@given(lines, others, st.integers(1, 2000))
def test_what_is_left_out_is_said(
    failure: list[str], rest: list[tuple[str, tuple[str, ...], int]], tokens: int
) -> None:
    sections = made(failure, rest)
    fitted = fit(sections, tokens, count)
    whole = "\n\n".join(one.text(len(one.lines)) for one in sections)
    assert fitted.text == whole or "left out for length" in fitted.text.lower()


@given(lines, others, st.integers(1, 2000))
def test_each_range_is_what_is_shown_of_its_file(
    failure: list[str], rest: list[tuple[str, tuple[str, ...], int]], tokens: int
) -> None:
    sections = made(failure, rest)
    for one in fit(sections, tokens, count).ranges:
        section = next(section for section in sections if section.path == one.path)
        shown = section.lines[: one.end - one.start]
        assert one.start == section.start
        assert "\n".join(shown) in fit(sections, tokens, count).text


def test_of_two_pieces_the_one_of_lesser_weight_goes_first() -> None:
    heavy = Section("Heavy:", ("h" * 200,) * 3, "code", 1)
    light = Section("Light:", ("l" * 200,) * 3, "code", 2)
    text = fit([Section("The failure:", ("f",), "failure", 0), light, heavy], 320, count).text
    assert text.count("h" * 200) == 3
    assert text.count("l" * 200) < 3


def test_where_all_fits_all_is_there_in_its_order() -> None:
    sections = made(["f"], [("x", ("a",), 5), ("x", ("b",), 1)])
    text = fit(sections, 10_000, count).text
    assert text.index("The failure:") < text.index("Piece 0:") < text.index("Piece 1:")
