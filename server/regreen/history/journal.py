"""What were models asked, in which rounds, at what cost, and what are calls in flight allowed to cost?"""

from __future__ import annotations

import hashlib
import logging
import math
import os
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from regreen.history import encoding
from regreen.history.database import Database, stamp
from regreen.platform.alive import is_alive
from regreen.values import CallRecord, ModelProblem, Project, Round, Spent

log = logging.getLogger(__name__)

NEVER_SENT = frozenset({ModelProblem.MISSING, ModelProblem.REFUSED, ModelProblem.DNS})
"""With these nobody heard the request."""

GRACE_SECONDS = 60.0
"""How long after its deadline a call in flight is still believed to be."""

LOST_DAYS = 7
"""How long it is remembered that a call ended without telling its cost."""

MOST = 2**53
"""Counts of a provider are not believed beyond this."""

Allowed = Callable[[Spent, Spent], str]
"""Given what the heal and the day come to with all calls in flight: "" to let the call go, or why not."""


def record_call(db: Database, project: Project, call: CallRecord, now: datetime) -> None:
    """Keep one call: its cost for good, its texts until the store grows too large."""
    info, reply = call.info, call.reply
    sent = reply.problem not in NEVER_SENT or reply.tries > 1
    number = db.execute(
        "INSERT INTO calls (id, at, project, round, role, purpose, model, provider, address, local, sent,"
        " prompt_tokens, completion_tokens, usd, seconds, tries, problem, degraded, prompt_version, bytes, ranges,"
        " masked, reply_digest) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        (
            plain(call.heal),
            stamp(now),
            path_text(project.root),
            call.round,
            call.role.value,
            plain(call.purpose),
            plain(info.model),
            plain(info.provider),
            plain(info.address),
            int(info.local),
            int(sent),
            _count(reply.prompt_tokens),
            _count(reply.completion_tokens),
            _usd(reply.usd),
            reply.seconds,
            _count(reply.tries),
            reply.problem.value if reply.problem else "",
            int(call.degraded),
            plain(call.prompt_version),
            sum(len(_bytes(message.text)) for message in call.prompt),
            encoding.ranges_text(call.ranges),
            encoding.masked_text(call.masked),
            hashlib.sha256(_bytes(reply.text)).hexdigest(),
        ),
    ).lastrowid
    db.execute(
        "INSERT INTO texts VALUES (?, ?, ?, ?)",
        (number, encoding.prompt_text(call.prompt), plain(reply.text), plain(reply.detail)),
    )


def record_round(db: Database, project: Project, round_: Round, now: datetime) -> None:
    """Keep one round in place of an earlier one of the same heal and number."""
    db.execute(
        "INSERT OR REPLACE INTO rounds (id, number, at, project, model, hint, stop, diagnosis, attempts)"
        " VALUES (?,?,?,?,?,?,?,?,?)",
        (
            plain(round_.heal),
            round_.number,
            stamp(now),
            path_text(project.root),
            plain(round_.model),
            plain(round_.hint),
            plain(round_.stop),
            encoding.diagnosis_text(round_.diagnosis),
            encoding.attempts_text(round_.attempts),
        ),
    )


def rounds(db: Database, heal: str) -> tuple[Round, ...]:
    """The rounds of a heal in order. What is damaged is logged and left out."""
    rows = db.execute(
        "SELECT id, number, diagnosis, attempts, stop, hint, model FROM rounds WHERE id = ? ORDER BY number",
        (plain(heal),),
    ).fetchall()
    return tuple(round_ for row in rows if (round_ := _round(*row)) is not None)


def _round(
    heal: str, number: int, diagnosis: str | None, attempts: str, stop: str, hint: str, model: str
) -> Round | None:
    try:
        found, tried = encoding.diagnosis_of(diagnosis), encoding.attempts_of(attempts)
    except encoding.Damaged as error:
        log.warning("Round %s of run %s is left out, it is damaged: %s.", number, heal, error)
        return None
    return Round(heal, number, found, tried, stop=stop, hint=hint, model=model)


