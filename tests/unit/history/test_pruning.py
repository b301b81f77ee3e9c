"""Does the store keep to its size, forgetting what was said before what it cost, and today's costs never?"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.history import asked
from tests.unit.history.asked import Watch
from tests.unit.terminal import made

from regreen.history import Store
from regreen.history.database import transaction
from regreen.history.pruning import used
from regreen.values import Lesson, Outcome, Project

LIMIT = 400_000
SAID = "x" * 20_000


def rows(path: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute(query).fetchall()


def size(path: Path) -> int:
    with transaction(path, writing=False) as db:
        return used(db)


def test_what_was_said_first_is_forgotten_first_and_its_cost_is_not(path: Path, project: Project) -> None:
    store = Store(path, limit=LIMIT)
    for number in range(60):
        store.record_call(project, asked.call(str(number), text=SAID))
        store.record_round(project, asked.round_(str(number)))
    assert size(path) <= LIMIT
    kept = [heal for (heal,) in rows(path, "SELECT id FROM texts JOIN calls USING (call) ORDER BY call")]
    assert 5 < len(kept) < 25
    assert kept == [str(number) for number in range(60 - len(kept), 60)]
    assert store.spent().calls == 60
    assert len(store.rounds("0")) == 1
    assert path.stat().st_size < LIMIT * 1.5


def test_then_old_heals_go_and_their_rounds(path: Path, project: Project) -> None:
    store = Store(path, limit=LIMIT)
    for number in range(60):
        diff = "+" + "y" * 20_000
        store.record_round(project, asked.round_(str(number), hint=diff))
        result = made.result(project.root, outcome=Outcome.NO_FIX, nodeid=str(number))
        store.record(project, replace(result, heal=str(number)))
        store.record_call(project, asked.call(str(number)))
    assert size(path) <= LIMIT
    assert (store.rounds("0"), len(store.rounds("59"))) == ((), 1)
    assert rows(path, "SELECT id FROM rounds ORDER BY id") == rows(path, "SELECT id FROM heals ORDER BY id")
    assert 5 < len(rows(path, "SELECT id FROM rounds")) < 25
    assert store.heals(project)[0].nodeid == "59"
    assert rows(path, "SELECT count(*) FROM tried") == rows(path, "SELECT count(*) FROM heals")
    assert store.spent().calls == 60


def test_of_costs_only_those_of_days_past_go(path: Path, project: Project) -> None:
    watch = Watch()
    store = Store(path, limit=LIMIT, now=watch)
    many = replace(asked.call(), masked={str(number): 1 for number in range(600)})
    for count in (20, 20, 50):
        for _ in range(count):
            store.record_call(project, many)
        watch.go(days=1)
    assert size(path) > LIMIT
    assert store.spent().calls == 50 + 20


def test_marks_and_lessons_stay(path: Path, project: Project) -> None:
    store = Store(path, limit=LIMIT)
    fix = made.fix(project.root / "cart.py", "-=", "+=")
    store.record(project, replace(made.result(project.root, fix), heal="first"))
    store.keep_lessons(project, "first", [Lesson("Add.", "AssertionError", "total")])
    store.mark(project, fix, undone=False)
    for number in range(60):
        store.record_round(project, asked.round_(str(number), hint=SAID))
        result = made.result(project.root, outcome=Outcome.NO_FIX, nodeid=str(number))
        store.record(project, replace(result, heal=str(number)))
    assert rows(path, "SELECT count(*) FROM heals WHERE id = 'first'") == [(0,)]
    assert store.accepted(project, fix.candidate.template) == (1, 0)
    assert len(store.lessons(project, "AssertionError", "")) == 1


def test_one_text_that_is_too_large_alone_is_not_kept(path: Path, project: Project) -> None:
    store = Store(path, limit=LIMIT)
    store.record_call(project, asked.call(text="x" * 2 * LIMIT))
    assert rows(path, "SELECT count(*) FROM texts") == [(0,)]
    assert store.spent().calls == 1


def test_rounds_of_heals_that_never_ended_do_not_pile_up(
    path: Path, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regreen.history.store.KEPT", 5)
    store = Store(path)
    for number in range(9):
        store.record_round(project, asked.round_(str(number)))
    store.record(project, made.result(project.root, outcome=Outcome.NO_FIX))
    assert rows(path, "SELECT id FROM rounds ORDER BY rowid") == [(str(number),) for number in range(4, 9)]
