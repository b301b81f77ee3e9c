"""How are heals, what models were asked in them, and what the user thought of them kept?"""

from __future__ import annotations

import logging
import sqlite3
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from regreen.history import journal
from regreen.history.database import Database, stamp, transaction, utc
from regreen.history.journal import path_text, plain
from regreen.history.lessons import keep, near, reconsider, reconsider_fix
from regreen.history.pruning import LIMIT_BYTES, drop_old_heals, keep_small
from regreen.history.schema import NewerStore
from regreen.values import CallRecord, HealResult, Lesson, Project, Round, Spent, VerifiedFix

T = TypeVar("T")

log = logging.getLogger(__name__)

KEPT = 10_000
"""Heals that are kept, over all projects; the oldest go first."""


@dataclass(frozen=True, slots=True)
class HealRecord:
    """One earlier heal. `at` is UTC; `tried`: verdict name → how many candidates ended so."""

    at: datetime
    nodeid: str
    outcome: str
    seconds: float
    tried: Mapping[str, int]
    fixes: tuple[str, ...]


class Store:
    """The run store in one SQLite file; implements `ports.History` and `ports.Journal`.

    Every method blocks, for one transaction. A store that cannot be used (another Regreen's newer one, a full disk, a
    damaged file) costs the history, never a heal: it is logged, and questions are answered as if nothing had happened
    yet. Only `reserve` refuses then: money that cannot be counted is not spent.

    Args:
        path: the database; made when missing, readable by its owner only.
        limit: how large it may grow, in bytes.
        now: the time, in UTC.
    """

    def __init__(self, path: Path, *, limit: int = LIMIT_BYTES, now: Callable[[], datetime] = utc) -> None:
        self._path = path
        self._limit = limit
        self._now = now

    def record(self, project: Project, result: HealResult) -> None:
        """Keep one finished heal."""
        self._write("record a heal", lambda db: _record(db, project, result, self._now()))

    def accepted(self, project: Project, template: str) -> tuple[int, int]:
        """How often fixes of this template were (accepted, undone) in this project.

        The last word on a fix counts: one that was accepted and then taken back is undone, not both.
        """
        return self._do("read the marks", (0, 0), lambda db: _accepted(db, project, template))

    def mark(self, project: Project, fix: VerifiedFix, *, undone: bool) -> None:
        """The user accepted a fix, or took it back; its heal need not have ended yet."""
        self._write("mark a fix", lambda db: _mark(db, project, fix, self._now(), undone=undone))

    def heals(self, project: Project, *, limit: int = 50) -> tuple[HealRecord, ...]:
        """The project's last heals, newest first."""
        return self._do("read the heals", (), lambda db: _heals(db, project, limit))

    def record_call(self, project: Project, call: CallRecord) -> None:
        """Keep one call, with all that was sent and all that came back; its heal need not have ended."""
        self._write("record a call", lambda db: journal.record_call(db, project, call, self._now()))

    def record_round(self, project: Project, round_: Round) -> None:
        """Keep one round; one of the same heal and number is replaced."""
        self._write("record a round", lambda db: journal.record_round(db, project, round_, self._now()))

    def spent(self, *, since: datetime | None = None, heal: str = "") -> Spent:
        """What recorded calls cost in all projects since a time, in one heal, or both."""
        return self._do("read the costs", Spent(), lambda db: journal.spent(db, since, heal))

    def rounds(self, heal: str) -> Sequence[Round]:
        """The rounds of a heal, in order."""
        return self._do("read the rounds", (), lambda db: journal.rounds(db, heal))

    def keep_lessons(self, project: Project, heal: str, lessons: Sequence[Lesson]) -> None:
        """Keep what a heal taught; see `lessons`."""
        self._write("keep lessons", lambda db: keep(db, project, heal, lessons, self._now()))

    def lessons(self, project: Project, signature: str, code: str, *, limit: int = 5) -> Sequence[Lesson]:
        """Lessons that led to accepted fixes of this project, those nearest to a failure and its code first."""
        return self._do("search lessons", (), lambda db: near(db, project, signature, code, limit))

    def reserve(self, heal: str, worst: Spent, seconds: float, allowed: journal.Allowed) -> tuple[int, str]:
        """Reserve the worst case of one call before it is made, or say why not; see `journal.reserve`."""
        refusal = (
            f"The budget cannot be checked, because {self._path} cannot be used; `regreen cost` says why."
        )
        return self._do(
            "reserve a call's cost",
            (0, refusal),
            lambda db: journal.reserve(db, heal, worst, seconds, allowed, self._now()),
            writing=True,
        )

    def release(self, key: int) -> None:
        """A reserved call is recorded with its cost."""
        self._write("settle a call's cost", lambda db: journal.release(db, key))

    def lose(self, key: int, *, recorded: bool) -> None:
        """A reserved call ended without telling its cost: its worst case goes on counting."""
        self._write("settle a call's cost", lambda db: journal.lose(db, key, recorded=recorded))

    def _write(self, purpose: str, work: Callable[[Database], None]) -> None:
        def all_of_it(db: Database) -> None:
            work(db)
            keep_small(db, self._limit, self._now())

        self._do(purpose, None, all_of_it, writing=True)

    def _do(self, purpose: str, otherwise: T, work: Callable[[Database], T], *, writing: bool = False) -> T:
        """Do the work in one transaction; log what is wrong with the file."""
        try:
            with transaction(self._path, writing=writing) as db:
                return work(db)
        except NewerStore:
            log.warning(
                "Cannot %s: %s was written by a newer Regreen; it is left alone.", purpose, self._path
            )
        except (sqlite3.Error, OSError) as error:
            log.warning("Cannot %s in %s: %s", purpose, self._path, error)
        return otherwise


