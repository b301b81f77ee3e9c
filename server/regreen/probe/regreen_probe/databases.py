"""How do a Django project's tests get databases that nobody else uses?

Django has one name for the test database of a project: a run would destroy the one of another run, and of its user's
own pytest. So every run has names of its own. As long as it lives it is connected with what bears them; what nobody
is connected with was left behind by a run that was killed, and a later one drops it.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time

import pytest

LONGEST = 63
"""Bytes of a name; PostgreSQL cuts the rest off."""
YOUNG_SECONDS = 60
"""Until then a run may not be connected yet."""
_OURS = re.compile(r"_regreen_([0-9a-f]{8,})_[0-9a-f]{8}")
_UNUSED = (
    "SELECT d.datname FROM pg_database d LEFT JOIN pg_stat_activity a ON a.datname = d.datname "
    "WHERE a.datname IS NULL"
)


class Databases:
    """The pytest plug-in that names the test databases of one run."""

    def __init__(self) -> None:
        self.mark = ""

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef, request):
        """Just before the databases are made: whatever else changes their names has done so."""
        if fixturedef.argname != "django_db_setup":
            yield
            return
        self.mark = self.mark or "_regreen_%08x_%s" % (_now(), os.urandom(4).hex())
        django = sys.modules["django.db"]
        blocker = request.getfixturevalue("django_db_blocker")
        aliases = [name for name, options in django.connections.databases.items() if not _is_file(options)]
        for alias in aliases:
            plain = self._name(django.connections.databases[alias])
            with blocker.unblock(), contextlib.suppress(django.Error):  # the fixture itself will tell
                _drop_abandoned(django.connections[alias], plain, django.Error)
        result = yield
        if result.excinfo is None:
            for alias in aliases:
                with blocker.unblock():
                    self._hold(django.connections[alias], fixturedef)

    def _name(self, options: dict) -> str:
        """Give one database its name; returns what comes before the mark."""
        test = options.setdefault("TEST", {})
        name = test.get("NAME") or "test_%s" % options["NAME"]
        plain = name.removesuffix(self.mark).encode()[: LONGEST - len(self.mark)].decode(errors="ignore")
        test["NAME"] = plain + self.mark
        return plain

    def _hold(self, connection, fixturedef) -> None:
        """Stay connected until the fixture ends, whatever the tests do with their own connection."""
        if str(connection.settings_dict["NAME"]).endswith(self.mark):
            held = connection.copy()
            held.ensure_connection()
            fixturedef.addfinalizer(held.close)


def close_connections() -> None:
    """Close what importing the project has opened: forks would share it."""
    django = sys.modules.get("django.db")
    if django is not None and sys.modules["django.conf"].settings.configured:
        django.connections.close_all()


def _now() -> int:
    return int(time.time())  # noqa: TID251 — other runs read it; it only spares what nobody is connected with yet


def _is_file(options: dict) -> bool:
    """Whether the database is SQLite's: in memory, or in the copy, which is the run's own anyway."""
    return options["ENGINE"].rpartition(".")[2] in ("sqlite3", "spatialite", "dummy")


def _drop_abandoned(connection, plain: str, error: type[Exception]) -> None:
    """Drop what earlier runs of the same project left behind. Only PostgreSQL tells what nobody uses."""
    if connection.vendor != "postgresql":
        return
    with connection._nodb_cursor() as cursor:
        cursor.execute(_UNUSED)
        for (name,) in cursor.fetchall():
            ours = _OURS.fullmatch(name[len(plain) :]) if name.startswith(plain) else None
            if ours is not None and int(ours[1], 16) < _now() - YOUNG_SECONDS:
                with contextlib.suppress(error):  # another user's, or another run was quicker
                    cursor.execute("DROP DATABASE IF EXISTS " + connection.ops.quote_name(name))
