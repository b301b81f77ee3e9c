"""Fully isolated runs work with the databases that the user names, and cannot reach those beside them."""

from __future__ import annotations

import pytest
from tests.pipeline.lab import Lab, only
from tests.services.servers import Server

from regreen.values import Outcome

POSTGRES = """
    import psycopg, pytest

    @pytest.fixture
    def shop():
        with psycopg.connect({where!r}) as connection:
            connection.execute("create temporary table prices (price int)")
            yield connection
            connection.rollback()

    def test_rows(shop):
        shop.cursor().executemany("insert into prices values (%s)", [(n,) for n in range(1000)])
        assert shop.execute("select count(*), sum(price) from prices").fetchone() == (1000, 499500)

    def test_much(shop):
        assert len(shop.execute("select repeat('x', 5000000)").fetchone()[0]) == 5000000
    """
REDIS = """
    import redis, redis.backoff, redis.retry, threading

    RETRY = redis.retry.Retry(redis.backoff.NoBackoff(), 0)

    def test_values():
        shop = redis.Redis({where}, retry=RETRY)
        shop.set("regreen:price", "3")
        assert shop.get("regreen:price") == b"3"

    def test_waiting():
        shop = redis.Redis({where}, retry=RETRY)
        threading.Timer(0.1, lambda: shop.lpush("regreen:orders", "one")).start()
        assert shop.blpop("regreen:orders", timeout=10) == (b"regreen:orders", b"one")
    """


def by_port(kind: str, server: Server) -> tuple[str, str]:
    """How a program names a server by its port, and the text of the setting."""
    where = f"host=127.0.0.1 port={server.port} user=ann dbname=postgres"
    return where if kind == "postgres" else f"host='127.0.0.1', port={server.port}", server.address


def by_path(kind: str, server: Server) -> tuple[str, str]:
    """The same by its socket."""
    where = f"host={server.socket.parent} port={server.port} user=ann dbname=postgres"
    return (
        where if kind == "postgres" else f"unix_socket_path={str(server.socket)!r}",
        str(server.socket),
    )


TESTS = {"postgres": POSTGRES, "redis": REDIS}
FIRST = {"postgres": "test_rows", "redis": "test_values"}
kinds = pytest.mark.parametrize("kind", TESTS)
ways = pytest.mark.parametrize("way", [by_port, by_path])


@pytest.fixture
def server(request: pytest.FixtureRequest, kind: str) -> Server:
    found: Server = request.getfixturevalue(kind)
    return found


@kinds
@ways
async def test_a_service_that_is_named_is_there(lab: Lab, kind: str, server: Server, way: object) -> None:
    where, service = way(kind, server)  # type: ignore[operator]
    lab.write({"test_shop.py": TESTS[kind].format(where=where)})
    lab.settings(services=(service,))
    report = (await lab.baseline()).report
    assert [failure.message for failure in report.failures] == []
    assert len(report.outcomes) == 2
    assert report.isolation == "full"


@kinds
@ways
async def test_one_that_is_not_named_is_not_there_and_its_name_is_told(
    lab: Lab, kind: str, server: Server, way: object, request: pytest.FixtureRequest
) -> None:
    where, service = way(kind, server)  # type: ignore[operator]
    other = request.getfixturevalue("redis" if kind == "postgres" else "postgres")
    lab.write({"test_shop.py": TESTS[kind].format(where=where)})
    lab.settings(services=(other.address, str(other.socket)))
    result = only(await lab.heal(await lab.baseline(nodeids=(f"test_shop.py::{FIRST[kind]}",))))
    assert result.outcome is Outcome.ENVIRONMENT, result.reason
    assert f'add "{service}" to it' in result.reason


async def test_a_bug_behind_a_database_is_healed(lab: Lab, postgres: Server) -> None:
    where, service = by_port("postgres", postgres)
    lab.write(
        {
            "shop.py": f"""
                import psycopg

                def total(prices):
                    with psycopg.connect({where!r}) as connection:
                        (found,) = connection.execute("select sum(n) from unnest(%s::int[]) n", [prices]).fetchone()
                    return found - 1
                """,
            "test_shop.py": """
                import shop

                def test_total():
                    assert shop.total([1, 2]) == 3

                def test_one():
                    assert shop.total([5]) == 5
                """,
        }
    )
    lab.settings(services=(service,))
    base = await lab.baseline()
    result = await lab.heal_one(base.report.failures[0], base)
    assert result.outcome is Outcome.VERIFIED, result.reason
