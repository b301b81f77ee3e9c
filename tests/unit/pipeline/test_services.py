"""What libraries say of a service that they cannot reach is enough to name it in the setting."""

from __future__ import annotations

from pathlib import Path

import pytest

from regreen.pipeline.services import asked_for
from regreen.values import Failure


@pytest.mark.parametrize(
    ("message", "service"),
    [
        (
            'connection failed: connection to server at "127.0.0.1", port 5432 failed: Connection refused\n\tIs the server running?',
            "127.0.0.1:5432",
        ),
        ('connection to server at "localhost" (::1), port 5433 failed: Connection refused', "localhost:5433"),
        ('connection to server at "db.example.org" (10.0.0.7), port 5432 failed: timeout expired', ""),
        (
            'connection to server on socket "/run/postgresql/.s.PGSQL.5432" failed: No such file or directory',
            "/run/postgresql/.s.PGSQL.5432",
        ),
        ("Error 111 connecting to localhost:6379. Connection refused.", "localhost:6379"),
        ("Error 2 connecting to unix:/run/redis.sock. No such file or directory.", "/run/redis.sock"),
        ("Error 2 connecting to /run/redis.sock. No such file or directory.", "/run/redis.sock"),
        ("HTTPConnectionPool(host='localhost', port=8080): Max retries exceeded", "localhost:8080"),
        ("[Errno 111] Connect call failed ('127.0.0.1', 9000)", "127.0.0.1:9000"),
        ("Multiple exceptions: [Errno 111] Connect call failed ('::1', 9000, 0, 0)", "[::1]:9000"),
        ("Cannot connect to host 0.0.0.0:8080 ssl:default", "127.0.0.1:8080"),
        ("[Errno 111] Connection refused", ""),
        ("HTTPSConnectionPool(host='pypi.org', port=443): Max retries exceeded", ""),
    ],
)
def test_a_message_names_the_service(message: str, service: str) -> None:
    failure = Failure("t::a", "call", "OperationalError", message, (), Path("t.py"), 0)
    assert asked_for(failure) == service


def test_so_does_a_hint() -> None:
    failure = Failure("t::a", "call", "URLError", "", (), Path("t.py"), 0, hints={"address": "::1 8080"})
    assert asked_for(failure) == "[::1]:8080"
