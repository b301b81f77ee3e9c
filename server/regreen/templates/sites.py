"""At which statements are templates tried, and how suspicious is each?

The statement on a suspect's line comes first, then the statements around it, then the rest of its function
and the module-level values that the function reads, each with less weight.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from regreen.source import CLAUSES, STATEMENTS, Function, Node, ProjectSources, SourceFile
from regreen.templates.evidence import Evidence
from regreen.templates.facts import Facts
from regreen.templates.guesses import argument_types
from regreen.templates.model import Site
from regreen.templates.scope import Scope
from regreen.values import Failure, Suspect

_AROUND = 0.85  # weight of a statement around the suspect's
_FUNCTION = 0.45  # … of the other statements of its function
_MODULE = 0.4  # … of a module-level statement that the function reads
_LONGEST = 120  # statements of a function that are looked at beside the suspects'


def is_test_path(path: Path, root: Path) -> bool:
    """Whether a file belongs to the tests by its name or folder, so that no candidate may change it."""
    inside = path.relative_to(root) if path.is_relative_to(root) else PurePath(path.name)
    stem = path.stem
    return (
        stem.startswith("test_")
        or stem.endswith("_test")
        or stem in {"conftest", "tests", "test"}
        or any(part in {"test", "tests", "testing"} for part in inside.parts[:-1])
    )


def frame_suspects(failure: Failure) -> list[Suspect]:
    """Take the project's frames as suspects, innermost first; for a collection error the last one, whoever's."""
    last = failure.frames[-1:]
    own = [frame for frame in reversed(failure.frames) if frame.own or frame in last]
    return [
        Suspect(frame.path, frame.line, max(0.05, 1.0 - 0.1 * depth), frame.function, "on the traceback")
        for depth, frame in enumerate(own)
    ]


def named_suspects(failure: Failure, sources: ProjectSources) -> list[Suspect]:
    """Find what the failing line of the test names: functions that were never entered, imported modules."""
    test = sources.get(failure.path)
    frame = next((frame for frame in reversed(failure.frames) if frame.path == failure.path), None)
    statement = test.statement_at(frame.line) if test is not None and frame is not None else None
    if test is None or statement is None:
        return []
    named = {node.text for node in statement.walk() if node.kind == "identifier"}
    modules = [sources.module_file(one.module, test.path) for one in test.imports]
    modules += [
        sources.module_file(f"{one.module}.{one.name}", test.path) for one in test.imports if one.name
    ]
    found: list[Suspect] = []
    for path in dict.fromkeys(path for path in modules if path is not None):
        file = sources.get(path)
        functions = [f for f in file.functions if f.name in named] if file is not None else []
        found += [Suspect(path, f.node.line, 0.4, f.qualname, "named by the failing line") for f in functions]
        if file is not None and not functions:
            found.append(Suspect(path, 0, 0.2, "", "imported by the test"))
    return found


@dataclass
class _Places:
    """The statements found so far, with the best score and the suspect that gave it."""

    best: dict[tuple[Path, int, int], tuple[float, Suspect, SourceFile, Node]] = field(default_factory=dict)

    def add(self, file: SourceFile, statement: Node, score: float, suspect: Suspect) -> None:
        key = (file.path, *statement.span)
        if key not in self.best or self.best[key][0] < score:
            self.best[key] = (score, suspect, file, statement)


def find(
    suspects: Iterable[Suspect], sources: ProjectSources, evidence: Evidence
) -> list[tuple[Site, float]]:
    """List every statement worth a look, each once with its highest suspiciousness, best first."""
    places = _Places()
    functions: dict[tuple[Path, int], tuple[Suspect, SourceFile, Function]] = {}
    for suspect in suspects:
        file = sources.get(suspect.path)
        if file is None or suspect.path == evidence.failure.path or is_test_path(suspect.path, sources.root):
            continue
        function = file.function_at(suspect.line)
        for statement, factor in _at(file, suspect.line, function):
            places.add(file, statement, suspect.suspiciousness * factor, suspect)
        if function is not None:
            key = (file.path, function.span[0])
            if key not in functions or functions[key][0].suspiciousness < suspect.suspiciousness:
                functions[key] = (suspect, file, function)
    for suspect, file, function in functions.values():
        for statement, factor in _beside(file, function):
            places.add(file, statement, suspect.suspiciousness * factor, suspect)
    return sorted(_as_sites(places, sources, evidence), key=lambda found: -found[1])


def _at(file: SourceFile, line: int, function: Function | None) -> Iterator[tuple[Node, float]]:
    """The suspect's statement and those around it, inside of its function."""
    around = [s for s in file.statements_around(line) if function is None or _inside(s, function)]
    for depth, statement in enumerate(reversed(around)):
        yield statement, _AROUND**depth
    if not around:
        yield file.root, 1.0


def _beside(file: SourceFile, function: Function) -> Iterator[tuple[Node, float]]:
    """The other statements of a function, and the values of the module and of its classes that it reads."""
    statements = (node for node in function.body.walk() if node.kind in STATEMENTS or node.kind in CLAUSES)
    for node in itertools.islice(statements, _LONGEST):
        yield node, _FUNCTION
    yield function.node, _FUNCTION
    read_names = function.names().read
    for node in file.top_level:
        if node.kind != "expression_statement":
            continue
        targets = {n.text for n in itertools.islice(node.walk(), 12) if n.kind == "identifier"}
        if any(name in read_names for name in targets):
            yield node, _MODULE
    read_attributes = Facts(function.body).attributes_read
    for node in (node for one in file.classes for node in one.body.named):
        target = _assigned(node)
        if target is not None and target.text in read_attributes:
            yield node, _MODULE


def _assigned(statement: Node) -> Node | None:
    """The name that a statement assigns to; None where it assigns nothing, or something else."""
    inner = statement.named[0] if statement.kind == "expression_statement" and statement.named else None
    return inner.field("left") if inner is not None and inner.kind == "assignment" else None


def _inside(statement: Node, function: Function) -> bool:
    return function.span[0] <= statement.start and statement.end <= function.span[1]


def _as_sites(places: _Places, sources: ProjectSources, evidence: Evidence) -> Iterator[tuple[Site, float]]:
    scopes: dict[tuple[Path, int], Scope] = {}
    facts: dict[Path, Facts] = {}
    test = sources.get(evidence.failure.path)
    crash = evidence.crash
    for score, suspect, file, statement in places.best.values():
        function = file.function_at(statement.line)
        mark = (file.path, function.span[0] if function else -1)
        if mark not in scopes:
            whole = facts.setdefault(file.path, Facts(file.root))
            types = argument_types(function, test) if function and test else {}
            scopes[mark] = Scope(file, function, evidence.failure, whole, types)
        crashed = crash is not None and crash.path == file.path and file.statement_at(crash.line) == statement
        yield Site(evidence, file, sources, function, statement, suspect, scopes[mark], crashed), score
