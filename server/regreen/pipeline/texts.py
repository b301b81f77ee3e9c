"""How do the stages get at the project's text without reading files one by one?"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from regreen.pipeline.parts import Baseline, Tools
from regreen.source import ProjectSources
from regreen.values import Snapshot

MAX_BYTES = 2_000_000
"""A Python file larger than this is data; it is neither parsed nor patched."""


async def load_sources(snapshot: Snapshot, tools: Tools) -> tuple[ProjectSources, dict[Path, bytes]]:
    """Read every Python file of a snapshot.

    Returns:
        The parsed view and the bytes it was made from, by absolute path.
    """
    wanted = [p for p, entry in snapshot.files.items() if p.suffix == ".py" and entry.size <= MAX_BYTES]
    data = {path: await tools.mirror.read(snapshot, path) for path in wanted}
    return ProjectSources(data, snapshot.project.root), data


def heads(data: dict[Path, bytes]) -> dict[Path, str]:
    """Return the first lines of each file, where generated code says so."""
    return {path: text[:600].decode("latin-1") for path, text in data.items()}


def touched_files(base: Baseline, nodeids: Iterable[str]) -> frozenset[Path]:
    """Return the files that these tests execute."""
    return frozenset(path for nodeid in nodeids for path in base.report.spectrum.lines.get(nodeid, {}))
