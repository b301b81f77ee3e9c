"""Does the run store keep what it should, survive what happens to files, and nothing more?"""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from tests.unit.terminal import made

from regreen.history import Store
from regreen.history.schema import STEPS, NewerStore, migrate
from regreen.values import Outcome, Project


def test_a_heal_is_kept_with_its_counts_and_fixes(store: Store, project: Project) -> None:
    fix = made.fix(project.root / "cart.py", "-=", "+=")
    store.record(project, made.result(project.root, outcome=Outcome.NO_FIX, nodeid="a"))
    store.record(project, made.result(project.root, fix))
    newest, oldest = store.heals(project)
    assert (newest.outcome, newest.fixes) == ("VERIFIED", (fix.fix_id,))
    assert (oldest.nodeid, oldest.outcome, oldest.tried) == ("a", "NO_FIX", {"STILL_FAILING": 12})
    assert newest.at.tzinfo is not None


def test_projects_do_not_see_each_other(store: Store, project: Project) -> None:
    fix = made.fix(project.root / "cart.py", "-=", "+=")
    store.record(project, made.result(project.root, fix))
    store.mark(project, fix, undone=False)
    other = Project(project.root / "other", project.root)
    assert store.heals(other) == ()
    assert store.accepted(other, fix.candidate.template) == (0, 0)


def test_the_last_word_on_a_fix_counts(store: Store, project: Project) -> None:
    one = made.fix(project.root / "cart.py", "-=", "+=")
    two = made.fix(project.root / "cart.py", "result = 0", "result = 1")
    store.record(project, made.result(project.root, one, two))
    store.mark(project, one, undone=False)
    store.mark(project, two, undone=False)
    assert store.accepted(project, "operator.augmented") == (2, 0)
    store.mark(project, one, undone=True)
    assert store.accepted(project, "operator.augmented") == (1, 1)
    assert store.accepted(project, "another") == (0, 0)


def test_a_fix_that_is_taken_before_its_heal_ended_counts(store: Store, project: Project) -> None:
    fix = made.fix(project.root / "cart.py", "-=", "+=")
    store.mark(project, fix, undone=False)
    store.record(project, made.result(project.root, fix))
    assert store.accepted(project, fix.candidate.template) == (1, 0)


def test_only_the_diff_of_an_offered_fix_is_source_text(tmp_path: Path, project: Project) -> None:
    path = tmp_path / "history.sqlite3"
    result = made.result(project.root, outcome=Outcome.NO_FIX)
    Store(path).record(project, result)
    stored = path.read_bytes()
    assert result.failure.nodeid.encode() in stored
    for private in (result.cause, result.failure.message, result.reason):
        assert private.encode() not in stored


def test_the_file_is_private(tmp_path: Path, project: Project) -> None:
    path = tmp_path / "state" / "history.sqlite3"
    Store(path).record(project, made.result(project.root, outcome=Outcome.NO_FIX))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_several_processes_lose_nothing(tmp_path: Path, project: Project) -> None:
    path = tmp_path / "history.sqlite3"
    program = (
        "import sys; from pathlib import Path; from regreen.history import Store; from regreen.values import *\n"
        "from tests.unit.terminal import made\n"
        "root = Path(sys.argv[2]); store = Store(Path(sys.argv[1]))\n"
        "for number in range(15):\n"
        "    store.record(Project(root, root), made.result(root, outcome=Outcome.NO_FIX, nodeid=sys.argv[3]))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    writers = [
        subprocess.Popen([sys.executable, "-c", program, str(path), str(project.root), name], env=environment)
        for name in ("a", "b", "c")
    ]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    names = [heal.nodeid for heal in Store(path).heals(project, limit=100)]
    assert sorted(names) == ["a"] * 15 + ["b"] * 15 + ["c"] * 15


def migrated(path: Path, steps: Sequence[Sequence[str]] = STEPS) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        migrate(db, steps)


def rows(path: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute(query).fetchall()


@pytest.mark.parametrize("seen", range(len(STEPS) + 1))
def test_a_store_of_every_earlier_version_is_brought_up_to_date(
    tmp_path: Path, project: Project, seen: int
) -> None:
    path = tmp_path / "history.sqlite3"
    migrated(path, STEPS[:seen])
    store = Store(path)
    store.record(project, made.result(project.root, outcome=Outcome.NO_FIX))
    assert len(store.heals(project)) == 1


def test_a_migration_keeps_what_is_there_and_happens_once(tmp_path: Path, project: Project) -> None:
    path = tmp_path / "history.sqlite3"
    Store(path).record(project, made.result(project.root, outcome=Outcome.NO_FIX))
    later: Sequence[Sequence[str]] = (*STEPS, ("ALTER TABLE heals ADD COLUMN note TEXT DEFAULT 'new'",))
    for _ in range(2):
        migrated(path, later)
    assert rows(path, "SELECT outcome, note FROM heals") == [("NO_FIX", "new")]


def test_a_migration_that_fails_leaves_no_half(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    with pytest.raises(sqlite3.OperationalError):
        migrated(path, (("CREATE TABLE a (x)", "nonsense"),))
    assert rows(path, "SELECT count(*) FROM sqlite_master") == [(0,)]


def test_a_newer_store_is_left_alone_and_costs_only_the_history(
    tmp_path: Path, project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "history.sqlite3"
    later = (*STEPS, ("CREATE TABLE future (x)",))
    migrated(path, later)
    with pytest.raises(NewerStore):
        migrated(path)
    before = path.read_bytes()
    store = Store(path)
    store.record(project, made.result(project.root, outcome=Outcome.NO_FIX))
    assert store.accepted(project, "x") == (0, 0)
    assert path.read_bytes() == before
    assert "newer Regreen" in caplog.text


def test_a_damaged_store_costs_only_the_history(
    tmp_path: Path, project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "history.sqlite3"
    path.write_bytes(b"this is no database, whatever its name says" * 100)
    store = Store(path)
    store.record(project, made.result(project.root, outcome=Outcome.NO_FIX))
    assert store.heals(project) == ()
    assert "Cannot record a heal" in caplog.text


def test_the_store_does_not_grow_forever(
    tmp_path: Path, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regreen.history.store.KEPT", 5)
    store = Store(tmp_path / "history.sqlite3")
    fix = made.fix(project.root / "cart.py", "-=", "+=")
    for number in range(8):
        store.record(project, made.result(project.root, fix, nodeid=str(number)))
    store.mark(project, fix, undone=False)
    assert [heal.nodeid for heal in store.heals(project)] == ["7", "6", "5", "4", "3"]
    assert rows(tmp_path / "history.sqlite3", "SELECT count(*) FROM fixes") == [(5,)]


@pytest.mark.parametrize("lock", ["BEGIN", "BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_a_store_that_somebody_uses_while_its_journal_changes_is_waited_for(
    tmp_path: Path, project: Project, lock: str
) -> None:
    path = tmp_path / "history.sqlite3"
    migrated(path)  # without the write-ahead log, as another's first transaction finds it
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute(lock)
        other.execute("SELECT count(*) FROM heals").fetchone()
        leaving = threading.Timer(0.5, other.execute, ["COMMIT"])
        leaving.start()
        Store(path).record(project, made.result(project.root, outcome=Outcome.NO_FIX))
        leaving.join()
    assert len(Store(path).heals(project)) == 1
