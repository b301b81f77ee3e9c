"""Which lessons of earlier heals are kept, and which of them are near to a failure?

A lesson counts once a fix of its heal is accepted, and no longer once that fix is undone. A project has few, so the
index for the full-text search (FTS5, ranked by bm25) is made in memory for each search: nothing of a deleted lesson
stays in an index, and a store can be shared by a SQLite that has FTS5 and one that has not. The latter counts equal
words instead, which finds the same lessons in a worse order.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime

from regreen.history.database import Database, stamp
from regreen.history.journal import path_text, plain
from regreen.values import Lesson, Project

KEPT_LESSONS = 1000
"""Lessons kept in each project; the oldest go first."""

MOST_WORDS = 200
"""Words of a question that are searched for; the first ones, which are those of the signature."""

Row = tuple[int, str, str, str]


def keep(db: Database, project: Project, heal: str, lessons: Sequence[Lesson], now: datetime) -> None:
    """Keep what a heal taught."""
    root = path_text(project.root)
    db.executemany(
        "INSERT INTO lessons (at, project, id, text, signature, code, accepted) VALUES (?, ?, ?, ?, ?, ?, 0)",
        [
            (stamp(now), root, plain(heal), plain(one.text), plain(one.signature), plain(one.code))
            for one in lessons
        ],
    )
    db.execute(
        "DELETE FROM lessons WHERE project = ? AND lesson NOT IN"
        " (SELECT lesson FROM lessons WHERE project = ? ORDER BY lesson DESC LIMIT ?)",
        (root, root, KEPT_LESSONS),
    )
    reconsider(db, heal)


def reconsider(db: Database, heal: str) -> None:
    """Let the lessons of a heal count if the last word on one of its fixes is that it was accepted."""
    db.execute(
        "UPDATE lessons SET accepted = EXISTS ("
        " SELECT 1 FROM heals JOIN fixes ON fixes.heal = heals.heal WHERE heals.id = lessons.id AND 0 = ("
        "  SELECT undone FROM marks WHERE marks.fix = fixes.fix AND marks.project = heals.project"
        "  ORDER BY mark DESC LIMIT 1)"
        ") WHERE id = ? AND EXISTS (SELECT 1 FROM heals WHERE heals.id = lessons.id)",
        (plain(heal),),
    )


def reconsider_fix(db: Database, project: Project, fix: str) -> None:
    """The same for each heal that offered this fix."""
    for (heal,) in db.execute(
        "SELECT DISTINCT heals.id FROM fixes JOIN heals ON fixes.heal = heals.heal WHERE fixes.fix = ? AND project = ?",
        (fix, path_text(project.root)),
    ).fetchall():
        reconsider(db, heal)


def near(db: Database, project: Project, signature: str, code: str, limit: int) -> tuple[Lesson, ...]:
    """The lessons that count and share a word with a failure or its code: those of an equal signature first."""
    rows: list[Row] = db.execute(
        "SELECT lesson, text, signature, code FROM lessons WHERE project = ? AND accepted ORDER BY lesson DESC",
        (path_text(project.root),),
    ).fetchall()
    asked = words(f"{signature} {code}")
    if not rows or not asked:
        return ()
    ranks = by_full_text(rows, asked) if has_full_text() else by_equal_words(rows, asked)
    found = sorted(
        (row for row in rows if row[0] in ranks),
        key=lambda row: (row[2] != plain(signature), ranks[row[0]], -row[0]),
    )
    return tuple(Lesson(text, about, of, key) for key, text, about, of in found[:limit])


def words(text: str) -> tuple[str, ...]:
    """The different words of a text, in small letters and in order, at most `MOST_WORDS`."""
    return tuple(dict.fromkeys(re.findall(r"[^\W_]+", plain(text).lower())))[:MOST_WORDS]


def has_full_text() -> bool:
    """Whether this SQLite can search texts."""
    with closing(sqlite3.connect(":memory:")) as db:
        try:
            db.execute("CREATE VIRTUAL TABLE found USING fts5(text)")
        except sqlite3.OperationalError:
            return False
    return True


def by_full_text(rows: Sequence[Row], asked: Sequence[str]) -> dict[int, float]:
    """The lessons that hold a word → their rank, the best the smallest. A word of a signature weighs more.

    Args:
        rows: the lessons.
        asked: the words; quoted, so that none is an operator of the search's language.
    """
    query = " OR ".join('"' + word.replace('"', '""') + '"' for word in asked)
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE VIRTUAL TABLE found USING fts5(text, signature, code)")
        db.executemany("INSERT INTO found (rowid, text, signature, code) VALUES (?, ?, ?, ?)", rows)
        return dict(
            db.execute(
                "SELECT rowid, bm25(found, 1.0, 3.0, 1.0) FROM found WHERE found MATCH ?", (query,)
            ).fetchall()
        )


def by_equal_words(rows: Sequence[Row], asked: Sequence[str]) -> dict[int, float]:
    """The same by how many words are equal."""
    wanted = set(asked)
    counted = {row[0]: -len(wanted.intersection(words(" ".join(row[1:])))) for row in rows}
    return {key: float(rank) for key, rank in counted.items() if rank}
