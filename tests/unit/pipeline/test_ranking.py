"""What asks for a second look comes last among its equals, whatever else speaks for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from regreen.pipeline.ranking import ranked
from regreen.pipeline.search import Found
from regreen.values import Candidate, Flag, Suspect

FLAG = (Flag("removed-assert", "removes an assert"),)


def found(name: str, *, score: float = 0.5, mends: int = 1, leaves: int = 0, flagged: bool = False) -> Found:
    candidate = Candidate((), name, name, score, Suspect(Path("/p/a.py"), 0, 1.0))
    return Found(
        candidate,
        0,
        "same",
        mended=tuple(f"test_{number}" for number in range(mends)),
        leaves=leaves,
        flags=FLAG if flagged else (),
    )


def order(*every: Found) -> list[str]:
    return [one.candidate.template for one in ranked(every)]


def test_a_flagged_fix_comes_after_those_without_flags_however_likely_it_is() -> None:
    assert order(found("flagged", score=1.0, mends=3, flagged=True), found("plain", score=0.1)) == [
        "plain",
        "flagged",
    ]


def test_a_flagged_fix_that_leaves_nothing_red_comes_before_one_that_does() -> None:
    assert order(found("half", leaves=1), found("flagged", flagged=True)) == ["flagged", "half"]


def test_of_flagged_fixes_the_likelier_comes_first() -> None:
    assert order(found("a", score=0.1, flagged=True), found("b", score=0.2, flagged=True)) == ["b", "a"]


def test_many_far_fetched_patches_do_not_outvote_a_likely_one() -> None:
    alike = [replace(found(f"far{n}", score=0.01), behaviour="theirs") for n in range(3)]
    assert order(found("likely", score=0.05), *alike)[0] == "likely"


def test_likely_patches_that_agree_outvote_a_likelier_one_that_is_alone() -> None:
    alike = [replace(found(f"near{n}", score=0.08), behaviour="theirs") for n in range(3)]
    assert order(found("alone", score=0.1), *alike)[0] == "near0"


def test_one_idea_in_several_spellings_votes_once() -> None:
    spelt = [replace(found("synthesis.value", score=0.08), behaviour="theirs") for _ in range(5)]
    assert order(*spelt, found("other", score=0.1))[0] == "other"
