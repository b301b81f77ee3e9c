"""The tests of a Django project have databases of the run's own: nobody else's is touched, and none is left."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.pipeline.lab import Lab, only
from tests.services.servers import POSTGRES, PYTHON, SECONDS, Server

from regreen.values import Outcome, Rung, RunReport, RunRequest, TestStatus

FILES = {
    "pytest.ini": "[pytest]\nDJANGO_SETTINGS_MODULE = site_settings\npython_files = tests.py\naddopts = {addopts}\n",
    "site_settings.py": """
        import os
        SECRET_KEY = "x"
        INSTALLED_APPS = ["shop"]
        DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
        DATABASES = {{
            "default": {{
                "ENGINE": "django.db.backends.postgresql", "NAME": "{name}", "USER": "ann",
                "HOST": "127.0.0.1", "PORT": {port},
            }},
        }}
        """,
    "shop/__init__.py": "",
    "shop/apps.py": """
        from django.apps import AppConfig
        from django.db import connection

        class Shop(AppConfig):
            name = "shop"

            def ready(self):
                with connection.cursor() as cursor:
                    cursor.execute("select 1")
        """,
    "shop/models.py": """
        from django.db import models

        class Order(models.Model):
            price = models.IntegerField()

        def total():
            result = 0
            for order in Order.objects.all():
                result += order.price
            return result
        """,
    "shop/tests.py": """
        import os, pathlib, pytest, time
        from shop.models import Order, total

        pytestmark = pytest.mark.django_db

        def test_total():
            for price in (1, 2):
                Order.objects.create(price=price)
            assert total() == 3

        def test_empty():
            assert total() == 0

        @pytest.mark.django_db(transaction=True)
        def test_slow():
            Order.objects.create(price=7)
            if "WAIT_FOR" in os.environ:
                pathlib.Path(os.environ["WAIT_FOR"] + ".began").touch()
                while not os.path.exists(os.environ["WAIT_FOR"]):
                    time.sleep(0.01)
            assert [order.price for order in Order.objects.all()] == [7]
        """,
}
CLOSE = """
            from django.db import connection
            name = connection.settings_dict["NAME"]
            connection.close()
            with connection._nodb_cursor() as cursor:
                cursor.execute("select count(*) from pg_stat_activity where datname = %s", [name])
                assert cursor.fetchone() == (1,)
"""
TESTS = ("shop/tests.py::test_total", "shop/tests.py::test_empty", "shop/tests.py::test_slow")


def psql(server: Server, text: str, database: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [POSTGRES / "psql", "-h", "127.0.0.1", "-p", str(server.port), "-U", "ann", "-d", database, "-Atc", text],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def sql(server: Server, text: str, database: str = "postgres") -> list[str]:
    """The rows of an answer."""
    with psql(server, text, database) as asked:
        rows, _ = asked.communicate(timeout=SECONDS)
    assert asked.returncode == 0
    return rows.splitlines()


def databases(server: Server) -> set[str]:
    return set(sql(server, "select datname from pg_database")) - {"postgres", "template0", "template1"}


class Shop(Lab):
    """A project on a database `shop` of its user's."""

    def lay(self, server: Server, *, addopts: str = "", name: str = "shop", **more: str) -> None:
        files = {path: self.text(text) for path, text in FILES.items()}
        values = {"addopts": addopts, "name": name, "port": server.port}
        for path in ("pytest.ini", "site_settings.py"):
            files[path] = files[path].format(**values)
        self.write({**files, **more})
        self.settings(services=(server.address,))

    async def run(self, *nodeids: str, **fields: object) -> RunReport:
        tools = await self.tools()
        request = RunRequest(await self._mirror.sync({}), nodeids or TESTS, **fields)  # type: ignore[arg-type]
        return await tools.oracle.run(request)

    def by_hand(self, *args: str, **environment: str) -> subprocess.Popen[str]:
        """Run the user's own pytest."""
        return subprocess.Popen(
            [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "shop/tests.py", *args],
            cwd=self.root, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment},
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip


def wait_for(file: Path) -> None:
    deadline = time.monotonic() + SECONDS
    while not file.exists() and time.monotonic() < deadline:
        time.sleep(0.05)


@pytest.fixture
async def shop(tmp_path: Path, postgres: Server) -> AsyncIterator[Shop]:
    for name in databases(postgres):
        sql(postgres, f'drop database "{name}"')
    sql(postgres, "create database shop")
    made = Shop(tmp_path, PYTHON)
    yield made
    await made.close()


def green(report: RunReport) -> bool:
    assert [failure.message for failure in report.failures] == []
    return {o.status for o in report.outcomes.values()} == {TestStatus.PASSED} and report.isolation == "full"


@pytest.mark.parametrize("addopts", ["", "--reuse-db", "--create-db --no-migrations"])
async def test_a_run_leaves_no_database(shop: Shop, postgres: Server, addopts: str) -> None:
    shop.lay(postgres, addopts=addopts)
    for rung in (Rung.WARM, Rung.COLD):
        assert green(await shop.run(rung=rung))
    assert databases(postgres) == {"shop"}


