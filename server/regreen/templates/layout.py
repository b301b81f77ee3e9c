"""Lines and blocks at the wrong depth, headers without a body, tabs among blanks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from regreen.source import SourceFile
from regreen.templates.broken import HEADER, judged, line_edit, lines_near, split
from regreen.templates.model import Change, Site
from regreen.values import TextEdit


def indentation(site: Site) -> Iterator[Change]:
    """A line (or the lines of a block) at the wrong depth; tabs among blanks."""
    message = site.evidence.failure.message
    if not site.file.has_errors and not re.search(
        r"indent|\btab|'(?:return|yield|break|continue)\b.* outside", message
    ):
        return
    for file, line, weight in lines_near(site):
        text = file.lines.line_text(line)
        own = _depth(text)
        near = [
            _depth(file.lines.line_text(n))
            for n in range(max(line - 12, 0), line + 4)
            if file.lines.line_text(n).strip()
        ]
        steps = sorted(
            {*near, own + 4, max(own - 4, 0), own + 1, max(own - 1, 0)}, key=lambda depth: abs(depth - own)
        )
        if "expected an indented block" in message:
            steps = [depth for depth in steps if depth > own] + [depth for depth in steps if depth < own]
        for rank, depth in enumerate(depth for depth in steps if depth != own):
            one = line_edit(file, line, " " * depth + text.lstrip())
            yield from _judged_indent(file, (one,), f"indent by {depth}", weight / (1 + 0.3 * rank))
            block = _same_block(file, line, own)
            if len(block) > 1:
                edits = tuple(
                    line_edit(
                        file,
                        n,
                        " " * max(_depth(file.lines.line_text(n)) + depth - own, 0)
                        + file.lines.line_text(n).lstrip(),
                    )
                    for n in block
                )
                yield from _judged_indent(
                    file, edits, f"indent {len(block)} lines by {depth}", weight * 0.9 / (1 + 0.3 * rank)
                )
    if "\t" in site.file.text and any(word in message for word in ("tab", "indent", "dedent")):
        edits = tuple(
            line_edit(
                site.file,
                n,
                re.sub(r"^[ \t]+", lambda m: m.group().replace("\t", "    "), site.file.lines.line_text(n)),
            )
            for n in range(site.file.lines.line_count)
            if re.match(r"[ ]*\t", site.file.lines.line_text(n))
        )
        yield Change(edits, "tabs → blanks", 0.9)


def _judged_indent(
    file: SourceFile, edits: tuple[TextEdit, ...], title: str, weight: float
) -> Iterator[Change]:
    """Indentation is judged by the same count of errors, since the grammar forgives much of it."""
    found = list(judged(file, edits, title, weight))
    yield from found or ([Change(edits, title, 0.1 * weight)] if file.has_errors else [])


def _depth(text: str) -> int:
    return len(text.expandtabs(4)) - len(text.expandtabs(4).lstrip())


def _same_block(file: SourceFile, line: int, own: int) -> list[int]:
    """The lines from `line` on that are at least as deep as it."""
    found: list[int] = []
    for number in range(line, file.lines.line_count):
        text = file.lines.line_text(number)
        if text.strip() and _depth(text) < own:
            break
        if text.strip():
            found.append(number)
    return found


def empty_block(site: Site) -> Iterator[Change]:
    """A header without a body: `pass`."""
    for file, line, weight in lines_near(site):
        text = file.lines.line_text(line)
        code, _ = split(text)
        if code.endswith(":") and HEADER.match(code):
            end = file.lines.end(line)
            indent = " " * (_depth(text) + 4)
            yield from _judged_indent(
                file, (TextEdit(end, end, f"{file.newline}{indent}pass"),), "add `pass`", weight
            )
