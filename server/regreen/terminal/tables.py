"""How do lists of facts look on a terminal?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from rich.console import Group, RenderableType
from rich.text import Text

from regreen.values import SearchStep


class Fact(Protocol):
    """A named fact that may not be right."""

    @property
    def name(self) -> str:
        """What it is about."""
        ...

    @property
    def value(self) -> str:
        """What is so."""
        ...

    @property
    def ok(self) -> bool:
        """Whether it may stay so."""
        ...

    @property
    def hint(self) -> str:
        """What to do about it."""
        ...


def facts(items: Sequence[Fact], steps: Sequence[SearchStep]) -> Group:
    """A line for each fact, its hint below it, and below the interpreter where it was looked for."""
    width = max((len(item.name) for item in items), default=0)
    rows: list[RenderableType] = []
    for item in items:
        mark = ("✔ ", "green") if item.ok else ("✗ ", "bold red")
        rows.append(Text.assemble(mark, (item.name.ljust(width + 2), "bold"), item.value))
        if item.hint:
            rows.append(Text.assemble(" " * (width + 4), ("hint: ", "yellow"), item.hint))
        if item.name == "interpreter":
            rows += _search(steps, width + 4)
    return Group(*rows, Text(""))


def _search(steps: Iterable[SearchStep], indent: int) -> list[RenderableType]:
    return [
        Text(
            f"{' ' * indent}{'→' if step.chosen else ' '} {step.place}: {step.result}",
            style="" if step.chosen else "dim",
        )
        for step in steps
    ]


def columns(rows: Sequence[Sequence[str]]) -> Text:
    """Rows of cells, each column as wide as its widest cell; the last is not padded."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))] if rows else []
    lines = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)), row[-1]])
        for row in rows
    ]
    return Text("\n".join(lines), no_wrap=True)
