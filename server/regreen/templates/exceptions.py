"""Exceptions: the wrong type raised, one that must be converted or caught, and ones caught too eagerly."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator

from regreen.source import Node
from regreen.templates.arguments import calls
from regreen.templates.atoms import names_at
from regreen.templates.exits import can_precede
from regreen.templates.guards import not_raised
from regreen.templates.model import Change, Site
from regreen.templates.rewrite import arrow, indentation, replace_lines, step, swap
from regreen.templates.scope import names_of
from regreen.values import TextEdit

_RAISES = re.compile(r"(?:raises|assertRaises|assertRaisesRegex)\(\s*\(?\s*([\w.]+(?:\s*,\s*[A-Z][\w.]*)*)")
RELATED = {
    "KeyError": ("LookupError", "IndexError"), "IndexError": ("LookupError", "KeyError"), "ValueError": ("TypeError",),
    "TypeError": ("ValueError",), "OSError": ("FileNotFoundError",), "FileNotFoundError": ("OSError",),
    "AttributeError": ("TypeError",), "ZeroDivisionError": ("ArithmeticError", "ValueError"),
    "UnicodeDecodeError": ("UnicodeError", "ValueError"),
}  # fmt: skip
_RAISES_WHAT = {
    # functions that say no by raising → what
    "int": "ValueError", "float": "ValueError", "Decimal": "ArithmeticError", "strptime": "ValueError",
    "fromisoformat": "ValueError", "index": "ValueError", "remove": "ValueError", "loads": "ValueError",
    "literal_eval": "ValueError", "decode": "UnicodeError", "encode": "UnicodeError", "next": "StopIteration",
    "import_module": "ImportError", "open": "OSError", "read_text": "OSError", "stat": "OSError", "getattr": "AttributeError",
    "relative_to": "ValueError", "ip_address": "ValueError", "UUID": "ValueError", "compile": "ValueError",
}  # fmt: skip


def awaited(site: Site) -> str:
    """Return the exception that the failing line of the test waits for; empty when it waits for none."""
    if name := not_raised(site):
        return name
    test = site.sources.get(site.evidence.failure.path)
    for frame in site.evidence.failure.frames if test is not None else ():
        if test is not None and frame.path == test.path:
            for statement in reversed(test.statements_around(frame.line)):
                head = test.text[statement.start : test.lines.end(statement.line)]
                match = _RAISES.search(head)
                if match is not None:
                    return match.group(1).split(",")[0].rpartition(".")[2]
    return ""


def raised_type(site: Site) -> Iterator[Change]:
    """`raise KeyError(…)` → `raise ValueError(…)`: the type the test waits for."""
    wanted = awaited(site)
    if site.statement.kind != "raise_statement" or not site.statement.named or not wanted:
        return
    value = site.statement.named[0]
    called = value.field("function") if value.kind == "call" else value
    if (
        called is not None
        and called.text.rpartition(".")[2] != wanted
        and called.kind in {"identifier", "attribute"}
    ):
        yield Change((swap(called, wanted),), arrow(f"raise {called.text}", f"raise {wanted}"))


def converted(site: Site) -> Iterator[Change]:
    """The statement raises A where the test waits for B: `try: … except A as error: raise B(…) from error`."""
    wanted, raised = awaited(site), site.evidence.exception
    if (
        not wanted
        or wanted == raised
        or not site.crashed
        or not can_precede(site)
        or raised in {"Failed", "AssertionError"}
    ):
        return
    if site.statement.kind not in {"expression_statement", "return_statement"}:
        return
    more = step(site.file)
    indent = indentation(site.file, site.statement)
    body = site.statement.text.replace("\n", f"\n{more}") if indent else site.statement.text
    code = f"try:\n{more}{body}\nexcept {raised} as error:\n{more}raise {wanted}(str(error)) from error"
    yield Change((replace_lines(site.file, site.statement, code),), f"turn {raised} into {wanted}")


def caught(site: Site) -> Iterator[Change]:
    """Catch what the statement raises: `except KeyError: return None` and the like."""
    raised = site.evidence.exception
    if (
        not site.crashed
        or not can_precede(site)
        or not raised.endswith(("Error", "Exception", "StopIteration"))
    ):
        return
    if site.statement.kind not in {"expression_statement", "return_statement"} or "\n" in site.statement.text:
        return
    if raised in {
        "AssertionError",
        "NameError",
        "UnboundLocalError",
        "ImportError",
        "ModuleNotFoundError",
        "SyntaxError",
    }:
        return
    yield from _tried(site, raised)


def foreseen(site: Site) -> Iterator[Change]:
    """Catch what a call is known to raise, where someone on the way to the test has caught it already."""
    if (
        site.crashed
        or not can_precede(site)
        or site.statement.kind not in {"expression_statement", "return_statement"}
        or "\n" in site.statement.text
        or any(up.kind == "try_statement" for up in site.statement.up())
    ):
        return
    called = {simple for _, simple, _ in calls(site)}
    for raised in dict.fromkeys(_RAISES_WHAT[name] for name in sorted(called & _RAISES_WHAT.keys())):
        yield from _tried(site, raised)


def _tried(site: Site, raised: str) -> Iterator[Change]:
    """`try:` the statement, `except` the exception, and then every way to go on."""
    more = step(site.file)
    for rank, way in enumerate(_ways_on(site)):
        code = f"try:\n{more}{site.statement.text}\nexcept {raised}:\n{more}{way}"
        title = f"on {raised}: `{way}`"
        yield Change((replace_lines(site.file, site.statement, code),), title, 1 / (1 + 0.3 * rank))


def _ways_on(site: Site) -> list[str]:
    """What may be done instead of a statement, most likely first."""
    ways = ["return None", "return False", "return []", 'return ""', "return 0", "pass"]
    inner = site.statement.named[0] if site.statement.named else None
    left = inner.field("left") if inner is not None and inner.kind == "assignment" else None
    usable = {*names_at(site), *site.file.names.bound, *dir(builtins)}
    if left is not None and left.kind in {"identifier", "attribute", "subscript"}:
        keep = ["pass"] if left.text in names_at(site) else []
        ways = [*keep, *(f"{left.text} = {value}" for value in ("None", "False", "0", '""', "[]")), *ways]
    elif site.statement.kind == "return_statement":
        others = (v.text for v in site.scope.facts.returned if names_of(v) <= usable and "\n" not in v.text)
        returned = [f"return {text}" for text in others]
        ways = [way for way in [*returned[:3], *ways] if way != site.statement.text]
    if any(up.kind in {"for_statement", "while_statement"} for up in site.statement.up()):
        ways.insert(0, "continue")
    return list(dict.fromkeys(ways))


def widened(site: Site) -> Iterator[Change]:
    """`except KeyError` → `except (KeyError, IndexError)`: the type that came through."""
    raised = site.evidence.exception
    crash = site.evidence.crash
    for clause in _clauses(site):
        owner = clause.parent
        inside = crash is not None and owner is not None and owner.line <= crash.line < clause.line
        value = _caught_by(clause)
        if value is None or (not inside and not site.evidence.failure.frames):
            continue
        old = value.text.strip("()")
        if not raised or raised in old or raised in {"AssertionError", "Failed", "Timeout"}:
            continue
        new = f"({old.rstrip(', ')}, {raised})"
        yield Change(
            (swap(value, new),), arrow(f"except {value.text}", f"except {new}"), 1.0 if inside else 0.3
        )
        yield Change(
            (swap(value, raised),), arrow(f"except {value.text}", f"except {raised}"), 0.6 if inside else 0.2
        )


def _clauses(site: Site) -> Iterator[Node]:
    if site.statement.kind == "except_clause":
        yield site.statement
    elif site.statement.kind == "try_statement":
        yield from (child for child in site.statement.named if child.kind == "except_clause")
    else:
        for up in site.statement.up():
            if up.kind == "try_statement":
                yield from (child for child in up.named if child.kind == "except_clause")
            if up.kind == "function_definition":
                return


def _caught_by(clause: Node) -> Node | None:
    """The types an except clause names, None for a bare one."""
    first = next((child for child in clause.named if child.kind != "block"), None)
    if first is not None and first.kind == "as_pattern":
        return first.named[0]
    return first


def other_type(site: Site) -> Iterator[Change]:
    """`except KeyError` → `except IndexError` …: a related type."""
    for clause in _clauses(site) if site.statement.kind in {"except_clause", "try_statement"} else ():
        value = _caught_by(clause)
        for rank, new in enumerate(RELATED.get(value.text, ()) if value is not None else ()):
            if value is not None:
                yield Change(
                    (swap(value, new),), arrow(f"except {value.text}", f"except {new}"), 1 / (1 + rank)
                )


def swallowed(site: Site) -> Iterator[Change]:
    """`except E: pass` → `raise`; `except Exception` → the narrower type the code can raise."""
    if site.statement.kind != "except_clause":
        return
    block = next((child for child in site.statement.named if child.kind == "block"), None)
    if block is None or not block.named:
        return
    wanted = awaited(site)
    last = block.named[-1]
    if last.kind in {"pass_statement", "return_statement", "continue_statement"}:
        yield Change((swap(last, "raise"),), arrow(last.text, "raise"))
        if wanted:
            yield Change((swap(last, f"raise {wanted}"),), arrow(last.text, f"raise {wanted}"), 0.8)
    elif last.kind == "raise_statement":
        yield Change((swap(last, "pass"),), arrow(last.text, "pass"), 0.5)
        yield Change((swap(last, "return None"),), arrow(last.text, "return None"), 0.5)


def instead_of_return(site: Site) -> Iterator[Change]:
    """`return None` → `raise ValueError`, where the test waits for it."""
    wanted = not_raised(site)
    if site.statement.kind != "return_statement" or not wanted:
        return
    value = site.statement.named[0].text if site.statement.named else ""
    if value in {"", "None", "False", "0", "-1", '""', "''", "[]", "{}"}:
        edit = TextEdit(site.statement.start, site.statement.end, f"raise {wanted}")
        yield Change((edit,), arrow(site.statement.text, f"raise {wanted}"))
