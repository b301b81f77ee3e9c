"""Which line and column is an offset, in the units the other side counts in, and back?"""

from __future__ import annotations

import bisect
import enum
from dataclasses import dataclass

from regreen.edits.text import EOL


class ColumnUnit(enum.Enum):
    """What one step of a column is. UTF-32 units and code points are the same number."""

    CODE_POINT = "code point"
    UTF8 = "utf-8"
    UTF16 = "utf-16"
    UTF32 = "utf-32"


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a text: 0-based line, column in the unit it was asked for."""

    line: int
    column: int


class LineIndex:
    """Converts between offsets (code points) and positions of one text.

    Lines end at CR LF, LF and CR only. Whatever lies outside of the text is clamped into it: a line before
    the first is the beginning, one after the last is the end, a column past the line's content is the end
    of that content, and a column inside of a character is that character's beginning.
    """

    __slots__ = ("_ascii", "_ends", "_starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._ascii = text.isascii()
        self._starts = [0]
        self._ends: list[int] = []  # of each line's content, its terminator excluded
        for match in EOL.finditer(text):
            self._ends.append(match.start())
            self._starts.append(match.end())
        self._ends.append(len(text))

    @property
    def line_count(self) -> int:
        """How many lines there are; a final line end opens one more, empty line."""
        return len(self._starts)

    def start(self, line: int) -> int:
        """Return the offset where a line begins (clamped)."""
        if line < 0:
            return 0
        return self._starts[line] if line < len(self._starts) else len(self.text)

    def end(self, line: int) -> int:
        """Return the offset where a line's content ends, before its line end (clamped)."""
        if line < 0:
            return 0
        return self._ends[line] if line < len(self._ends) else len(self.text)

    def line_text(self, line: int) -> str:
        """Return a line's content without its end; empty outside of the text."""
        return self.text[self.start(line) : self.end(line)]

    def line_at(self, offset: int) -> int:
        """Find the line that holds an offset (clamped); a line end belongs to the line it ends."""
        return max(bisect.bisect_right(self._starts, offset) - 1, 0)

    def position(self, offset: int, unit: ColumnUnit = ColumnUnit.CODE_POINT) -> Position:
        """Find the position of an offset; inside of a line end it is the end of the line's content."""
        line = self.line_at(offset)
        start = self._starts[line]
        offset = max(start, min(offset, self._ends[line]))
        return Position(line, _units(self.text[start:offset], unit, ascii_only=self._ascii))

    def offset(self, line: int, column: int, unit: ColumnUnit = ColumnUnit.CODE_POINT) -> int:
        """Find the offset of a position whose column counts in `unit`."""
        if line < 0:
            return 0
        if line >= len(self._starts):
            return len(self.text)
        start, end = self._starts[line], self._ends[line]
        if self._ascii or unit in (ColumnUnit.CODE_POINT, ColumnUnit.UTF32):
            return start + max(0, min(column, end - start))
        for offset in range(start, end):
            column -= _width(self.text[offset], unit)
            if column < 0:
                return offset
        return end


def _units(text: str, unit: ColumnUnit, *, ascii_only: bool) -> int:
    if ascii_only or unit in (ColumnUnit.CODE_POINT, ColumnUnit.UTF32):
        return len(text)
    if unit is ColumnUnit.UTF16:
        return len(text) + sum(1 for character in text if ord(character) > 0xFFFF)
    return len(text.encode("utf-8", "surrogatepass"))


def _width(character: str, unit: ColumnUnit) -> int:
    code = ord(character)
    if unit is ColumnUnit.UTF16:
        return 2 if code > 0xFFFF else 1
    return 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4