def _record(db: Database, project: Project, result: HealResult, now: datetime) -> None:
    failure, name = result.failure, plain(result.heal) or uuid.uuid4().hex
    heal = db.execute(
        "INSERT INTO heals (id, at, project, nodeid, exception, outcome, seconds) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            name,
            stamp(now),
            path_text(project.root),
            plain(failure.nodeid),
            plain(failure.exception),
            result.outcome.value,
            result.seconds,
        ),
    ).lastrowid
    db.executemany("INSERT INTO tried VALUES (?, ?, ?)", [(heal, *pair) for pair in result.tried.items()])
    for rank, fix in enumerate(result.fixes):
        proof, candidate = fix.evidence, fix.candidate
        db.execute(
            "INSERT INTO fixes (heal, rank, fix, template, diff, still_green, runs, origin)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                heal,
                rank,
                plain(fix.fix_id),
                candidate.template,
                plain(fix.diff),
                proof.still_green,
                proof.runs,
                candidate.origin,
            ),
        )
    drop_old_heals(db, KEPT)
    reconsider(db, name)


def _accepted(db: Database, project: Project, template: str) -> tuple[int, int]:
    root = path_text(project.root)
    rows = db.execute(
        "SELECT undone, count(*) FROM marks WHERE project = ? AND template = ? AND mark IN"
        " (SELECT max(mark) FROM marks WHERE project = ? GROUP BY fix) GROUP BY undone",
        (root, template, root),
    )
    by_undone = dict(rows.fetchall())
    return by_undone.get(0, 0), by_undone.get(1, 0)


def _mark(db: Database, project: Project, fix: VerifiedFix, now: datetime, *, undone: bool) -> None:
    name, candidate = plain(fix.fix_id), fix.candidate
    db.execute(
        "INSERT INTO marks (at, project, fix, template, undone, origin) VALUES (?, ?, ?, ?, ?, ?)",
        (stamp(now), path_text(project.root), name, candidate.template, int(undone), candidate.origin),
    )
    reconsider_fix(db, project, name)


def _heals(db: Database, project: Project, limit: int) -> tuple[HealRecord, ...]:
    rows = db.execute(
        "SELECT heal, at, nodeid, outcome, seconds FROM heals WHERE project = ? ORDER BY heal DESC LIMIT ?",
        (path_text(project.root), limit),
    ).fetchall()
    records = []
    for heal, at, nodeid, outcome, seconds in rows:
        tried = dict(db.execute("SELECT verdict, count FROM tried WHERE heal = ?", (heal,)).fetchall())
        fixes = db.execute("SELECT fix FROM fixes WHERE heal = ? ORDER BY rank", (heal,)).fetchall()
        when = datetime.fromisoformat(at)
        records.append(HealRecord(when, nodeid, outcome, seconds, tried, tuple(fix for (fix,) in fixes)))
    return tuple(records)