async def test_the_users_own_pytest_goes_on_beside_it(shop: Shop, postgres: Server, tmp_path: Path) -> None:
    shop.lay(postgres)
    done = tmp_path / "done"
    with shop.by_hand(WAIT_FOR=str(done)) as beside:
        await asyncio.to_thread(wait_for, done.with_name("done.began"))
        assert "test_shop" in databases(postgres)
        reports = await asyncio.gather(shop.run(), shop.run(rung=Rung.COLD), shop.run(*TESTS[:2]))
        done.touch()
        said, _ = beside.communicate(timeout=SECONDS)
    assert [green(report) for report in reports] == [True] * 3
    assert "3 passed" in said
    assert databases(postgres) == {"shop"}


async def test_a_database_that_the_user_keeps_is_kept(shop: Shop, postgres: Server) -> None:
    shop.lay(postgres, addopts="--reuse-db")
    with shop.by_hand() as first:
        assert "3 passed" in first.communicate(timeout=SECONDS)[0]
    sql(postgres, "create table kept (n int)", "test_shop")
    assert green(await shop.run())
    assert databases(postgres) == {"shop", "test_shop"}
    assert sql(postgres, "select * from kept", "test_shop") == []


async def test_hot_runs_have_databases_of_their_own_at_the_same_time(shop: Shop, postgres: Server) -> None:
    shop.lay(postgres)
    models = shop.root / "shop/models.py"
    text = models.read_text().replace("result = 0", "result = 1 - 1").encode()
    assert green(await shop.run())
    reports = await asyncio.gather(*(shop.run(rung=Rung.HOT, overlay={models: text}) for _ in range(4)))
    assert [(green(report), report.rung) for report in reports] == [(True, Rung.HOT)] * 4
    assert databases(postgres) == {"shop"}


async def test_a_bug_in_a_model_is_healed(shop: Shop, postgres: Server) -> None:
    shop.lay(postgres)
    shop.write({"shop/models.py": FILES["shop/models.py"].replace("+= order", "-= order")})
    shop.settings(heal_offers=1)
    result = only(await shop.heal())
    assert result.outcome is Outcome.VERIFIED, result.reason
    # What was cancelled when there were fixes enough may have left its own.
    assert {name for name in databases(postgres) if not name.startswith("test_shop_regreen_")} == {"shop"}


@pytest.mark.parametrize(
    "conftest",
    [
        """
        import pytest
        from django.conf import settings

        @pytest.fixture(scope="session")
        def django_db_modify_db_settings():
            settings.DATABASES["default"]["TEST"]["NAME"] = "test_by_hand"
        """,
        """
        import pytest

        @pytest.fixture(scope="session")
        def django_db_setup(django_db_setup, django_db_blocker):
            with django_db_blocker.unblock():
                from shop.models import Order
                assert not Order.objects.exists()
        """,
    ],
)
async def test_a_project_that_does_more_has_a_database_of_its_own_too(
    shop: Shop, postgres: Server, conftest: str
) -> None:
    shop.lay(postgres, **{"conftest.py": conftest})
    names = {"test_by_hand", "test_shop"}
    for name in names:
        sql(postgres, f"create database {name}")
    assert green(await shop.run())
    assert databases(postgres) == {"shop", *names}


async def test_a_long_name_is_not_cut_where_it_tells_runs_apart(shop: Shop, postgres: Server) -> None:
    name = "shop_of_" + "é" * 20
    sql(postgres, f'create database "{name}"')
    sql(postgres, f'create database "test_{name}"')
    shop.lay(postgres, name=name)
    reports = await asyncio.gather(shop.run(), shop.run())
    assert [green(report) for report in reports] == [True, True]
    assert databases(postgres) == {"shop", name, f"test_{name}"}


async def test_what_a_run_that_was_killed_leaves_is_named_as_ours_and_dropped_by_a_later_one(
    shop: Shop, postgres: Server
) -> None:
    shop.lay(postgres)
    shop.write(
        {
            "shop/tests.py": FILES["shop/tests.py"].replace(
                "assert total() == 0", "while True: time.sleep(0.01)"
            )
        }
    )
    report = await shop.run(TESTS[1], seconds_per_test=2)
    assert report.outcomes[TESTS[1]].status is not TestStatus.PASSED
    (left,) = databases(postgres) - {"shop"}
    assert left.startswith("test_shop_regreen_")
    old, alive = (f"test_shop_regreen_60000000_{n:08x}" for n in (1, 2))
    others = {"test_shop_regreen_notes", "test_shop2_regreen_60000000_00000001"}
    for name in (old, alive, *others):
        sql(postgres, f"create database {name}")
    with psql(postgres, "select pg_sleep(600)", alive) as connected:
        while not sql(postgres, f"select 1 from pg_stat_activity where datname = '{alive}'"):
            pass
        assert green(await shop.run(TESTS[0]))
        sql(postgres, f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{alive}'")
        connected.wait(SECONDS)
    assert databases(postgres) == {"shop", left, alive, *others}


async def test_a_run_stays_connected_with_its_database(shop: Shop, postgres: Server) -> None:
    shop.lay(postgres)
    test = FILES["shop/tests.py"].replace("assert total() == 0", CLOSE)
    shop.write({"shop/tests.py": test})
    assert green(await shop.run(TESTS[1]))
