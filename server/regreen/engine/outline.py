"""Which tests does a file define, where, and with which marks, before anything of it ran?

Read line by line, so that half-typed files are read too. Only what decides about running is looked for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from regreen.edits import split_lines

_DEFINITION = re.compile(r"^([ \t]*)(?:async[ \t]+)?(def|class)[ \t]+(\w+)")
_DECORATOR = re.compile(r"^[ \t]*@(?:pytest\.)?mark\.(\w+)")
_OWN_MARKS = re.compile(r"^([ \t]*)pytestmark\b(.*)")
_MARK = re.compile(r"\bmark\.(\w+)")


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or class: its path in node-id form ("TestCart::test_total"), 0-based line, marks."""

    name: str
    line: int
    is_class: bool
    marks: frozenset[str]


def outline(text: str) -> tuple[Definition, ...]:
    """Every function and class, in order; marks of a class or module belong to what is in it."""
    found: list[Definition] = []
    open_blocks: list[tuple[int, str, set[str]]] = [(-1, "", set())]
    pending: set[str] = set()
    for number, line in enumerate(split_lines(text)):
        if mark := _DECORATOR.match(line):
            pending.add(mark[1])
        elif own := _OWN_MARKS.match(line):
            _close(open_blocks, len(own[1]))
            open_blocks[-1][2].update(_MARK.findall(own[2]))
        elif definition := _DEFINITION.match(line):
            indent, kind, name = len(definition[1]), definition[2], definition[3]
            _close(open_blocks, indent)
            path = "::".join([*(block[1] for block in open_blocks[1:]), name])
            marks = pending.union(*(block[2] for block in open_blocks))
            found.append(Definition(path, number, kind == "class", frozenset(marks)))
            open_blocks.append((indent, name, pending))
            pending = set()
    return tuple(found)


def _close(open_blocks: list[tuple[int, str, set[str]]], indent: int) -> None:
    while len(open_blocks) > 1 and open_blocks[-1][0] >= indent:
        open_blocks.pop()


def line_of(text: str, nodeid: str) -> int | None:
    """The 0-based line where a test is defined, None when it is not in the text."""
    name = nodeid.partition("::")[2].partition("[")[0]
    return next((d.line for d in outline(text) if d.name == name), None)


def is_test_file(path: Path) -> bool:
    """Whether a file's name is one that pytest (or Django) collects by default."""
    return path.suffix == ".py" and (
        path.stem.startswith("test_") or path.stem.endswith("_test") or path.stem == "tests"
    )
