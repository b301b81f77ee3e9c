"""What is known about one failure that a model needs to see?

One failure, never a log: what was expected and what came, the project's own frames with their variables, the suspects,
the code on the trace, what it calls, and what was tried. Files that must not be sent are not in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from regreen import edits
from regreen.llm.fitting import Section
from regreen.source import Function, ProjectSources, SourceFile, signature
from regreen.values import Attempt, Failure, Frame, Suspect

FRAMES = 10
"""The project's own frames that are shown, those nearest to the failure."""
LOCALS = 12
"""Variables of one frame."""
VALUE = 200
"""Characters of one value."""
MESSAGE = 40
"""Lines of the exception's message."""
FUNCTIONS = 8
"""Functions whose code is shown."""
SUSPECTS = 12
CALLED = 20
"""Signatures of functions that these call."""
AROUND = 4
"""Lines around a suspicious statement outside of functions."""
OUTPUT = 20
"""Last lines that the test printed."""

Sendable = Callable[[Path], str]
"""Why a file must not be sent, "" when it may."""


def sections(
    failure: Failure,
    suspects: Sequence[Suspect],
    sources: ProjectSources,
    sendable: Sendable,
    *,
    tried: Mapping[str, int] | None = None,
) -> tuple[Section, ...]:
    """Gather the evidence that stays the same for the whole heal.

    Args:
        failure: the red test.
        suspects: the most suspicious places, best first.
        sources: the project.
        sendable: keeps files out.
        tried: how many candidates of the repair templates ended with which verdict.
    """
    found = [
        _failure(failure, sources),
        *_frames(failure, sources, sendable),
        *_test(failure, sources, sendable),
        *_code(failure, suspects, sources, sendable),
        *_suspects(suspects, sources, sendable),
        *_called(failure, suspects, sources, sendable),
        *_tried(tried or {}),
        *_output(failure),
    ]
    return tuple(found)


def _failure(failure: Failure, sources: ProjectSources) -> Section:
    lines = [f"test: {failure.nodeid}", f"phase: {failure.phase}", f"exception: {failure.exception}"]
    if (said := failure.comparison) is not None:
        lines += [
            f"asserted: left {said.op} right",
            f"left: {_short(said.left)} ({said.left_type})",
            f"right: {_short(said.right)} ({said.right_type})",
        ]
    own = [frame for frame in failure.frames if frame.own]
    if own:
        lines.append(f"raised at: {_place(own[-1].path, own[-1].line, sources)} in {own[-1].function}")
    message = failure.message.strip().splitlines()
    lines += ["message:", *(f"  {_short(line, 400)}" for line in message[:MESSAGE])]
    if len(message) > MESSAGE:
        lines.append(f"  … and {len(message) - MESSAGE} more lines")
    lines += [f"{name}: {_short(value)}" for name, value in sorted(failure.hints.items())]
    return Section("The failure:", tuple(lines), "failure", 0)


def _frames(failure: Failure, sources: ProjectSources, sendable: Sendable) -> Iterator[Section]:
    own = [frame for frame in failure.frames if frame.own and not sendable(frame.path)][-FRAMES:]
    lines: list[str] = []
    for frame in own:
        lines.append(
            f"{_place(frame.path, frame.line, sources)} in {frame.function}: {_line(frame, sources)}"
        )
        lines += [f"    {one.name}: {one.type} = {_short(one.value)}" for one in frame.locals[:LOCALS]]
    if lines:
        yield Section(
            "The project's own frames, outermost first, with their variables:", tuple(lines), "frames", 1
        )


def _test(failure: Failure, sources: ProjectSources, sendable: Sendable) -> Iterator[Section]:
    source = None if sendable(failure.path) else sources.get(failure.path)
    if source is None:
        return
    function = source.function_at(failure.line)
    frames = [frame.line for frame in failure.frames if frame.path == failure.path]
    line = frames[-1] if frames else failure.line
    first, last = (function.first_line, function.last_line) if function else (line - AROUND, line + AROUND)
    yield _numbered(
        f"The test ({edits.relative(failure.path, sources.root)}):", source, first, last, 2, sources
    )


def _code(
    failure: Failure, suspects: Sequence[Suspect], sources: ProjectSources, sendable: Sendable
) -> Iterator[Section]:
    for place, (source, function, first, last) in enumerate(_places(failure, suspects, sources, sendable)):
        path = edits.relative(source.path, sources.root)
        name = function.qualname if function is not None else ""
        yield _numbered(
            f"Code that it runs, {name or 'at module level'} ({path}):",
            source,
            first,
            last,
            3 + place,
            sources,
        )


