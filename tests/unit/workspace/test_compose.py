"""The services that a compose file publishes are found in the usual ways to write it, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from regreen.workspace.compose import Published, in_folder, published

FILE = """\
# what we need
version: "3"
services:
  db:
    image: postgres:16   # with a port that is not published: 1:1
    environment:
      - PORTS=7:7
    ports:
      - "5433:5432"
      - 127.0.0.1:5434:5432   # by hand
      - "5432"
      - "53:53/udp"
      - "8000-8005:8000-8005"
  cache:
    ports:
    - '${REDIS_PORT:-6380}:6379/tcp'
    - "$OTHER:1"
  web: # of ours
    depends_on: [db]
    ports: ["8080:80", 8081:81]
  mail:
    ports:
      - target: 25
        published: "2525"
      - published: 2526
        protocol: tcp
    expose:
      - "1:1"
volumes:
  db:
    ports:
      - "9:9"
"""


def test_what_is_published_is_found() -> None:
    assert list(published(FILE)) == [
        Published("db", "", 5433),
        Published("db", "127.0.0.1", 5434),
        Published("cache", "", 6380),
        Published("web", "", 8080),
        Published("web", "", 8081),
        Published("mail", "", 2525),
        Published("mail", "", 2526),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "services:",
        "services: {db: {ports: ['1:1']}}",
        "- services:\n  - ports:\n",
        "\0",
        "ports:\n  - 1:1",
    ],
)
def test_what_is_no_usual_compose_file_publishes_nothing(text: str) -> None:
    assert list(published(text)) == []


def test_every_usual_name_is_looked_for(tmp_path: Path) -> None:
    assert in_folder(tmp_path) == ()
    (tmp_path / "docker-compose.yml").write_text(FILE)
    (tmp_path / "compose.yaml").write_text("services:\n  queue:\n    ports: ['5672:5672']\n")
    assert {one.service for one in in_folder(tmp_path)} == {"queue", "db", "cache", "web", "mail"}
