"""What shape does the run store have, and how does an older one become that shape?

`user_version` of the database counts the steps below that were taken. A step, once released, is never edited.
No source text is kept but the diffs of fixes that were offered.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

STEPS: Sequence[Sequence[str]] = (
    (
        """CREATE TABLE heals (
            heal INTEGER PRIMARY KEY,
            at TEXT NOT NULL,           -- UTC, ISO 8601
            project TEXT NOT NULL,      -- the project's folder
            nodeid TEXT NOT NULL,
            exception TEXT NOT NULL,    -- the type's name only
            outcome TEXT NOT NULL,
            seconds REAL NOT NULL
        )""",
        "CREATE INDEX heals_by_project ON heals (project, heal)",
        """CREATE TABLE tried (            -- how many candidates ended with which verdict
            heal INTEGER NOT NULL REFERENCES heals ON DELETE CASCADE,
            verdict TEXT NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (heal, verdict)
        )""",
        """CREATE TABLE fixes (            -- what was offered
            heal INTEGER NOT NULL REFERENCES heals ON DELETE CASCADE,
            rank INTEGER NOT NULL,      -- 0 is the best
            fix TEXT NOT NULL,          -- VerifiedFix.fix_id
            template TEXT NOT NULL,
            diff TEXT NOT NULL,
            still_green INTEGER NOT NULL,
            runs INTEGER NOT NULL,
            PRIMARY KEY (heal, rank)
        )""",
        "CREATE INDEX fixes_by_id ON fixes (fix)",
        """CREATE TABLE marks (            -- what the user did with a fix, the newest counts
            mark INTEGER PRIMARY KEY,
            at TEXT NOT NULL,
            project TEXT NOT NULL,
            fix TEXT NOT NULL,
            template TEXT NOT NULL,     -- kept here too: marks outlive the heals they are about
            undone INTEGER NOT NULL
        )""",
        "CREATE INDEX marks_by_template ON marks (project, template)",
    ),
)


class NewerStore(Exception):
    """The database was written by a later Regreen."""


def migrate(connection: sqlite3.Connection, steps: Sequence[Sequence[str]] = STEPS) -> None:
    """Take the steps that the database has not seen yet, each in one transaction with its number.

    Raises:
        NewerStore: it has seen more steps than there are; it is left as it is.
    """
    if (seen := _version(connection)) == len(steps):
        return
    if seen > len(steps):
        raise NewerStore
    connection.execute("BEGIN IMMEDIATE")  # one process migrates, the others wait and then find it done
    try:
        for number in range(_version(connection), len(steps)):
            for statement in steps[number]:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number + 1}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
