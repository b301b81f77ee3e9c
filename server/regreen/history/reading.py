"""What is in the run store, for those who want to see it, and how do they delete of it?

Where heals go on when the store cannot be used (see `Store`), here its user asked for it, and is told why not.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from regreen.errors import EnvironmentProblem, UsageError
from regreen.history import encoding, journal
from regreen.history.database import Database, stamp, transaction
from regreen.history.journal import plain
from regreen.history.schema import NewerStore
from regreen.history.shown import Asked, Cost, KeptLesson, Offered, Run, Said, Stats, WholeRun
from regreen.history.statistics import stats
from regreen.values import Spent

T = TypeVar("T")

SHORTEST = 4
"""Characters that are enough of an id."""

_COLUMNS = ", ".join("id" if field.name == "heal" else field.name for field in fields(Asked))


class Archive:
    """The run store as the commands see it. Every method blocks and raises EnvironmentProblem when it cannot be read.

    Args:
        path: the database; where there is none nothing has happened yet, and none is made.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def runs(self, folder: Path | None, *, limit: int) -> tuple[Run, ...]:
        """The last heals, newest first: all, or those of projects in `folder` or that hold it."""
        return self._do((), lambda db: _runs(db, folder, limit))

    def find(self, start: str) -> WholeRun:
        """The heal whose id begins so.

        Raises:
            UsageError: there is none, or there are several.
        """
        nothing: WholeRun | str = ""
        found = self._do(nothing, lambda db: _find(db, plain(start)))
        if isinstance(found, str):
            raise UsageError(found or f"There is no run {start!r}.", "`regreen runs list` shows them.")
        return found

    def costs(self, since: datetime) -> tuple[Cost, ...]:
        """What calls cost since a time, the newest day first."""
        return self._do((), lambda db: _costs(db, since))

    def today(self, now: datetime) -> tuple[Spent, Spent]:
        """What the day's budget counts: recorded calls; calls in flight or of unknown cost, at their worst."""
        day = journal.midnight(now)

        def counted(db: Database) -> tuple[Spent, Spent]:
            journal.tidy(db, now)
            return journal.spent(db, day), journal.held(db, day)

        return self._do((Spent(), Spent()), counted, writing=True)

    def egress(self, since: datetime | None, *, local: bool) -> tuple[Asked, ...]:
        """What left this machine since a time, oldest first; with `local` also what stayed on it."""
        return self._do((), lambda db: _egress(db, "" if since is None else stamp(since), local=local))

    def stats(self, folder: Path | None) -> Stats | None:
        """What Regreen has been good for in all projects, or in those of a folder; None when nothing happened."""
        return self._do(None, lambda db: stats(db, _projects(db, folder)))

    def lessons(self) -> tuple[KeptLesson, ...]:
        """All lessons, newest first."""
        return self._do((), _lessons)

    def delete_lesson(self, key: int) -> bool:
        """Forget one lesson; whether there was one."""
        return self._do(
            False,
            lambda db: db.execute("DELETE FROM lessons WHERE lesson = ?", (key,)).rowcount > 0,
            writing=True,
        )

    def clear_lessons(self) -> int:
        """Forget all lessons; how many there were."""
        return self._do(0, lambda db: db.execute("DELETE FROM lessons").rowcount, writing=True)

    def _do(self, empty: T, work: Callable[[Database], T], *, writing: bool = False) -> T:
        if not self.path.exists():
            return empty
        try:
            with transaction(self.path, writing=writing) as db:
                return work(db)
        except NewerStore as error:
            raise EnvironmentProblem(
                f"{self.path} was written by a newer Regreen.",
                "Update this one, or set REGREEN_STATE_DIR to another folder.",
            ) from error
        except encoding.Damaged as error:
            raise self._damaged(error) from error
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise EnvironmentProblem(
                    f"{self.path} cannot be read now: {error}.", "If another Regreen is at work, try again."
                ) from error
            raise self._damaged(error) from error
        except OSError as error:
            raise EnvironmentProblem(
                f"{self.path} cannot be read: {error.strerror}.",
                "Set REGREEN_STATE_DIR to a folder that can.",
            ) from error

    def _damaged(self, error: Exception) -> EnvironmentProblem:
        return EnvironmentProblem(
            f"{self.path} is damaged: {error}.", "Move it away; Regreen begins a new one."
        )


def _projects(db: Database, folder: Path | None) -> frozenset[str] | None:
    """The projects in `folder` or that hold it; None for all."""
    if folder is None:
        return None
    known = db.execute(
        "SELECT project FROM heals UNION SELECT project FROM calls UNION SELECT project FROM rounds"
    )
    paths = [(name, Path(name)) for (name,) in known]
    return frozenset(
        name for name, path in paths if path.is_relative_to(folder) or folder.is_relative_to(path)
    )


def _runs(db: Database, folder: Path | None, limit: int) -> tuple[Run, ...]:
    wanted = _projects(db, folder)
    # Rounds and calls come before their heal has a row, and that of a heal that was killed never comes.
    rows = db.execute(
        "SELECT id, max(at), project FROM (SELECT id, at, project FROM heals UNION ALL"
        " SELECT id, at, project FROM rounds UNION ALL SELECT id, at, project FROM calls)"
        " GROUP BY id ORDER BY 2 DESC, 1"
    )
    found: list[Run] = []
    for id_, at, project in rows:
        if len(found) == limit:
            break
        if wanted is None or project in wanted:
            found.append(_run(db, id_, at, project))
    return tuple(found)


