"""Patches agree only where enough speaks for it; what keeps a wrong one out is each condition alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from regreen.pipeline.confidence import vote
from regreen.pipeline.ranking import ranked
from regreen.pipeline.search import Found
from regreen.validation.ladder import Known
from regreen.values import Answer, Candidate, Confidence, Flag, Suspect, TestStatus

KNOWN = Known({"red": TestStatus.FAILED, "green": TestStatus.PASSED})
MENDED = (Answer("f(1)", "red", "0", "1"), Answer("f(2)", "red", "0", "2"))
GREEN = (Answer("f(0)", "green", "0", "0"),)
OTHERS = tuple(Answer(f"f({n})", "", "0", str(n)) for n in range(3, 23))


def found(
    name: str,
    answers: Sequence[Answer] = (*MENDED, *GREEN, *OTHERS),
    *,
    kind: str = "cause",
    score: float = 0.5,
) -> Found:
    candidate = Candidate((), name, f"`{name}`", score, Suspect(Path("/p/a.py"), 0, 1.0), kind)
    return Found(candidate, 0, "same", answers=tuple(answers))


def otherwise(name: str, call: str, after: str, *, score: float = 0.4) -> Found:
    """A patch that answers one call differently."""
    return found(
        name,
        [replace(one, after=after) if one.call == call else one for one in found("").answers],
        score=score,
    )


def confidence(one: Found, *others: Found) -> Confidence:
    return vote(one, [one, *others], KNOWN).confidence


def test_two_patches_that_behave_alike_agree() -> None:
    said = vote(found("a"), [found("a"), found("b")], KNOWN)
    assert said.confidence is Confidence.AGREED
    assert said.lines == ("agreed: 2 patches pass and behave alike on 23 calls",)


@pytest.mark.parametrize(
    "one",
    [
        found("guard", kind="guard"),
        found("literal", kind="literal"),
        found("deletion", kind="deletion"),
        replace(found("flagged"), flags=(Flag("removed-assert", "removes an assert"),)),
        replace(found("half"), leaves=1),
        found("mends one call", [MENDED[0], *GREEN, *OTHERS]),
        found(
            "hardly does anything else",
            [*MENDED, *GREEN, *OTHERS[:7], *[replace(o, after="0") for o in OTHERS[7:]]],
        ),
        found("not compared", ()),
    ],
    ids=lambda one: one.candidate.template,
)
def test_agreement_says_little_about_a_patch_that(one: Found) -> None:
    twin = replace(one, candidate=replace(one.candidate, template="twin"))
    assert confidence(one, twin) is Confidence.THIN


def test_the_only_patch_has_nobody_to_agree_with() -> None:
    assert confidence(found("a")) is Confidence.THIN


def test_a_split_shows_the_shortest_call_on_which_the_best_two_differ() -> None:
    best, worst = found("best"), otherwise("worst", "f(3)", "KeyError", score=0.1)
    second = replace(
        otherwise("second", "f(10)", "IndexError"), answers=otherwise("", "f(10)", "IndexError").answers
    )
    second = replace(
        second,
        answers=tuple(
            replace(one, after="TypeError") if one.call == "f(4)" else one for one in second.answers
        ),
    )
    said = vote(best, [best, found("twin"), second, worst], KNOWN)
    assert said.confidence is Confidence.SPLIT
    assert said.lines == (
        "split: 2 of 4 patches that pass behave differently. A: f(4) → 4, B: TypeError (A is this one, B is `second`)",
    )


def test_a_patch_that_was_not_compared_keeps_the_others_from_agreeing() -> None:
    assert confidence(found("a"), found("b"), found("not compared", ())) is Confidence.THIN


def test_what_only_hides_the_symptom_does_not_make_a_split() -> None:
    hiding = replace(otherwise("hides", "f(5)", "None"), flags=(Flag("swallows", "swallows exceptions"),))
    assert confidence(found("a"), found("b"), hiding) is Confidence.AGREED


def test_changed_calls_of_green_tests_are_told_and_those_of_red_ones_are_not() -> None:
    one = found("a", [*MENDED, replace(GREEN[0], after="KeyError"), *OTHERS])
    said = vote(one, [one], KNOWN)
    assert said.lines[1:] == ("no test notices f(0): 0 → KeyError",)


def test_of_equally_likely_patches_the_one_that_most_behave_like_is_first() -> None:
    alone, one, two = otherwise("alone", "f(9)", "0", score=0.5), found("one"), found("two")
    assert [each.candidate.template for each in ranked([alone, one, two])] == ["one", "two", "alone"]


def test_without_answers_the_digest_of_the_tests_calls_decides() -> None:
    one, two = found("one", ()), replace(found("two", ()), behaviour="other")
    assert confidence(one, two) is Confidence.SPLIT
    assert vote(one, [one, two], KNOWN).rival is None
