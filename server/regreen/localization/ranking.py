"""Which statements may be at fault, best first?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path

from regreen.localization.named import places
from regreen.localization.spectrum import Place, ochiai
from regreen.localization.stack import bonuses
from regreen.source import Node, ProjectSources, SourceFile, names
from regreen.values import Failure, Spectrum, Suspect

READ_BY_FUNCTION = 0.6
"""A module's or class's statement is this suspicious, relative to the functions that read its names."""

READ_BY_TEST = 0.3
"""How suspicious a statement is that the test itself reads: tests mostly compare with what they import."""

LIMIT = 250


def rank(
    failure: Failure,
    spectrum: Spectrum,
    *,
    passing: Iterable[str],
    sources: ProjectSources,
    may_change: Callable[[Path], bool],
    limit: int = LIMIT,
) -> tuple[Suspect, ...]:
    """Rank the statements that may be at fault for one failure.

    The score is the Ochiai coefficient of the line plus a bonus for lines of the traceback, scaled to [0, 1].
    Statements at module and class level are in no test's spectrum: they inherit from the functions that read
    the names they bind.

    Args:
        failure: the red test.
        spectrum: lines executed by it and by the green tests.
        passing: node ids that are green.
        sources: the project's text.
        may_change: whether a patch may touch a file (tests and configuration may not be).
        limit: how many suspects to return.
    """
    scores: dict[Place, float] = {}
    reasons: dict[Place, str] = {}
    if not failure.is_collection:
        scores.update(ochiai(spectrum, (failure.nodeid,), passing))
    for place, bonus in bonuses(failure, lambda path: not may_change(path)).items():
        scores[place] = scores.get(place, 0.0) + bonus
        reasons[place] = "on the traceback"
    for place in places(failure, sources):
        scores[place] = max(scores.get(place, 0.0), 0.9)
        reasons[place] = "named by the message"
    if failure.is_collection:
        scores.update({(frame.path, frame.line): 1.5 for frame in failure.frames[-1:]})
    scores = {place: value for place, value in scores.items() if may_change(place[0])}
    for place, value in _outside_functions(scores, sources):
        if may_change(place[0]) and value > scores.get(place, 0.0):
            scores[place] = value
            reasons[place] = "read by suspicious code"
    for place in _read_by_test(failure, sources):
        if may_change(place[0]) and place not in scores:
            scores[place] = READ_BY_TEST
            reasons[place] = "read by the test"
    top = max(scores.values(), default=1.0) or 1.0
    best = sorted(scores.items(), key=lambda item: (-item[1], str(item[0][0]), item[0][1]))[:limit]
    return tuple(
        Suspect(
            path,
            line,
            min(1.0, value / max(1.0, top)),
            _function(sources, path, line),
            reasons.get((path, line), ""),
        )
        for (path, line), value in best
    )


def _function(sources: ProjectSources, path: Path, line: int) -> str:
    parsed = sources.get(path)
    function = parsed.function_at(line) if parsed else None
    return function.qualname if function else ""


def _outside_functions(
    scores: Mapping[Place, float], sources: ProjectSources
) -> Iterator[tuple[Place, float]]:
    """Statements at module and class level, scored by the functions that read what they bind."""
    by_file: dict[Path, dict[int, float]] = {}
    for (path, line), value in scores.items():
        by_file.setdefault(path, {})[line] = value
    for path, lines in by_file.items():
        parsed = sources.get(path)
        if parsed is None:
            continue
        for function in parsed.functions:
            value = max(
                (v for line, v in lines.items() if function.first_line <= line <= function.last_line),
                default=0.0,
            )
            if not value:
                continue
            read = function.names().read
            for definition in _binding(parsed, read, sources):
                yield definition, value * READ_BY_FUNCTION
            yield from (
                ((path, parameter.default.line), value * READ_BY_FUNCTION)
                for parameter in function.parameters
                if parameter.default is not None
            )
            if function.owner and (owner := parsed.class_named(function.owner)):
                for statement in owner.body.named:
                    if statement.kind == "expression_statement" and not _is_string(statement):
                        yield (path, statement.line), value * READ_BY_FUNCTION * 0.7


def _read_by_test(failure: Failure, sources: ProjectSources) -> Iterator[Place]:
    """Statements at module level that bind what the test itself reads: it may call no function of the project."""
    parsed = sources.get(failure.path)
    if parsed is None:
        return
    lines = [failure.line, *(frame.line for frame in failure.frames if frame.path == failure.path)]
    functions = {function.qualname: function for line in lines if (function := parsed.function_at(line))}
    for function in functions.values():
        yield from _binding(parsed, function.names().read, sources)


def _binding(parsed: SourceFile, read: Collection[str], sources: ProjectSources) -> Iterator[Place]:
    """Module-level assignments that bind one of these names, here or in the module it is imported from."""
    for statement in _assignments(parsed):
        if not names(statement).bound.isdisjoint(read):
            yield parsed.path, statement.line
    for imported in parsed.imports:
        if imported.bound not in read or not imported.name:
            continue
        path = sources.module_file(imported.module, parsed.path)
        other = sources.get(path) if path else None
        if other is None:
            continue
        for statement in _assignments(other):
            if imported.name in names(statement).bound:
                yield other.path, statement.line


def _assignments(parsed: SourceFile) -> Iterator[Node]:
    yield from (
        node for node in parsed.top_level if node.kind == "expression_statement" and not _is_string(node)
    )


def _is_string(statement: Node) -> bool:
    return bool(statement.named) and statement.named[0].kind == "string"
