"""How are heals kept and asked for, by several processes at once?"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TypeVar

from regreen.history.schema import NewerStore, migrate
from regreen.values import HealResult, Project, VerifiedFix

T = TypeVar("T")

log = logging.getLogger(__name__)

BUSY_SECONDS = 10.0
"""How long a writer waits for another process's transaction."""

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
    """The run store in one SQLite file; implements `ports.History`.

    A connection lives for one call, so that threads and processes need nothing of each other. A store that
    cannot be used (another Regreen's newer one, a full disk, a damaged file) costs the history, never a
    heal: it is logged, and questions are answered as if nothing had happened yet.

    Args:
        path: the database; made when missing, readable by its owner only.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def record(self, project: Project, result: HealResult) -> None:
        """Keep one finished heal."""
        self._do("record a heal", None, lambda db: _record(db, project, result))

    def accepted(self, project: Project, template: str) -> tuple[int, int]:
        """How often fixes of this template were (accepted, undone) in this project.

        The last word on a fix counts: one that was accepted and then taken back is undone, not both.
        """
        return self._do("read the marks", (0, 0), lambda db: _accepted(db, project, template))

    def mark(self, project: Project, fix: VerifiedFix, *, undone: bool) -> None:
        """The user accepted a fix, or took it back; its heal need not have ended yet."""
        self._do("mark a fix", None, lambda db: _mark(db, project, fix, undone=undone))

    def heals(self, project: Project, *, limit: int = 50) -> tuple[HealRecord, ...]:
        """The project's last heals, newest first."""
        return self._do("read the heals", (), lambda db: _heals(db, project, limit))

    def _do(self, purpose: str, otherwise: T, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do the work in one transaction of a migrated database; log what is wrong with the file."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._path.touch(mode=0o600)
            with closing(sqlite3.connect(self._path, timeout=BUSY_SECONDS, isolation_level=None)) as db:
                db.execute("PRAGMA foreign_keys = ON")
                migrate(db)
                db.execute("BEGIN IMMEDIATE")
                answer = work(db)
                db.execute("COMMIT")  # closing without it rolls back
                return answer
        except NewerStore:
            log.warning(
                "Cannot %s: %s was written by a newer Regreen; it is left alone.", purpose, self._path
            )
        except (sqlite3.Error, OSError) as error:
            log.warning("Cannot %s in %s: %s", purpose, self._path, error)
        return otherwise


def _record(db: sqlite3.Connection, project: Project, result: HealResult) -> None:
    failure = result.failure
    heal = db.execute(
        "INSERT INTO heals (at, project, nodeid, exception, outcome, seconds) VALUES (?, ?, ?, ?, ?, ?)",
        (_now(), str(project.root), failure.nodeid, failure.exception, result.outcome.value, result.seconds),
    ).lastrowid
    db.executemany("INSERT INTO tried VALUES (?, ?, ?)", [(heal, *pair) for pair in result.tried.items()])
    for rank, fix in enumerate(result.fixes):
        proof = fix.evidence
        db.execute(
            "INSERT INTO fixes VALUES (?, ?, ?, ?, ?, ?, ?)",
            (heal, rank, fix.fix_id, fix.candidate.template, fix.diff, proof.still_green, proof.runs),
        )
    db.execute("DELETE FROM heals WHERE heal <= (SELECT max(heal) FROM heals) - ?", (KEPT,))


def _accepted(db: sqlite3.Connection, project: Project, template: str) -> tuple[int, int]:
    root = str(project.root)
    rows = db.execute(
        "SELECT undone, count(*) FROM marks WHERE project = ? AND template = ? AND mark IN"
        " (SELECT max(mark) FROM marks WHERE project = ? GROUP BY fix) GROUP BY undone",
        (root, template, root),
    )
    by_undone = dict(rows.fetchall())
    return by_undone.get(0, 0), by_undone.get(1, 0)


def _mark(db: sqlite3.Connection, project: Project, fix: VerifiedFix, *, undone: bool) -> None:
    db.execute(
        "INSERT INTO marks (at, project, fix, template, undone) VALUES (?, ?, ?, ?, ?)",
        (_now(), str(project.root), fix.fix_id, fix.candidate.template, int(undone)),
    )


def _heals(db: sqlite3.Connection, project: Project, limit: int) -> tuple[HealRecord, ...]:
    rows = db.execute(
        "SELECT heal, at, nodeid, outcome, seconds FROM heals WHERE project = ? ORDER BY heal DESC LIMIT ?",
        (str(project.root), limit),
    ).fetchall()
    records = []
    for heal, at, nodeid, outcome, seconds in rows:
        tried = dict(db.execute("SELECT verdict, count FROM tried WHERE heal = ?", (heal,)).fetchall())
        fixes = db.execute("SELECT fix FROM fixes WHERE heal = ? ORDER BY rank", (heal,)).fetchall()
        when = datetime.fromisoformat(at)
        records.append(HealRecord(when, nodeid, outcome, seconds, tried, tuple(fix for (fix,) in fixes)))
    return tuple(records)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")
