"""Which tests were red, and which green, when the user last ran pytest?

Pytest keeps that in its cache folder; reading it runs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from regreen import edits
from regreen.engine.outline import line_of
from regreen.engine.state import KnownRed, file_of
from regreen.errors import UnreadableText

MAX_KNOWN = 5000


@dataclass(frozen=True, slots=True)
class LastRun:
    """What pytest's cache tells: the red tests that still exist, and the ids that were green."""

    red: Mapping[str, KnownRed]
    green: frozenset[str]


def read_last_run(root: Path) -> LastRun:
    """Read the cache of a project; empty when there is none. Blocks on the disk."""
    cache = root / ".pytest_cache" / "v" / "cache"
    failed = _strings(cache / "lastfailed")[:MAX_KNOWN]
    green = frozenset(_strings(cache / "nodeids")) - frozenset(failed)
    texts: dict[str, str | None] = {}
    red: dict[str, KnownRed] = {}
    for nodeid in failed:
        name = file_of(nodeid)
        path = root / name
        if name not in texts:
            texts[name] = _read(path)
        text = texts[name]
        if text is None:
            continue
        line = line_of(text, nodeid) if "::" in nodeid else 0
        if line is not None:
            red[nodeid] = KnownRed(nodeid, path, line)
    return LastRun(red, green)


def _strings(path: Path) -> list[str]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):  # no such run, or a cache that pytest itself would ignore
        return []
    return [item for item in content if isinstance(item, str)] if isinstance(content, (list, dict)) else []


def _read(path: Path) -> str | None:
    try:
        return edits.decode(path.read_bytes()).text
    except (OSError, UnreadableText):
        return None
