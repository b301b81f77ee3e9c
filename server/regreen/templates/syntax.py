"""Text that is not Python yet: colons, brackets, quotes, indentation, and habits from other languages."""

from __future__ import annotations

import difflib
import keyword
import re
from collections.abc import Iterator

from regreen.templates.broken import HEADER, judged, line_edit, lines_near, split
from regreen.templates.model import Change, Site
from regreen.templates.rewrite import arrow
from regreen.values import TextEdit

_CLOSING = {"(": ")", "[": "]", "{": "}"}


def colon(site: Site) -> Iterator[Change]:
    """A header line lacks its colon, or has `;`, `{` or `then` in its place."""
    for file, line, weight in lines_near(site):
        code, comment = split(file.lines.line_text(line))
        if not HEADER.match(code):
            continue
        if not code.endswith(":"):
            bare = re.sub(r"\s*(?:;|\{|\bthen|\bdo)$", "", code)
            yield from judged(
                file, (line_edit(file, line, f"{bare}:{comment}"),), "add the missing `:`", weight
            )


def bracket(site: Site) -> Iterator[Change]:
    """A bracket that is not closed, closed twice, or closed by another kind."""
    for file, line, weight in lines_near(site):
        text = file.lines.line_text(line)
        code, comment = split(text)
        stack, surplus = _balance(code)
        missing = "".join(_CLOSING[one] for one in reversed(stack))
        if missing:
            for new in _closed(code, missing):
                yield from judged(
                    file, (line_edit(file, line, new + comment),), f"add the missing `{missing}`", weight
                )
        for at in surplus:
            new = code[:at] + code[at + 1 :]
            yield from judged(
                file, (line_edit(file, line, new + comment),), f"drop the surplus `{code[at]}`", weight
            )
            for other in ")]}":
                new = code[:at] + other + code[at + 1 :]
                yield from judged(
                    file, (line_edit(file, line, new + comment),), arrow(code[at], other), weight * 0.8
                )
        for opening in "([{":
            for at in surplus:
                start = len(code) - len(code.lstrip())
                for place in (m.start(1) for m in re.finditer(r"(?:=|return|in|\(|,)\s*(\S)", code[:at])):
                    new = code[:place] + opening + code[place:]
                    if _CLOSING[opening] == code[at] and place >= start:
                        title = f"add the missing `{opening}`"
                        yield from judged(file, (line_edit(file, line, new + comment),), title, weight * 0.7)


def _balance(code: str) -> tuple[list[str], list[int]]:
    """Opening brackets of a line that stay open, and offsets of closing ones that close nothing."""
    stack: list[str] = []
    surplus: list[int] = []
    quote = ""
    for at, character in enumerate(code):
        if quote:
            quote = "" if character == quote and code[at - 1] != "\\" else quote
        elif character in "\"'":
            quote = character
        elif character in _CLOSING:
            stack.append(character)
        elif character in ")]}":
            if stack and _CLOSING[stack[-1]] == character:
                stack.pop()
            else:
                surplus.append(at)
    return stack, surplus


def _closed(code: str, missing: str) -> Iterator[str]:
    """Places where a bracket can be closed: before the final colon or comma, at the end, before an operator."""
    if code.endswith((":", ",")):
        yield code[:-1] + missing + code[-1]
    yield code + missing
    for match in re.finditer(r"\s(?:[-+*/%<>]|==|!=|<=|>=|and|or|if|for|in|else|as)\s|[,)\]}]", code):
        yield code[: match.start()] + missing + code[match.start() :]


