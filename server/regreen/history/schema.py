"""What shape does the run store have, and how does an older one become that shape?

`user_version` of the database counts the steps below that were taken. A step, once released, is never edited.
Of heals that asked no model, no source text is kept but the diffs of fixes that were offered. Of those that did, all
that was sent and came back is kept until the store grows too large (see `pruning`).
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
    (
        "ALTER TABLE heals ADD COLUMN id TEXT NOT NULL DEFAULT ''",  # HealResult.heal
        "UPDATE heals SET id = lower(hex(randomblob(16)))",
        "CREATE INDEX heals_by_id ON heals (id)",
        "ALTER TABLE fixes ADD COLUMN origin TEXT NOT NULL DEFAULT 'template'",
        "ALTER TABLE marks ADD COLUMN origin TEXT NOT NULL DEFAULT 'template'",
        """CREATE TABLE rounds (           -- of heals by a model, whose own row may come later
            id TEXT NOT NULL,           -- of the heal
            number INTEGER NOT NULL,
            at TEXT NOT NULL,
            project TEXT NOT NULL,
            model TEXT NOT NULL,
            hint TEXT NOT NULL,
            stop TEXT NOT NULL,
            diagnosis TEXT,             -- JSON object
            attempts TEXT NOT NULL,     -- JSON array
            PRIMARY KEY (id, number)
        )""",
        """CREATE TABLE calls (            -- what budgets count; what was said is in `texts`
            call INTEGER PRIMARY KEY,
            id TEXT NOT NULL,           -- of the heal
            at TEXT NOT NULL,
            project TEXT NOT NULL,
            round INTEGER NOT NULL,
            role TEXT NOT NULL,
            purpose TEXT NOT NULL,
            model TEXT NOT NULL,
            provider TEXT NOT NULL,
            address TEXT NOT NULL,
            local INTEGER NOT NULL,
            sent INTEGER NOT NULL,      -- 0: the request never reached anybody
            prompt_tokens INTEGER NOT NULL,
            completion_tokens INTEGER NOT NULL,
            usd REAL,                   -- an estimate; NULL when no price is known
            seconds REAL NOT NULL,
            tries INTEGER NOT NULL,
            problem TEXT NOT NULL,      -- '' when the reply is whole
            degraded INTEGER NOT NULL,
            prompt_version TEXT NOT NULL,
            bytes INTEGER NOT NULL,     -- of all messages, in UTF-8
            ranges TEXT NOT NULL,       -- JSON array of [path, first line, end]
            masked TEXT NOT NULL,       -- JSON object: sort of secret -> how often
            reply_digest TEXT NOT NULL  -- SHA-256
        )""",
        "CREATE INDEX calls_by_heal ON calls (id)",
        "CREATE INDEX calls_by_time ON calls (at)",
        """CREATE TABLE texts (
            call INTEGER PRIMARY KEY REFERENCES calls ON DELETE CASCADE,
            prompt TEXT NOT NULL,       -- JSON array of [role, text]
            reply TEXT NOT NULL,
            detail TEXT NOT NULL
        )""",
        # What left this machine.
        "CREATE VIEW egress AS SELECT * FROM calls WHERE sent AND NOT local",
        """CREATE TABLE reserved (         -- the worst case of each call in flight
            key INTEGER PRIMARY KEY,
            id TEXT NOT NULL,           -- of the heal
            at TEXT NOT NULL,
            pid INTEGER NOT NULL,
            expires TEXT NOT NULL,
            lost INTEGER NOT NULL,      -- 1: it ended, and nobody knows what it cost
            calls INTEGER NOT NULL,
            tokens INTEGER NOT NULL,
            usd REAL NOT NULL
        )""",
        """CREATE TABLE lessons (
            lesson INTEGER PRIMARY KEY,
            at TEXT NOT NULL,
            project TEXT NOT NULL,
            id TEXT NOT NULL,           -- of the heal
            text TEXT NOT NULL,
            signature TEXT NOT NULL,
            code TEXT NOT NULL,
            accepted INTEGER NOT NULL   -- a fix of the heal is
        )""",
        "CREATE INDEX lessons_by_project ON lessons (project, accepted)",
        "CREATE INDEX lessons_by_heal ON lessons (id)",
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
