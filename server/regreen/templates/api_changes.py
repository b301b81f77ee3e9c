"""Calls and imports that an upgrade of Python or of a library has renamed or removed: a table look-up.

The rows are in `api_changes.json`: `when` (searched in "Exception: message"), `find` (in the code, outside of
literals and comments), `replace`, `add` (imports that the new text needs) and a sample. The same replacement
is made everywhere in the file, because the old name is gone everywhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources

from regreen.source import ProjectSources, SourceFile
from regreen.templates.model import Change, Site
from regreen.templates.placing import insertion
from regreen.templates.rewrite import arrow
from regreen.values import TextEdit


@dataclass(frozen=True, slots=True)
class Row:
    """One changed API. `sample`: a message, and text before and after."""

    when: re.Pattern[str]
    find: re.Pattern[str]
    replace: str
    add: tuple[str, ...]
    sample: tuple[str, str, str]


@cache
def rows() -> tuple[Row, ...]:
    """Read the table, once."""
    data = resources.files("regreen.templates").joinpath("api_changes.json").read_text(encoding="utf-8")
    return tuple(
        Row(
            re.compile(row["when"]),
            re.compile(row["find"]),
            row["replace"],
            tuple(row.get("add", ())),
            (row["message"], row["before"], row["after"]),
        )
        for row in json.loads(data)
    )


def changed(site: Site) -> Iterator[Change]:
    """Every use of an API whose removal the failure names → what took its place."""
    failure = site.evidence.failure
    told = f"{failure.exception}: {failure.message}"
    for row in rows():
        if row.when.search(told):
            edits = _replaced(site.file, row, site.sources)
            if edits:
                replaced = next(edit for edit in reversed(edits) if edit.end > edit.start)
                first = site.file.text[replaced.start : replaced.end]
                yield Change(tuple(edits), arrow(first, replaced.new))


def _replaced(file: SourceFile, row: Row, sources: ProjectSources) -> list[TextEdit]:
    quiet = [node.span for node in file.root.walk() if node.kind == "string"]
    edits: list[TextEdit] = []
    for match in row.find.finditer(file.text):
        line = file.text[file.lines.start(file.lines.line_at(match.start())) : match.start()]
        if "#" in line or any(low < match.start() < high for low, high in quiet):
            continue
        edits.append(TextEdit(match.start(), match.end(), match.expand(row.replace)))
    if edits:
        for code in row.add:
            name = code.rpartition(" ")[2]
            if name not in file.names.bound and code not in file.text:
                edits.append(insertion(file, code, sources))
    return sorted(edits)
