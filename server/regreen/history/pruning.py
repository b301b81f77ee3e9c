"""What goes when the run store grows too large?

First what was said, oldest first: the bulk of it, and the most private. Then old heals and their rounds, then costs of
days past. What today's budget counts, marks and lessons stay; consents are not in the store.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from regreen.history.database import Database, stamp
from regreen.history.journal import midnight

LIMIT_BYTES = 200_000_000

ROOM = 0.1
"""The part of the limit that is made free at once, so that not every call has to."""


def keep_small(db: Database, limit: int, now: datetime) -> None:
    """Bring what the store holds below its limit, by as little as that takes and some room.

    Args:
        db: the store, in a transaction for writers. The file itself does not shrink; what is freed is used again.
        limit: in bytes.
        now: the time.
    """
    if used(db) <= limit:
        return
    goal = int(limit * (1 - ROOM))
    while used(db) > goal and _empty_texts(db, used(db) - goal):
        pass
    while used(db) > goal and _drop_heals(db):
        pass
    # A heal that began yesterday may still be running, so its calls count, too.
    before = stamp(midnight(now) - timedelta(days=1))
    while used(db) > goal and _drop_calls(db, before):
        pass


def drop_old_heals(db: Database, kept: int) -> None:
    """Keep only the last heals, and the last rounds of heals that never ended."""
    (last,) = db.execute("SELECT max(heal) FROM heals").fetchone()
    _drop(db, (last or 0) - kept)
    db.execute(
        "DELETE FROM rounds WHERE id NOT IN (SELECT id FROM heals)"
        " AND rowid <= (SELECT max(rowid) FROM rounds) - ?",
        (kept,),
    )


def used(db: Database) -> int:
    """The bytes of the pages that hold something."""
    values = [
        db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    ]
    return int((values[0] - values[1]) * values[2])


def _empty_texts(db: Database, excess: int) -> bool:
    """Forget the oldest prompts and replies of at least so many bytes; False when there are none left."""
    freed, last = 0, None
    for call, length in db.execute(
        "SELECT call, length(CAST(prompt AS BLOB)) + length(CAST(reply AS BLOB)) FROM texts ORDER BY call"
    ):
        freed, last = freed + length, call
        if freed >= excess:
            break
    if last is None:
        return False
    db.execute("DELETE FROM texts WHERE call <= ?", (last,))
    return True


def _drop_heals(db: Database) -> bool:
    """Forget the oldest tenth of all heals, then rounds of heals that never ended."""
    ids = [heal for (heal,) in db.execute("SELECT heal FROM heals ORDER BY heal")]
    if ids:
        _drop(db, ids[len(ids) // 10])
        return True
    return db.execute("DELETE FROM rounds").rowcount > 0


def _drop(db: Database, last: int) -> None:
    """Forget the heals up to a number, with all that was said in them, but not what it cost."""
    old = "SELECT id FROM heals WHERE heal <= ?"
    db.execute(f"DELETE FROM rounds WHERE id IN ({old})", (last,))  # noqa: S608 — fixed
    db.execute(
        f"DELETE FROM texts WHERE call IN (SELECT call FROM calls WHERE id IN ({old}))",  # noqa: S608 — fixed
        (last,),
    )
    db.execute("DELETE FROM heals WHERE heal <= ?", (last,))


def _drop_calls(db: Database, before: str) -> bool:
    old = [call for (call,) in db.execute("SELECT call FROM calls WHERE at < ? ORDER BY call", (before,))]
    if old:
        db.execute("DELETE FROM calls WHERE call <= ? AND at < ?", (old[len(old) // 10], before))
    return bool(old)
