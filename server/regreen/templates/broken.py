"""Which lines of text that is not Python may be at fault, and is a change of them for the better?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from regreen.source import SourceFile, parse
from regreen.templates.model import Change, Site
from regreen.values import TextEdit

HEADER = re.compile(
    r"\s*(?:async\s+)?(?:if|elif|else|for|while|def|class|with|try|except|finally|match|case)\b"
)


def lines_near(site: Site) -> Iterator[tuple[SourceFile, int, float]]:
    """Yield (file, line, weight): the line the parser names, the one before, its neighbours, and error spans."""
    frames = site.evidence.failure.frames
    file = site.sources.get(frames[-1].path) if frames else None
    if file is None or file.path != site.file.path:
        return
    named = frames[-1].line
    previous = next((n for n in range(named - 1, -1, -1) if file.lines.line_text(n).strip()), named)
    found = {named: 1.0, previous: 0.9}
    for span in file.errors[:3]:
        for line in (span.line, file.lines.line_at(max(span.start, span.end - 1))):
            found.setdefault(line, 0.7)
    for line in (named + 1, previous - 1):
        found.setdefault(line, 0.4)
    for line, weight in found.items():
        if 0 <= line < file.lines.line_count and file.lines.line_text(line).strip():
            yield file, line, weight


def judged(file: SourceFile, edits: tuple[TextEdit, ...], title: str, weight: float) -> Iterator[Change]:
    """The change, if the text is nearer to Python with it."""
    text = file.text
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.new + text[edit.end :]
    after = parse(file.path, text.encode("utf-8", "surrogatepass"))
    if len(after.errors) > len(file.errors) or (
        after.has_errors and file.has_errors and len(after.errors) == len(file.errors)
    ):
        return
    clean = 1.0 if not after.has_errors else 0.3
    yield Change(edits, title, clean * weight * (1.0 if file.has_errors else 0.7))


def line_edit(file: SourceFile, line: int, new: str) -> TextEdit:
    """Replace a line's content; its line end stays."""
    return TextEdit(file.lines.start(line), file.lines.end(line), new)


def split(text: str) -> tuple[str, str]:
    """A line's code and its comment with the blanks before it; quotes are respected."""
    quote = ""
    for at, character in enumerate(text):
        if quote:
            quote = "" if character == quote and text[at - 1] != "\\" else quote
        elif character in "\"'":
            quote = character
        elif character == "#":
            code = text[:at].rstrip()
            return code, text[len(code) :]
    code = text.rstrip()
    return code, text[len(code) :]