def spent(db: Database, since: datetime | None = None, heal: str = "") -> Spent:
    """What the recorded calls cost since a time, in one heal, or both."""
    start = "" if since is None else stamp(since)
    if heal:
        rows = db.execute(
            "SELECT count(*), total(prompt_tokens + completion_tokens), total(usd), count(*) - count(usd) FROM calls"
            " WHERE id = ? AND at >= ?",
            (plain(heal), start),
        )
    else:
        rows = db.execute(
            "SELECT count(*), total(prompt_tokens + completion_tokens), total(usd), count(*) - count(usd) FROM calls"
            " WHERE at >= ?",
            (start,),
        )
    calls, tokens, usd, unpriced = rows.fetchone()
    return Spent(calls, int(tokens), usd, unpriced)


def held(db: Database, since: datetime, heal: str = "") -> Spent:
    """The worst case of all calls in flight and of those since a time whose cost nobody knows; or those of one heal."""
    if heal:
        rows = db.execute(
            "SELECT total(calls), total(tokens), total(usd) FROM reserved WHERE id = ?", (plain(heal),)
        )
    else:
        rows = db.execute(
            "SELECT total(calls), total(tokens), total(usd) FROM reserved WHERE NOT lost OR at >= ?",
            (stamp(since),),
        )
    calls, tokens, usd = rows.fetchone()
    return Spent(int(calls), int(tokens), usd)


def reserve(
    db: Database, heal: str, worst: Spent, seconds: float, allowed: Allowed, now: datetime
) -> tuple[int, str]:
    """Reserve the worst case of a call, if `allowed` finds that the heal and the day can bear it.

    Runs in a transaction for writers, so no two processes are told the same thing.

    Args:
        db: the store, in such a transaction.
        heal: the heal's id.
        worst: what the call may come to.
        seconds: its deadline.
        allowed: see `Allowed`; both sums hold `worst` already.
        now: the time; the day is that of UTC.

    Returns:
        The reservation's key and "", or 0 and why not.
    """
    tidy(db, now)
    day = midnight(now)
    refusal = allowed(
        total(spent(db, heal=heal), held(db, day, heal), worst), total(spent(db, day), held(db, day), worst)
    )
    if refusal:
        return 0, refusal
    key = db.execute(
        "INSERT INTO reserved (id, at, pid, expires, lost, calls, tokens, usd) VALUES (?, ?, ?, ?, 0, ?, ?, ?)",
        (
            plain(heal),
            stamp(now),
            os.getpid(),
            stamp(now + timedelta(seconds=seconds + GRACE_SECONDS)),
            worst.calls,
            worst.tokens,
            worst.usd,
        ),
    ).lastrowid
    return int(key or 0), ""


def release(db: Database, key: int) -> None:
    """The call is recorded with its cost; its worst case counts no longer."""
    db.execute("DELETE FROM reserved WHERE key = ?", (key,))


def lose(db: Database, key: int, *, recorded: bool) -> None:
    """The call ended, and nobody knows what it cost: its worst case goes on counting.

    Args:
        db: the store.
        key: the reservation's.
        recorded: the call itself is recorded, so only the money is kept.
    """
    db.execute("UPDATE reserved SET lost = 1 WHERE key = ?", (key,))
    if recorded:
        db.execute("UPDATE reserved SET calls = 0, tokens = 0 WHERE key = ?", (key,))


def tidy(db: Database, now: datetime) -> None:
    """Forget calls of processes that ended, those that must have ended, and what was lost long ago."""
    gone = [
        (key,)
        for key, pid, expires in db.execute(
            "SELECT key, pid, expires FROM reserved WHERE NOT lost"
        ).fetchall()
        if expires < stamp(now) or not is_alive(pid)
    ]
    db.executemany("DELETE FROM reserved WHERE key = ?", gone)
    db.execute("DELETE FROM reserved WHERE lost AND at < ?", (stamp(now - timedelta(days=LOST_DAYS)),))


def midnight(now: datetime) -> datetime:
    """When the day of a time in UTC began."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


def total(*parts: Spent) -> Spent:
    """Costs together."""
    return Spent(
        sum(part.calls for part in parts),
        sum(part.tokens for part in parts),
        sum(part.usd for part in parts),
        sum(part.unpriced for part in parts),
    )


def plain(text: str) -> str:
    """The text with lone surrogates, which a database cannot hold, as escapes."""
    return _bytes(text).decode()


def path_text(path: Path) -> str:
    """A path as the store writes it."""
    return plain(str(path))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def _count(value: int) -> int:
    return max(0, min(int(value), MOST))


def _usd(value: float | None) -> float | None:
    """A price that is no price is unknown."""
    return None if value is None or not math.isfinite(value) or value < 0 else value