def quote(site: Site) -> Iterator[Change]:
    """A literal that is not closed, or closed by the other quote."""
    for file, line, weight in lines_near(site):
        text = file.lines.line_text(line)
        for mark in "\"'":
            if text.count(mark) % 2 == 0:
                continue
            bare = text.rstrip()
            places = [len(bare), *(m.start() for m in reversed(list(re.finditer(r"[)\]},:]", bare))))]
            for rank, at in enumerate(dict.fromkeys(places)):
                new = bare[:at] + mark + bare[at:]
                yield from judged(
                    file,
                    (line_edit(file, line, new),),
                    f"add the missing `{mark}`",
                    weight / (1 + 0.2 * rank),
                )
            other = "'" if mark == '"' else '"'
            for match in re.finditer(other, text):
                new = text[: match.start()] + mark + text[match.end() :]
                yield from judged(file, (line_edit(file, line, new),), arrow(other, mark), weight * 0.9)
            for match in re.finditer(mark, text):
                new = text[: match.start()] + text[match.end() :]
                yield from judged(
                    file, (line_edit(file, line, new),), f"drop the surplus `{mark}`", weight * 0.3
                )
                escaped = text[: match.start()] + "\\" + text[match.start() :]
                yield from judged(file, (line_edit(file, line, escaped),), f"escape `{mark}`", weight * 0.6)


def comma(site: Site) -> Iterator[Change]:
    """A comma between two items is missing: `Perhaps you forgot a comma?`."""
    for file, line, weight in lines_near(site):
        code, comment = split(file.lines.line_text(line))
        for rank, match in enumerate(list(re.finditer(r"(?<=[\w\"')\]}])\s+(?=[\w\"'(\[{])", code))[:15]):
            before = re.search(r"(\w+)$", code[: match.start()])
            if match.start() == 0 or (
                before and keyword.iskeyword(before.group(1)) and before.group(1) not in _VALUES
            ):
                continue
            new = code[: match.start()] + "," + code[match.start() :]
            yield from judged(
                file,
                (line_edit(file, line, new + comment),),
                "add the missing `,`",
                weight / (1 + 0.1 * rank),
            )
        if code and code[-1] not in ",:([{\\":
            yield from judged(
                file, (line_edit(file, line, code + "," + comment),), "add the missing `,`", weight * 0.6
            )


_VALUES = frozenset({"True", "False", "None"})


_HABITS: tuple[tuple[str, str], ...] = (
    # what other languages (and Python 2) write → what Python writes
    (r"\s*&&\s*", " and "), (r"\s*\|\|\s*", " or "), (r"!(?!=)\s*(?=[\w(])", "not "), (r"\belse\s+if\b", "elif"),
    (r"\belse?if\b|\belsif\b", "elif"), (r"(\b[\w.\[\]]+)\+\+", r"\1 += 1"), (r"(\b[\w.\[\]]+)--", r"\1 -= 1"),
    (r"\+\+(\w+)", r"\1 += 1"), (r"//(?=\s*[A-Za-z])", "#"), (r"/\*(.*?)\*/", r"# \1"), (r"=<", "<="), (r"=>", ">="),
    (r"=!", "!="), (r"<>", "!="), (r"===", "=="), (r"!==", "!="), (r"\bfunction\b", "def"), (r"\bfunc\b|\bfn\b", "def"),
    (r"^(\s*)(?:const|let|var|int|float|double|string|bool)\s+(?=\w+\s*=)", r"\1"), (r"\bnew\s+(?=\w+\()", ""),
    (r"\bcatch\b", "except"), (r"\bthrow\b", "raise"), (r"^(\s*)print\s+(?!\()(.+)$", r"\1print(\2)"),
    (r"\bexcept\s+([\w.]+)\s*,\s*(\w+)", r"except \1 as \2"), (r"\bexcept\s+([\w.]+(?:\s*,\s*[\w.]+)+)\s*:", r"except (\1):"),
    (r"\braise\s+([\w.]+)\s*,\s*(.+)$", r"raise \1(\2)"), (r"\b0(\d+)\b", r"0o\1"), (r"\bur(?=[\"'])", "r"),
    (r"\b(if|elif|while)\b(.*[^=!<>:])=([^=].*)$", r"\1\2==\3"),
    (r"^(\s*)(\w[\w.\[\]]*)\s*==\s*(.+)$", r"\1\2 = \3"), (r"^(\s*)(\w[\w.]*)\s*:\s*=\s*", r"\1\2 = "), (r"(\w)\s*=\s*:", r"\1 := "),
    (r"\breturn\s*=\s*", "return "), (r"(\d)\s*=\s*(\w+)$", r"\2 = \1"), (r"\.\.", "."), (r"->\s*:", ":"), (r"(\w)->(\w)", r"\1.\2"),
    (r"`([^`]+)`", r"repr(\1)"), (r"\bis\s+not\s+in\b", "not in"), (r"\bnot\s+is\b", "is not"), (r"\bforeach\b", "for"),
    (r"\bof\b", "in"), (r"^(\s*)def\s+(\w+)\s*:", r"\1def \2():"), (r";\s*$", ""), (r"\{\s*$", ":"), (r"^(\s*)\}\s*$", r"\1pass"),
    (r"\+\s*=", "+="), (r"\bnull\b|\bnil\b", "None"), (r"^(\s*)print\s*>>\s*(\S+),\s*(.+)$", r"\1print(\3, file=\2)"),
    (r"\bexec\s+(.+)$", r"exec(\1)"), (r"(\w+)\s*\?\s*(\w+)\s*:\s*(\w+)", r"\2 if \1 else \3"),
)  # fmt: skip


