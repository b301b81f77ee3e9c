"""Which services does a project's compose file publish on this machine?

Compose files are YAML, of which only the usual ways to publish a port are read, line by line: what is written
otherwise is not found, and nothing is found that is not written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

NAMES = ("compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml")
MOST_BYTES = 1_000_000

_LINE = re.compile(r"(?P<indent> *)(?P<text>(?:- +)?[^#\s].*?)\s*(?:\s#.*)?")
_NAME = re.compile(r"[a-zA-Z0-9._-]+")
_SHORT = re.compile(
    r"(?:(?P<host>[0-9.]+|\[[0-9a-fA-F:]+\]|localhost):)?(?P<port>\d+):\d+(?:/tcp)?"
)  # published:target
_PUBLISHED = re.compile(r"""(?:- +)?published: *["']?(?P<port>\d+)["']?""")
_DEFAULT = re.compile(r"\$\{\w+:?-([^}]*)\}")


@dataclass(frozen=True, slots=True)
class Published:
    """A port that a service is reached at.

    Args:
        service: its name in the file.
        host: the address it is bound to; "" for every one.
        port: on this machine.
    """

    service: str
    host: str
    port: int


def in_folder(folder: Path) -> tuple[Published, ...]:
    """What the compose files of a folder publish. Files that cannot be read publish nothing."""
    return tuple(dict.fromkeys(one for name in NAMES for one in published(_text(folder / name))))


def _text(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(MOST_BYTES)
    except OSError:
        return ""


def published(text: str) -> Iterator[Published]:
    """What one file publishes over TCP, variables replaced by their defaults."""
    path: list[tuple[int, str]] = []  # the keys above the line, with their indentation
    for line in text.splitlines():
        match = _LINE.fullmatch(line)
        if match is None:
            continue
        indent, said = len(match["indent"]), match["text"]
        item = said.startswith("-")
        # A list may stand at the indentation of its own key.
        while path and (path[-1][0] > indent or (path[-1][0] == indent and not item)):
            path.pop()
        keys = [key for _, key in path]
        if len(keys) == 3 and keys[0] == "services" and keys[2] == "ports":
            yield from _entry(keys[1], said)
        key, colon, value = said.partition(":")
        if colon and not item and not value.strip():
            path.append((indent, key.strip("\"' ")))
        elif key == "ports" and [key for _, key in path][:1] == ["services"] and len(path) == 2:
            for entry in value.strip(" []").split(","):
                yield from _entry(path[1][1], entry)


def _entry(service: str, said: str) -> Iterator[Published]:
    text = _DEFAULT.sub(r"\1", said)
    found = _PUBLISHED.fullmatch(text) or _SHORT.fullmatch(text.removeprefix("-").strip(" \"'"))
    if found is not None and _NAME.fullmatch(service):
        host = found.groupdict().get("host") or ""
        yield Published(service, host.strip("[]"), int(found["port"]))
