"""How is the run store opened, so that several processes can use it at once and nothing is written by halves?"""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timezone
from pathlib import Path

from regreen.history.schema import migrate

BUSY_SECONDS = 10.0
"""How long a writer waits for another process's transaction."""

Database = sqlite3.Connection


@contextmanager
def transaction(path: Path, *, writing: bool = True) -> Iterator[Database]:
    """Open the store, bring it up to date, and do the block in one transaction; an exception undoes all of it.

    A connection lives for one transaction, so that threads and processes need nothing of each other. What is deleted
    is overwritten: prompts hold the user's code.

    Args:
        path: the database; made when missing, readable by its owner only.
        writing: take the lock for writers at the start; readers wait for nobody.

    Raises:
        NewerStore: the database was written by a later Regreen.
        sqlite3.Error: it is damaged, or others held it for too long.
        OSError: its folder or file cannot be made.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    with closing(_begun(path, writing=writing)) as db:
        yield db
        db.execute("COMMIT")  # closing without it rolls back


def _begun(path: Path, *, writing: bool) -> Database:
    """A connection whose transaction has begun.

    SQLite's own waiting does not cover all of it: while one connection turns the journal of a new store into a
    write-ahead log, or the last one removes that log, others are told at once that the database is locked
    (sqlite.org/wal.html, "Sometimes queries return SQLITE_BUSY in WAL mode"). So the whole of it is tried again.
    """
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            db.execute("PRAGMA foreign_keys = ON")
            db.execute("PRAGMA secure_delete = ON")
            migrate(db)
            if db.execute("PRAGMA journal_mode").fetchone() != ("wal",):
                db.execute("PRAGMA journal_mode = WAL")
            db.execute("BEGIN IMMEDIATE" if writing else "BEGIN")
            if not writing:
                db.execute(
                    "SELECT 1 FROM sqlite_schema LIMIT 1"
                ).fetchone()  # the snapshot is taken by reading
        except BaseException as error:
            db.close()
            if not _busy(error) or time.monotonic() > deadline:
                raise
            time.sleep(random.uniform(0.001, 0.02))  # noqa: S311 - apart from each other, not secret
        else:
            return db


def _busy(error: BaseException) -> bool:
    """Whether others held the database; by the message, as Python 3.10 does not tell SQLite's code."""
    return isinstance(error, sqlite3.OperationalError) and "locked" in str(error)


def utc() -> datetime:
    """Now."""
    return datetime.now(timezone.utc)


def stamp(at: datetime) -> str:
    """A time as the store writes it: UTC, ISO 8601, to the millisecond; texts sort as their times do."""
    return at.astimezone(timezone.utc).isoformat(timespec="milliseconds")