def _run(db: Database, id_: str, at: str, project: str) -> Run:
    heal, nodeid, outcome, seconds = db.execute(
        "SELECT heal, nodeid, outcome, seconds FROM heals WHERE id = ?", (id_,)
    ).fetchone() or (None, "", "", 0.0)
    (fixes,) = db.execute("SELECT count(*) FROM fixes WHERE heal = ?", (heal,)).fetchone()
    rounds, stop = db.execute(
        "SELECT count(*), (SELECT stop FROM rounds WHERE id = ? ORDER BY number DESC LIMIT 1) FROM rounds WHERE id = ?",
        (id_, id_),
    ).fetchone()
    return Run(
        id_, at, project, nodeid, outcome, seconds, fixes, rounds, stop or "", journal.spent(db, heal=id_)
    )


def _find(db: Database, start: str) -> WholeRun | str:
    rows = db.execute(
        "SELECT id, max(at), project FROM (SELECT id, at, project FROM heals UNION ALL"
        " SELECT id, at, project FROM rounds UNION ALL SELECT id, at, project FROM calls)"
        " WHERE substr(id, 1, ?) = ? GROUP BY id LIMIT 3",
        (len(start), start),
    ).fetchall()
    exact = [row for row in rows if row[0] == start]
    if exact:
        rows = exact
    elif rows and len(start) < SHORTEST:
        return f"{start!r} is too short for a run's id: {SHORTEST} characters are needed."
    if not rows:
        return f"There is no run whose id begins with {start!r}."
    if len(rows) > 1:
        return f"Several runs have ids that begin with {start!r}: {rows[0][0]}, {rows[1][0]}, …"
    ((id_, at, project),) = rows
    heal, exception = db.execute("SELECT heal, exception FROM heals WHERE id = ?", (id_,)).fetchone() or (
        None,
        "",
    )
    calls = tuple(
        _asked(row)
        for row in db.execute(f"SELECT {_COLUMNS} FROM calls WHERE id = ? ORDER BY call", (id_,))  # noqa: S608 — fixed
    )
    return WholeRun(
        _run(db, id_, at, project),
        exception,
        dict(db.execute("SELECT verdict, count FROM tried WHERE heal = ?", (heal,)).fetchall()),
        _offered(db, heal, project),
        journal.rounds(db, id_),
        calls,
        {
            call: Said(encoding.prompt_of(prompt), reply, detail)
            for call, prompt, reply, detail in db.execute(
                "SELECT call, prompt, reply, detail FROM texts JOIN calls USING (call) WHERE id = ?", (id_,)
            )
        },
    )


def _offered(db: Database, heal: int | None, project: str) -> tuple[Offered, ...]:
    rows = db.execute(
        "SELECT rank, fix, template, origin, diff, still_green, runs, CASE (SELECT undone FROM marks"
        " WHERE marks.fix = fixes.fix AND project = ? ORDER BY mark DESC LIMIT 1)"
        " WHEN 0 THEN 'accepted' WHEN 1 THEN 'undone' ELSE '' END FROM fixes WHERE heal = ? ORDER BY rank",
        (project, heal),
    )
    return tuple(Offered(*row) for row in rows)


def _costs(db: Database, since: datetime) -> tuple[Cost, ...]:
    return tuple(
        Cost(day, role, model, bool(local), Spent(calls, tokens, usd, unpriced))
        for day, role, model, local, calls, tokens, usd, unpriced in db.execute(
            "SELECT substr(at, 1, 10), role, model, local, count(*), sum(prompt_tokens + completion_tokens),"
            " total(usd), count(*) - count(usd) FROM calls WHERE at >= ? GROUP BY 1, 2, 3, 4 ORDER BY 1 DESC, 2, 3",
            (stamp(since),),
        )
    )


def _egress(db: Database, since: str, *, local: bool) -> tuple[Asked, ...]:
    table = "calls" if local else "egress"
    rows = db.execute(f"SELECT {_COLUMNS} FROM {table} WHERE at >= ? AND sent ORDER BY call", (since,))  # noqa: S608 — fixed
    return tuple(_asked(row) for row in rows)


def _asked(row: tuple[object, ...]) -> Asked:
    values = {field.name: value for field, value in zip(fields(Asked), row, strict=True)}
    for name in ("local", "sent", "degraded"):
        values[name] = bool(values[name])
    values["ranges"] = encoding.ranges_of(str(values["ranges"]))
    values["masked"] = encoding.masked_of(str(values["masked"]))
    return Asked(**values)  # type: ignore[arg-type]


def _lessons(db: Database) -> tuple[KeptLesson, ...]:
    rows = db.execute(
        "SELECT lesson, at, project, id, text, signature, accepted FROM lessons ORDER BY lesson DESC"
    )
    return tuple(
        KeptLesson(key, at, project, heal, text, signature, bool(accepted))
        for key, at, project, heal, text, signature, accepted in rows
    )
