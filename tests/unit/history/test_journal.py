"""Does the run store keep all that was said to models, count what it cost, and read back what was written?"""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.history import asked
from tests.unit.history.asked import LOCAL, Watch
from tests.unit.terminal import made

from regreen.history import Store, encoding
from regreen.history.database import transaction
from regreen.history.schema import STEPS, migrate
from regreen.ports import History, Journal
from regreen.values import (
    Attempt,
    Diagnosis,
    Message,
    ModelProblem,
    Outcome,
    Project,
    SentRange,
    Spent,
)


def rows(path: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute(query).fetchall()


def test_the_store_is_both_ports(store: Store) -> None:
    history: History = store
    journal: Journal = store
    assert [history, journal] == [store, store]


def test_a_call_is_kept_whole_before_its_heal_ended(store: Store, project: Project, path: Path) -> None:
    call = asked.call()
    store.record_call(project, call)
    ((prompt, reply),) = rows(path, "SELECT prompt, reply FROM texts")
    assert (encoding.prompt_of(str(prompt)), reply) == (call.prompt, call.reply.text)
    assert rows(path, "SELECT id, role, purpose, model, prompt_tokens, bytes, prompt_version FROM calls") == [
        (call.heal, "repairer", "minimal", "anthropic/some", 120, 38, "repairer/3")
    ]
    assert store.spent(heal=call.heal) == Spent(1, 150, 0.01, 0)


def test_rounds_come_back_in_order_and_the_last_writing_of_one_counts(store: Store, project: Project) -> None:
    second, first = asked.round_(number=2, stop="stuck", diagnosis=None), asked.round_(attempts=())
    for one in (second, asked.round_(hint="none"), first, asked.round_("b" * 32)):
        store.record_round(project, one)
    assert store.rounds("a" * 32) == (first, second)
    assert store.rounds("c") == ()


def test_costs_are_counted_by_time_and_by_heal(path: Path, project: Project) -> None:
    watch = Watch()
    store = Store(path, now=watch)
    store.record_call(project, asked.call("a"))
    watch.go(days=1)
    other = Project(project.root / "other", project.root)
    store.record_call(other, asked.call("a", usd=0.5))
    store.record_call(other, asked.call("b", usd=None))
    assert store.spent() == Spent(3, 450, 0.51, 1)
    assert store.spent(since=watch.now) == Spent(2, 300, 0.5, 1)
    assert store.spent(heal="a") == Spent(2, 300, 0.51, 0)
    assert store.spent(since=watch.now, heal="a") == Spent(1, 150, 0.5, 0)
    assert store.spent(since=watch.now + timedelta(seconds=1)) == Spent()


@pytest.mark.parametrize("usd", [-1.0, float("nan"), float("inf")])
def test_a_price_that_is_none_is_unknown(store: Store, project: Project, usd: float) -> None:
    store.record_call(project, asked.call(usd=usd))
    assert store.spent() == Spent(1, 150, 0, 1)


def test_only_what_left_this_machine_is_egress(store: Store, project: Project, path: Path) -> None:
    store.record_call(project, asked.call("left"))
    store.record_call(project, asked.call("local", info=LOCAL))
    store.record_call(project, asked.call("nobody-there", problem=ModelProblem.REFUSED))
    store.record_call(project, asked.call("then-nobody", problem=ModelProblem.REFUSED, tries=2))
    store.record_call(project, asked.call("cut", problem=ModelProblem.TIMEOUT))
    assert rows(path, "SELECT id FROM egress ORDER BY call") == [("left",), ("then-nobody",), ("cut",)]


def test_heals_have_ids_given_or_made(store: Store, project: Project, path: Path) -> None:
    from dataclasses import replace

    result = made.result(project.root, outcome=Outcome.NO_FIX)
    store.record(project, replace(result, heal="c" * 32))
    store.record(project, result)
    (given_,), (own,) = rows(path, "SELECT id FROM heals ORDER BY heal")
    assert given_ == "c" * 32
    assert len(str(own)) == 32


def test_a_store_of_the_first_version_keeps_what_it_holds(path: Path, project: Project) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        migrate(db, STEPS[:1])
        for number in (1, 2):
            db.execute(
                "INSERT INTO heals VALUES (?, '2026-01-02T03:04:05.678+00:00', ?, 'test_a.py::test_a', 'TypeError',"
                " 'VERIFIED', 2.5)",
                (number, str(project.root)),
            )
            db.execute("INSERT INTO tried VALUES (?, 'PLAUSIBLE', 1)", (number,))
            db.execute("INSERT INTO fixes VALUES (?, 0, 'f', 'calls.drop', '-a', 3, 3)", (number,))
        db.execute(
            "INSERT INTO marks VALUES (1, '2026-01-02T03:04:05.678+00:00', ?, 'f', 'calls.drop', 0)",
            (str(project.root),),
        )
    store = Store(path)
    store.record_call(project, asked.call())
    newest, _ = store.heals(project)
    assert (newest.nodeid, newest.seconds, newest.tried, newest.fixes) == (
        "test_a.py::test_a",
        2.5,
        {"PLAUSIBLE": 1},
        ("f",),
    )
    assert store.accepted(project, "calls.drop") == (1, 0)
    assert rows(path, "SELECT DISTINCT origin FROM fixes UNION SELECT origin FROM marks") == [("template",)]
    one, other = rows(path, "SELECT id FROM heals")
    assert one != other
    assert all(len(str(id_)) == 32 for (id_,) in (one, other))


def test_readers_and_a_writer_do_not_wait_for_each_other(store: Store, project: Project, path: Path) -> None:
    store.record_call(project, asked.call())
    with transaction(path, writing=False) as reader:
        count = "SELECT count(*) FROM calls"
        assert reader.execute(count).fetchone() == (1,)
        store.record_call(project, asked.call())
        assert reader.execute(count).fetchone() == (1,)
        assert store.spent().calls == 2
        assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}


