"""Which lines does a candidate change, before and after?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from regreen.source import ProjectSources, parse
from regreen.values import CanaryPoint, Candidate


def changed_lines(candidate: Candidate, sources: ProjectSources) -> dict[Path, tuple[int, ...]]:
    """Return the 0-based lines of the unpatched text that the candidate touches, by file."""
    changed: dict[Path, tuple[int, ...]] = {}
    for file in candidate.edits:
        parsed = sources.get(file.path)
        if parsed is None:
            continue
        lines: set[int] = set()
        for edit in file.edits:
            first = parsed.lines.line_at(edit.start)
            last = parsed.lines.line_at(max(edit.start, edit.end - 1))
            lines.update(range(first, last + 1))
        changed[file.path] = tuple(sorted(lines))
    return changed


def patched_points(candidate: Candidate, overlay: Mapping[Path, bytes]) -> tuple[CanaryPoint, ...]:
    """Return where the patch stands in the patched text: the first line of each edit.

    Where an edit only deletes, it is the statement that follows.
    """
    points: list[CanaryPoint] = []
    for file in candidate.edits:
        lines = parse(file.path, overlay[file.path]).lines
        shift = 0
        for edit in file.edits:
            start = edit.start + shift
            body = edit.new.lstrip()
            start += len(edit.new) - len(body) if body else 0
            points.append(CanaryPoint(file.path, lines.line_at(start)))
            shift += len(edit.new) - (edit.end - edit.start)
    return tuple(dict.fromkeys(points))
