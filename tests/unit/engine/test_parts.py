"""The pure parts of the engine."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regreen import edits
from regreen.engine.choose import changed_lines, line_table
from regreen.engine.documents import Document
from regreen.engine.lane import Job, merge
from regreen.engine.outline import line_of, outline
from regreen.engine.state import ProjectState
from regreen.engine.views import expectation
from regreen.pipeline import Baseline
from regreen.settings import Settings
from regreen.values import Comparison, Project, RunReport, Snapshot, TestOutcome, TestStatus

LINES = st.lists(st.sampled_from(["a = 1", "b = 2", "", "    é = '😀'", "\x0cc"]), max_size=12)


@given(LINES, LINES, st.sampled_from(["\n", "\r\n"]))
def test_lines_that_were_left_alone_keep_their_text_wherever_they_move(
    old: list[str], new: list[str], eol: str
) -> None:
    before, after = eol.join(old), eol.join(new)
    table = line_table(before.encode(), after.encode())
    old_lines, new_lines = edits.split_lines(before), edits.split_lines(after)
    for line, target in table.items():
        if line < len(old_lines):
            assert target < len(new_lines)
            assert old_lines[line].strip("\r\n") == new_lines[target].strip("\r\n")
    changed = changed_lines(before.encode(), after.encode())
    assert (before == after) == (not changed)
    assert changed.isdisjoint(table)


def test_lines_below_an_insertion_move_down() -> None:
    assert line_table(b"a\nb\nc\n", b"a\nx\nb\nc\n") == {0: 0, 2: 3, 3: 4}


TEXT = """
import pytest
pytestmark = [pytest.mark.db]

def helper():
    def test_inner(): pass

@pytest.mark.slow
@pytest.mark.parametrize("x", [1])
async def test_one(x):
    pass

@pytest.mark.e2e
class TestCart:
    pytestmark = pytest.mark.network

    def test_two(self):
        pass

def test_three(): pass
"""


def test_the_outline_knows_where_tests_are_and_which_marks_they_have() -> None:
    found = {d.name: (d.line, set(d.marks)) for d in outline(TEXT)}
    assert found["test_one"] == (9, {"db", "slow", "parametrize"})
    assert found["TestCart::test_two"] == (16, {"db", "e2e", "network"})
    assert found["test_three"] == (19, {"db"})
    assert line_of(TEXT, "t.py::TestCart::test_two[1-a]") == 16
    assert line_of(TEXT, "t.py::test_gone") is None


@given(st.text(alphabet="deftclas@mark.pytest_ :()\n\t", max_size=200))
def test_no_text_breaks_the_outline(text: str) -> None:
    for definition in outline(text):
        assert 0 <= definition.line <= text.count("\n")


@pytest.mark.parametrize(
    ("older", "newer", "merged"),
    [
        (None, Job(tests=("a",)), Job(tests=("a",))),
        (Job(tests=("a",), heal=True), Job(tests=("b",)), Job(tests=("a", "b"), heal=True)),
        (Job(check_suite=True), Job(tests=("b",)), Job(tests=("b",))),
        (Job(tests=("b",)), Job(check_suite=True), Job(tests=("b",))),
        (
            Job(changed=frozenset({Path("a")}), by_hand=True),
            Job(changed=frozenset({Path("b")})),
            Job(changed=frozenset({Path("a"), Path("b")})),
        ),
        (
            Job(changed=frozenset({Path("a")}), by_hand=True),
            Job(tests=("t",)),
            Job(changed=frozenset({Path("a")}), by_hand=True, tests=("t",)),
        ),
    ],
)
def test_merged_work_covers_both(older: Job | None, newer: Job, merged: Job) -> None:
    assert merge(older, newer) == merged


@given(st.text(max_size=40), st.booleans())
def test_a_document_that_was_not_edited_has_the_bytes_of_its_file(text: str, bom: bool) -> None:
    text = text.lstrip("\ufeff").replace("coding", "")
    data = (b"\xef\xbb\xbf" if bom else b"") + text.encode("utf-8", "ignore")
    document = Document("file:///x.py", Path("/x.py"), 0, data.decode("utf-8-sig" if bom else "utf-8"), 0.0)
    document.learn(data)
    assert document.data == data
    assert not document.dirty
    document.edit(document.text + "x", 1, 0.0)
    assert document.dirty


def test_a_document_follows_its_own_coding_line_and_text_it_cannot_hold_has_no_bytes() -> None:
    text = "# -*- coding: latin-1 -*-\nx = 'é'\n"
    document = Document("file:///x.py", Path("/x.py"), 1, text, 0.0)
    document.learn(text.encode("latin-1"))
    assert not document.dirty
    document.edit(text + "# €\n", 2, 0.0)
    assert document.data is None
    assert document.dirty


def test_outcomes_are_in_the_suites_order_once_all_of_it_has_run() -> None:
    root = Path("/p")
    project = Project(root, root)
    state = ProjectState(project, root, Settings())

    def absorb(*nodeids: str, whole_suite: bool) -> None:
        outcomes = {n: TestOutcome(n, TestStatus.PASSED, 0.1, root / "test_a.py", 0) for n in nodeids}
        report = RunReport(outcomes, nodeids, 0)
        state.absorb(Baseline(Snapshot(project, 1, {}, (root,)), report, whole_suite=whole_suite), nodeids)

    absorb("c", whole_suite=False)
    absorb("a", "b", "c", whole_suite=True)
    absorb("b", whole_suite=False)
    assert list(state.outcomes) == ["a", "b", "c"]


def test_an_expectation_names_both_sides() -> None:
    assert expectation(Comparison("==", "10", "15")) == "Expected 15, got 10"
    assert expectation(Comparison("in", "'a'", "[]")) == "'a' in [] is false"
    assert expectation(None) == ""
