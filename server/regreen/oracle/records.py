"""What do the probe's records say, in our values?

Decodes the records of docs/internals/wire.md: unknown fields are ignored, missing ones are a broken protocol.
Lines become 0-based, and paths of the copy become the user's.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from regreen.errors import OracleFailed
from regreen.values import (
    ComparedCall,
    Comparison,
    Expression,
    Failure,
    Frame,
    Isolation,
    Local,
    TestOutcome,
    TestStatus,
)

T = TypeVar("T")

VERSION = 1
"""The version of the wire format that `hello` must name."""

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ProbeFacts:
    """What a probe says about its interpreter when it starts (`hello`).

    Args:
        python: its version.
        executable: what it calls itself.
        pytest: version of the user's pytest, None when there is none.
        fork: whether one process can serve many runs by forking.
        isolation: what keeps runs from doing harm; of a host, None for a cold process.
        prefix: the environment's folder.
        roots: folders that editable installs and .pth files add to the import path.
        bad: the top-level name of a module that a process which waits should not have been told to import, else "".
    """

    python: tuple[int, int, int]
    executable: Path
    pytest: str | None
    fork: bool
    isolation: Isolation | None
    prefix: Path
    roots: tuple[Path, ...]
    bad: str = ""


@dataclass(frozen=True, slots=True)
class Held:
    """What a process says of what it holds (`checked`).

    Args:
        changed: a folder or file that is no longer what it was when this process imported it, else "".
        memory: bytes that it takes; 0 where that is not known.
    """

    changed: str
    memory: int


@dataclass(frozen=True, slots=True)
class Preload:
    """What a process may import before a run needs it.

    Args:
        modules: from outside of the project.
        never: top-level names that must not come along.
    """

    modules: tuple[str, ...] = ()
    never: tuple[str, ...] = ()

    def without(self, top: str) -> Preload:
        """The same, but for one package."""
        return replace(self, modules=tuple(name for name in self.modules if name.partition(".")[0] != top))


def parse(line: bytes) -> Record:
    """One line of the probe as a record.

    Raises:
        OracleFailed: it is not a JSON object.
    """
    try:
        record = json.loads(line)
    except ValueError as error:
        raise OracleFailed(f"the probe sent a line that is not JSON: {line[:200]!r}") from error
    if not isinstance(record, dict):
        raise OracleFailed(f"the probe sent something else than an object: {line[:200]!r}")
    return record


def need(record: Record, name: str, kind: type[T]) -> T:
    """The field `name` of a record.

    Raises:
        OracleFailed: it is missing or of another kind.
    """
    value = record.get(name)
    if kind is float and type(value) is int:
        value = float(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        what = record.get("ev", "a part of a record")
        raise OracleFailed(f"the probe's {what} has {name} = {value!r}, not {kind.__name__}")
    return value


def need_all(record: Record, name: str, kind: type[T]) -> tuple[T, ...]:
    """The field `name` of a record, a list of one kind."""
    return tuple(need({"ev": name, "item": item}, "item", kind) for item in need(record, name, list))


def facts(record: Record) -> ProbeFacts:
    """Decode a `hello`."""
    version = need(record, "v", int)
    if version != VERSION:
        raise OracleFailed(f"the probe speaks version {version} of the protocol, we speak {VERSION}")
    python = need_all(record, "python", int)
    if len(python) != 3:
        raise OracleFailed(f"the probe's hello has python = {python}, not three numbers")
    return ProbeFacts(
        python=(python[0], python[1], python[2]),
        executable=Path(need(record, "executable", str)),
        pytest=None if record.get("pytest") is None else need(record, "pytest", str),
        fork=need(record, "fork", bool),
        isolation=None if record.get("isolation") is None else _isolation(need(record, "isolation", dict)),
        prefix=Path(need(record, "prefix", str)),
        roots=tuple(map(Path, need_all(record, "roots", str))),
        bad=need(record, "bad", str) if "bad" in record else "",
    )


def held(record: Record) -> Held:
    """Decode a `checked`."""
    return Held(need(record, "changed", str), need(record, "memory", int))


def preload(record: Record) -> Preload:
    """Decode the `preload` of a `finished`."""
    return Preload(need_all(record, "modules", str), need_all(record, "never", str))


def _isolation(record: Record) -> Isolation:
    leaks, wrapper = need_all(record, "leaks", str), need_all(record, "wrapper", str)
    return Isolation(need(record, "level", str), leaks, need(record, "why", str), wrapper)


class Paths:
    """Maps paths of a working copy to the user's and back.

    Args:
        roots: (user folder, its copy) pairs, longest user folder first.
    """

    def __init__(self, roots: Iterable[tuple[Path, Path]]) -> None:
        self.roots = tuple(roots)
        pairs = {(os.fspath(copy), user) for user, copy in self.roots}
        pairs |= {(os.path.realpath(copy), user) for user, copy in self.roots}  # what the project may see
        self._copies = sorted(
            ((os.path.normcase(copy), user) for copy, user in pairs), key=lambda pair: -len(pair[0])
        )
        self._known: dict[str, Path] = {}

    def user(self, path: str) -> Path:
        """The user's path of a file of the copy; any other path as it is."""
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = self._user(path)
        return known

    def _user(self, path: str) -> Path:
        folded = os.path.normcase(path)
        for copy, user in self._copies:
            if folded == copy:
                return user
            if folded.startswith(copy + os.sep):
                return user / path[len(copy) + 1 :]
        return Path(path)

    def copy(self, path: Path) -> Path:
        """The copy's path of a user's file.

        Raises:
            KeyError: it lies in none of the roots.
        """
        for user, copy in self.roots:
            if path.is_relative_to(user):
                return copy / path.relative_to(user)
        raise KeyError(path)


