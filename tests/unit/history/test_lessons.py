"""Do lessons count only while a fix of their heal is accepted, and is the nearest found, whatever it is asked with?"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.terminal import made

from regreen.history import Store, lessons
from regreen.values import Lesson, Project, VerifiedFix

ADD = Lesson("Totals add every line.", "AssertionError: assert == ", "def total result price line")
EMPTY = Lesson("An empty cart has no average.", "ZeroDivisionError: division by zero", "def average cart len")
NAMES = Lesson("Names are compared without case.", "KeyError: ", "def find name lower")


def texts(found: object) -> list[str]:
    return [one.text for one in found]  # type: ignore[attr-defined]


@pytest.fixture
def fix(project: Project) -> VerifiedFix:
    return made.fix(project.root / "cart.py", "-=", "+=")


def heal(store: Store, project: Project, *fixes: VerifiedFix, id_: str = "a" * 32) -> None:
    store.record(project, replace(made.result(project.root, *fixes), heal=id_))


def learned(store: Store, project: Project, *taught: Lesson, id_: str = "a" * 32) -> None:
    """Lessons of a heal whose fix is accepted."""
    fix = replace(made.fix(project.root / "cart.py", "-=", "+="), fix_id=f"fix of {id_}")
    heal(store, project, fix, id_=id_)
    store.keep_lessons(project, id_, taught)
    store.mark(project, fix, undone=False)


@pytest.mark.parametrize(
    "order", ["record keep mark", "keep record mark", "keep mark record", "mark record keep"]
)
def test_a_lesson_counts_from_when_a_fix_of_its_heal_is_accepted(
    store: Store, project: Project, fix: VerifiedFix, order: str
) -> None:
    for step in order.split():
        assert store.lessons(project, ADD.signature, ADD.code) == ()
        if step == "record":
            heal(store, project, made.fix(project.root / "cart.py", "result = 0", "result = 1"), fix)
        elif step == "keep":
            store.keep_lessons(project, "a" * 32, [ADD])
        else:
            store.mark(project, fix, undone=False)
    assert texts(store.lessons(project, ADD.signature, ADD.code)) == [ADD.text]


def test_it_counts_no_longer_when_the_fix_is_undone_and_again_when_it_is_not(
    store: Store, project: Project, fix: VerifiedFix
) -> None:
    heal(store, project, fix)
    store.keep_lessons(project, "a" * 32, [ADD])
    for undone in (False, True, False):
        store.mark(project, fix, undone=undone)
        assert bool(store.lessons(project, ADD.signature, ADD.code)) is not undone


def test_a_fix_of_another_heal_or_project_teaches_nothing_here(
    store: Store, project: Project, fix: VerifiedFix
) -> None:
    heal(store, project, fix)
    heal(store, project, replace(fix, fix_id="another"), id_="b" * 32)
    store.keep_lessons(project, "a" * 32, [ADD])
    store.mark(project, replace(fix, fix_id="another"), undone=False)
    other = Project(project.root / "other", project.root)
    store.mark(other, fix, undone=False)
    store.keep_lessons(project, "a" * 32, [ADD])
    assert store.lessons(project, ADD.signature, ADD.code) == ()


def test_the_nearest_comes_first_and_what_shares_no_word_not_at_all(store: Store, project: Project) -> None:
    learned(store, project, NAMES, EMPTY, ADD)
    found = store.lessons(
        project, "ZeroDivisionError: division by zero", "def average(self): len(self.lines)"
    )
    assert texts(found)[0] == EMPTY.text
    assert texts(store.lessons(project, "KeyError: ", "")) == [NAMES.text]
    assert store.lessons(project, "OSError: ", "open") == ()
    assert store.lessons(project, "", "") == ()
    assert len(store.lessons(project, "", "def", limit=2)) == 2


def test_an_equal_signature_comes_before_many_equal_words(store: Store, project: Project) -> None:
    wordy = Lesson("KeyError KeyError KeyError", "KeyError: KeyError KeyError", "KeyError find name")
    learned(store, project, NAMES, wordy)
    assert texts(store.lessons(project, NAMES.signature, "find name")) == [NAMES.text, wordy.text]


def test_a_lesson_that_is_found_knows_its_key(store: Store, project: Project) -> None:
    learned(store, project, ADD)
    (found,) = store.lessons(project, ADD.signature, ADD.code)
    assert replace(found, key=0) == ADD
    assert found.key > 0


def test_without_full_text_search_the_same_lessons_are_found(
    store: Store, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned(store, project, NAMES, EMPTY, ADD)
    questions = [(ADD.signature, ADD.code), ("KeyError: ", "cart"), ("", "def"), ("OSError: ", "")]
    by_text = [set(texts(store.lessons(project, *question))) for question in questions]
    monkeypatch.setattr(lessons, "has_full_text", lambda: False)
    assert [set(texts(store.lessons(project, *question))) for question in questions] == by_text
    assert texts(store.lessons(project, "KeyError: ", "def find name"))[0] == NAMES.text


def test_the_oldest_lessons_of_a_project_go_first(
    store: Store, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lessons, "KEPT_LESSONS", 3)
    other = Project(project.root / "other", project.root)
    learned(store, other, ADD, id_="other")
    for number in range(5):
        learned(store, project, Lesson(f"word {number}", "", ""), id_=str(number))
    assert texts(store.lessons(project, "word", "")) == ["word 4", "word 3", "word 2"]
    assert len(store.lessons(other, ADD.signature, "")) == 1


@given(st.text(max_size=60), st.text(max_size=60))
@pytest.mark.parametrize("search", [lessons.by_full_text, lessons.by_equal_words])
def test_no_question_breaks_the_search(search: object, signature: str, code: str) -> None:
    rows = [(1, "Names.", signature, "def"), (2, "word", "", code)]
    asked = lessons.words(f"{signature} {code}")
    if asked:
        assert set(search(rows, asked)) <= {1, 2}  # type: ignore[operator]


@given(st.lists(st.text(st.sampled_from("ab\"'*():^-+ {}NEARORANDNOT"), min_size=1, max_size=9), min_size=1))
def test_what_looks_like_an_operator_is_a_word(asked: list[str]) -> None:
    """A lesson that holds the words of the question is found, one that holds none of them is not."""
    found = lessons.by_full_text([(1, " ".join(asked), "", ""), (2, "zzz", "", "")], asked)
    assert set(found) == ({1} if lessons.words(" ".join(asked)) else set())


def test_a_pruned_heal_leaves_its_lessons_as_they_were(
    store: Store, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned(store, project, ADD)
    monkeypatch.setattr("regreen.history.store.KEPT", 1)
    for number in range(3):
        heal(store, project, id_=str(number))
    store.keep_lessons(project, "a" * 32, [NAMES])
    assert store.lessons(project, NAMES.signature, "") == ()
    assert texts(store.lessons(project, ADD.signature, ADD.code)) == [ADD.text]