def _places(
    failure: Failure, suspects: Sequence[Suspect], sources: ProjectSources, sendable: Sendable
) -> list[tuple[SourceFile, Function | None, int, int]]:
    """Where the code stands that a fix may be in: of the frames, innermost first, then of the suspects.

    Each is a function, or lines around a statement outside of any: its first and last line.
    """
    frames = [(frame.path, frame.line) for frame in reversed(failure.frames) if frame.own]
    wanted = [*frames, *((one.path, one.line) for one in suspects)]
    found: list[tuple[SourceFile, Function | None, int, int]] = []
    for path, line in wanted:
        source = None if path == failure.path or sendable(path) else sources.get(path)
        if source is None:
            continue
        function = source.function_at(line)
        if any(one.path == path and first <= line <= last for one, _, first, last in found):
            continue
        whole = (function.first_line, function.last_line) if function is not None else None
        first, last = whole or (max(0, line - AROUND), line + AROUND)
        found.append((source, function, first, last))
        if len(found) == FUNCTIONS:
            break
    return found


def attempted(attempts: Sequence[Attempt]) -> Iterator[Section]:
    """Show patches that a model wrote, the newest first, with what became of them."""
    for number, one in enumerate(reversed(attempts)):
        lines = [f"strategy: {one.strategy}", f"ended: {one.verdict}: {one.reason}", *one.diff.splitlines()]
        yield Section("A patch that was tried and failed:", tuple(lines), "attempt", 4 + 2 * number)


def _suspects(suspects: Sequence[Suspect], sources: ProjectSources, sendable: Sendable) -> Iterator[Section]:
    lines = [
        f"{one.suspiciousness:.2f}  {_place(one.path, one.line, sources)}  {_text(one.path, one.line, sources)}"
        for one in suspects[:SUSPECTS]
        if not sendable(one.path)
    ]
    if lines:
        yield Section(
            "Suspicious lines, by how far failing and passing tests run them (1 is the most):",
            tuple(lines),
            "suspects",
            12,
        )


def _called(
    failure: Failure, suspects: Sequence[Suspect], sources: ProjectSources, sendable: Sendable
) -> Iterator[Section]:
    shown = _places(failure, suspects, sources, sendable)
    here = {(source.path, first) for source, _, first, _ in shown}
    lines: dict[str, None] = {}
    for source, caller, _, _ in shown:
        for name in _called_names(caller) if caller is not None else ():
            for path in (source.path, *sources.defining(name)):
                other = None if sendable(path) else sources.get(path)
                for function in other.functions if other is not None else ():
                    if function.name == name and (path, function.first_line) not in here:
                        lines[f"{_place(path, function.first_line, sources)}  {signature(function)}"] = None
    if lines:
        yield Section("What this code calls:", tuple(lines)[:CALLED], "signatures", 13)


def _called_names(function: Function) -> Iterator[str]:
    for node in function.node.walk():
        called = node.field("function") if node.kind == "call" else None
        if called is not None:
            yield called.text.rpartition(".")[2]


def _tried(tried: Mapping[str, int]) -> Iterator[Section]:
    lines = [f"{verdict}: {count}" for verdict, count in sorted(tried.items())]
    if lines:
        title = "One-place edits by fixed templates were tried before (operators, constants, names, guards); all failed:"
        yield Section(title, tuple(lines), "tried", 14)


def _output(failure: Failure) -> Iterator[Section]:
    lines = failure.output.strip().splitlines()[-OUTPUT:]
    if lines:
        yield Section(
            "The last lines that the test printed:", tuple(_short(one, 300) for one in lines), "output", 15
        )


def _numbered(
    title: str, source: SourceFile, first: int, last: int, rank: int, sources: ProjectSources
) -> Section:
    first, last = max(0, first), min(last, source.lines.line_at(len(source.text)))
    shown = tuple(f"{number + 1:>5}  {source.lines.line_text(number)}" for number in range(first, last + 1))
    return Section(title, shown, "code", rank, edits.relative(source.path, sources.root), first)


def _place(path: Path, line: int, sources: ProjectSources) -> str:
    return f"{edits.relative(path, sources.root)}:{line + 1}"


def _line(frame: Frame, sources: ProjectSources) -> str:
    return _text(frame.path, frame.line, sources)


def _text(path: Path, line: int, sources: ProjectSources) -> str:
    source = sources.get(path)
    return source.lines.line_text(line).strip()[:160] if source is not None else ""


def _short(text: str, limit: int = VALUE) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"