def frame(record: Record, paths: Paths) -> Frame:
    """Decode one frame."""
    values = [
        Local(*need_all({"ev": "frame", "local": item}, "local", str))
        for item in need(record, "locals", list)
        if len(item) == 3
    ]
    return Frame(
        path=paths.user(need(record, "path", str)),
        line=_line(record),
        function=need(record, "function", str),
        own=need(record, "own", bool),
        locals=tuple(values),
    )


def _line(record: Record) -> int:
    return max(need(record, "line", int) - 1, 0)


def frames(record: Record, paths: Paths) -> tuple[Frame, ...]:
    """Decode the `frames` of a record."""
    return tuple(frame(item, paths) for item in need_all(record, "frames", dict))


def _comparison(record: Record | None) -> Comparison | None:
    if record is None:
        return None
    return Comparison(
        op=need(record, "op", str),
        left=need(record, "left", str),
        right=need(record, "right", str),
        left_type=need(record, "left_type", str),
        right_type=need(record, "right_type", str),
    )


def failure(record: Record, paths: Paths, nodeid: str, path: Path, line: int, seconds: float) -> Failure:
    """Decode a `failure` of the test that is defined at `path`, `line` (0-based)."""
    hints = need(record, "hints", dict)
    return Failure(
        nodeid=nodeid,
        phase=need(record, "phase", str),
        exception=need(record, "exception", str),
        message=need(record, "message", str),
        frames=frames(record, paths),
        path=path,
        line=line,
        comparison=_comparison(record.get("comparison")),
        hints={name: need(hints, name, str) for name in hints},
        output=need(record, "output", str),
        seconds=seconds,
    )


def expression(record: Record, paths: Paths) -> Expression:
    """Decode an `expression`."""
    return Expression(
        path=paths.user(need(record, "path", str)),
        start=(need(record, "line", int) - 1, need(record, "column", int)),
        end=(need(record, "end_line", int) - 1, need(record, "end_column", int)),
        text=need(record, "text", str),
        kind=need(record, "kind", str),
        size=need(record, "size", int),
        fits=need(record, "fits", bool),
    )


def outcome(record: Record, paths: Paths) -> TestOutcome:
    """Decode a `test`."""
    nodeid = need(record, "nodeid", str)
    path = paths.user(need(record, "path", str))
    line = _line(record)
    seconds = need(record, "seconds", float)
    try:
        status = TestStatus(need(record, "outcome", str))
    except ValueError as error:
        raise OracleFailed(f"the probe gave {nodeid} an outcome that is not one: {error}") from error
    told = record.get("failure")
    if told is None and status.is_red:
        raise OracleFailed(f"the probe called {nodeid} {status.value} without saying why")
    return TestOutcome(
        nodeid=nodeid,
        status=status,
        seconds=seconds,
        path=path,
        line=line,
        markers=frozenset(need_all(record, "markers", str)),
        failure=None if told is None else failure(told, paths, nodeid, path, line, seconds),
    )


def covered(record: Record, paths: Paths) -> dict[Path, frozenset[int]]:
    """Decode the `lines` of a record: user's file → 0-based lines."""
    lines = need(record, "lines", dict)
    for path in lines:
        if not all(type(number) is int for number in need(lines, path, list)):
            raise OracleFailed(f"the probe covered lines of {path} that are not numbers")
    return {paths.user(path): frozenset(n - 1 for n in numbers) for path, numbers in lines.items()}


def compared(record: Record) -> ComparedCall:
    """Decode a `compared`."""
    answers = need_all(record, "answers", str)
    before, after = need(record, "before", int), need(record, "after", list)
    if not all(
        type(n) is int and 0 <= n < len(answers) for n in [before, *(n for n in after if n is not None)]
    ):
        raise OracleFailed(f"the probe gave {record.get('call')} answers that it does not name")
    return ComparedCall(
        call=need(record, "call", str),
        test=need(record, "test", str),
        before=answers[before],
        after=tuple(None if n is None else answers[n] for n in after),
    )