def test_what_is_deleted_is_not_left_in_the_file(store: Store, project: Project, path: Path) -> None:
    store.record_call(project, asked.call(text="a secret of the trade " * 50))
    assert b"secret of the trade" in path.read_bytes()
    with transaction(path) as db:
        db.execute("DELETE FROM texts")
    assert b"secret of the trade" not in path.read_bytes()


@pytest.mark.parametrize(
    "damage",
    [
        "attempts = '['",
        "attempts = '{}'",
        "attempts = '[1]'",
        "attempts = '[{\"strategy\": 1}]'",
        "attempts = json_set(attempts, '$[1].degraded', 1)",
        "diagnosis = json_set(diagnosis, '$.line', json('true'))",
        "diagnosis = '{}'",
        "diagnosis = '[]'",
    ],
)
def test_a_damaged_round_is_left_out_and_named(
    store: Store, project: Project, path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    store.record_round(project, asked.round_(number=1))
    store.record_round(project, asked.round_(number=2))
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"UPDATE rounds SET {damage} WHERE number = 1")
    assert [one.number for one in store.rounds("a" * 32)] == [2]
    assert "Round 1 of run aaaa" in caplog.text


def test_what_a_later_regreen_adds_to_a_round_is_left_out(store: Store, project: Project, path: Path) -> None:
    store.record_round(project, asked.round_())
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE rounds SET diagnosis = json_set(diagnosis, '$.mood', 'sure')")
    assert store.rounds("a" * 32) == (asked.round_(),)


texts = st.text(st.characters(), max_size=40)
"""Lone surrogates included: replies are JSON, which can spell them."""

attempts = st.builds(Attempt, texts, texts, texts, texts, texts, texts, st.booleans())
diagnoses = st.builds(
    Diagnosis, texts, texts, st.integers(0, 10**6), texts, texts, texts, texts, st.floats(0, 1), st.booleans()
)


@given(st.lists(attempts, max_size=3), st.none() | diagnoses)
def test_a_round_reads_as_it_was_written(tried: list[Attempt], diagnosis: Diagnosis | None) -> None:
    assert encoding.attempts_of(encoding.attempts_text(tried)) == tuple(tried)
    assert encoding.diagnosis_of(encoding.diagnosis_text(diagnosis)) == diagnosis


@given(
    st.lists(st.builds(Message, texts, texts), max_size=3),
    st.lists(st.builds(SentRange, texts, st.integers(0), st.integers(0)), max_size=3),
    st.dictionaries(texts, st.integers(0), max_size=3),
)
def test_a_call_reads_as_it_was_written(
    prompt: list[Message], ranges: list[SentRange], masked: dict[str, int]
) -> None:
    assert encoding.prompt_of(encoding.prompt_text(prompt)) == tuple(prompt)
    assert encoding.ranges_of(encoding.ranges_text(ranges)) == tuple(ranges)
    assert encoding.masked_of(encoding.masked_text(masked)) == masked


def test_texts_that_utf8_does_not_have_are_kept_as_escapes(
    store: Store, project: Project, path: Path
) -> None:
    store.record_call(project, asked.call(text="\ud800", answer="a\udfff"))
    store.record_round(project, asked.round_(hint="\ud801"))
    assert rows(path, "SELECT reply FROM texts") == [("a\\udfff",)]
    assert store.rounds("a" * 32)[0].hint == "\\ud801"


def test_the_first_processes_of_a_new_store_wait_for_each_other(path: Path, project: Project) -> None:
    import subprocess
    import sys

    program = (
        "import sys; from pathlib import Path; from regreen.history import Store; from regreen.values import *\n"
        "from tests.unit.history import asked\n"
        "sys.stdin.readline()\n"
        "Store(Path(sys.argv[1])).record_call(Project(Path('/x'), Path('/x')), asked.call())\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    started = [
        subprocess.Popen([sys.executable, "-c", program, str(path)], env=environment, stdin=subprocess.PIPE)
        for _ in range(6)
    ]
    for one in started:
        assert one.stdin is not None
        one.stdin.write(b"\n")
        one.stdin.close()
    assert [one.wait() for one in started] == [0] * 6
    assert Store(path).spent().calls == 6