def habit(site: Site) -> Iterator[Change]:
    """`&&` → `and`, `else if` → `elif`, `i++` → `i += 1`, `print x` → `print(x)`, `if x = 1` → `if x == 1` …."""
    for file, line, weight in lines_near(site):
        code, comment = split(file.lines.line_text(line))
        for old, template in _HABITS:
            new = re.sub(old, template, code)
            if new != code and new.strip():
                title = arrow(code.strip(), new.strip())
                yield from judged(file, (line_edit(file, line, new + comment),), title, weight)


def misspelt_keyword(site: Site) -> Iterator[Change]:
    """`retrun x` → `return x`, `esle:` → `else:`, and keywords in capitals."""
    words = [*keyword.kwlist, "match", "case", "print"]
    for file, line, weight in lines_near(site):
        text = file.lines.line_text(line)
        for match in re.finditer(r"[A-Za-z]{2,}", split(text)[0]):
            word = match.group()
            if word in words:
                continue
            for rank, new in enumerate(difflib.get_close_matches(word, words, 2, 0.6)):
                changed = text[: match.start()] + new + text[match.end() :]
                yield from judged(
                    file, (line_edit(file, line, changed),), arrow(word, new), weight / (1 + 0.3 * rank)
                )


def default_order(site: Site) -> Iterator[Change]:
    """`non-default argument follows default argument`: give the rest a default, or `*` before them."""
    for file, line, weight in lines_near(site):
        function = file.function_at(line)
        if function is None:
            continue
        seen = False
        edits: list[TextEdit] = []
        for parameter in function.parameters:
            if parameter.default is not None:
                seen = True
            elif seen and parameter.kind == "plain":
                edits.append(
                    TextEdit(
                        parameter.node.end, parameter.node.end, " = None" if parameter.annotation else "=None"
                    )
                )
        if edits:
            yield Change(tuple(edits), "give the later parameters a default", weight)


def argument_order(site: Site) -> Iterator[Change]:
    """`positional argument follows keyword argument`: move it before the keywords."""
    for file, line, weight in lines_near(site):
        for node in file.root.walk():
            if node.kind != "argument_list" or not node.line <= line <= node.last_line:
                continue
            plain = [a.text for a in node.named if a.kind not in {"keyword_argument", "dictionary_splat"}]
            named = [a.text for a in node.named if a.kind in {"keyword_argument", "dictionary_splat"}]
            text = f"({', '.join([*plain, *named])})"
            if plain and named and text != node.text:
                yield Change((TextEdit(node.start, node.end, text),), arrow(node.text, text), weight)


def nested_quotes(site: Site) -> Iterator[Change]:
    """`f'{x['a']}'` before Python 3.12: the other quotes inside."""
    for file, line, weight in lines_near(site):
        text = file.lines.line_text(line)
        for match in re.finditer(r"\{[^{}]*\}", text):
            inner = match.group()
            for mark, other in (("'", '"'), ('"', "'")):
                if mark in inner:
                    new = text[: match.start()] + inner.replace(mark, other) + text[match.end() :]
                    yield Change(
                        (line_edit(file, line, new),), arrow(inner, inner.replace(mark, other)), weight * 0.8
                    )
