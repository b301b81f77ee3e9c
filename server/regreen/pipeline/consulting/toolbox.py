"""How are the debugger's tools made of the oracle and the snapshot?

Whatever it asks to be run is run as a model's patch is: in the confinement, in a private copy, and refused where
nothing confines it.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from regreen import edits
from regreen.llm.toolbox import TOOLS
from regreen.pipeline.consulting.looking import MARK, one_expression, refusal, with_look
from regreen.pipeline.parts import Tools
from regreen.pipeline.screening import Field
from regreen.platform.background import run_blocking
from regreen.source import Class, Function, SourceFile, signature
from regreen.validation.ladder import request_for
from regreen.values import Attempt, Frame, RunReport, RunRequest, TestStatus

LINES = 120
"""How many lines one look shows at most."""
PLACES = 20
"""And how many places where a name stands."""
OUTPUT = 2000
"""And how many characters a run may print."""
SECONDS = 20.0
"""How long one run may take."""

HIDDEN_BYTES = 200_000
"""A file that must not be shown is known again in what a run says up to this size."""

_SET = re.compile(r"\s*[=:]\s*")
_WORD = re.compile(r"[A-Za-z_][\w.]*")


@dataclass(slots=True)
class ProjectToolbox:
    """The tools for one red test.

    Args:
        field: the red test and the project's text.
        tools: the project's parts.
        sendable: why a file must not be shown to a model, "" when it may.
        attempts: what was tried so far.
        seconds: how long one run may take.
    """

    field: Field
    tools: Tools
    sendable: Callable[[Path], str]
    attempts: Sequence[Attempt] = ()
    seconds: float = SECONDS
    _hidden: Mapping[str, str] | None = dataclasses.field(default=None, init=False)

    async def use(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Use a tool; what goes wrong is told in the text, for the model."""
        tools: Mapping[str, Callable[..., Awaitable[str]]] = {
            "read": self._read,
            "find": self._find,
            "value": self._value,
            "snippet": self._snippet,
            "test": self._test,
            "signature": self._signature,
            "attempts": self._attempts,
        }
        known = next((one for one in TOOLS if one.name == tool), None)
        if known is None:
            return f"There is no tool {tool!r}; there are {', '.join(tools)}."
        if missing := [name for name in known.arguments if name not in arguments]:
            return f"{tool} needs {', '.join(missing)}."
        return await tools[tool](**{name: arguments[name] for name in known.arguments})

    # ------------------------------------------------------------------ looking

    async def _read(self, path: Any, start: Any, end: Any) -> str:
        source = self._source(str(path))
        if isinstance(source, str):
            return source
        if not (isinstance(start, int) and isinstance(end, int)):
            return "start and end must be numbers of lines."
        lines = edits.split_lines(source.text)
        first = max(1, start)
        last = min(len(lines), end, first + LINES - 1)
        if first > last:
            return f"{path} has {len(lines)} lines."
        return "\n".join(f"{number:>5}  {lines[number - 1].rstrip()}" for number in range(first, last + 1))

    async def _find(self, name: Any) -> str:
        if not isinstance(name, str) or not _WORD.fullmatch(name):
            return "name must be a name."
        word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        places = []
        for path in self.field.sources.paths:
            source = None if self.sendable(path) else self.field.sources.get(path)
            if source is None or name not in source.text:
                continue
            shown = edits.relative(path, self.field.sources.root)
            places += [
                f"{shown}:{number}: {line.strip()[:160]}"
                for number, line in enumerate(edits.split_lines(source.text), start=1)
                if word.search(line)
            ]
        defining = re.compile(rf":\s*(?:async\s+)?(?:def|class)\s+{re.escape(name)}\b")
        places.sort(key=lambda place: not defining.search(place))
        more = f"\n… and {len(places) - PLACES} more" if len(places) > PLACES else ""
        return "\n".join(places[:PLACES]) + more if places else f"{name} stands nowhere in the project."

    async def _signature(self, name: Any) -> str:
        wanted = str(name).rpartition("::")[2]
        shown = []
        for path in self.field.sources.paths:
            source = None if self.sendable(path) else self.field.sources.get(path)
            if source is None or wanted.rpartition(".")[2] not in source.text:
                continue
            where = edits.relative(path, self.field.sources.root)
            definitions: tuple[Function | Class, ...] = (*source.functions, *source.classes)
            shown += [
                f"{where}: {signature(one)}" for one in definitions if wanted in (one.qualname, one.name)
            ]
        return "\n".join(shown[:PLACES]) if shown else f"The project defines no {wanted}."

    async def _attempts(self) -> str:
        if not self.attempts:
            return "Nothing was tried yet."
        return "\n\n".join(
            f"{one.strategy}: {one.verdict}: {one.reason}\n{one.diff}" for one in self.attempts
        )

    # ------------------------------------------------------------------ running

    async def _test(self, nodeid: Any) -> str:
        if not isinstance(nodeid, str) or "::" not in nodeid:
            return "nodeid must name one test: file.py::test_name."
        report = await self.tools.oracle.run(self._request({}, (nodeid,)))
        outcome = report.outcomes.get(nodeid)
        if outcome is None:
            return f"{nodeid} did not run: {_why_not(report) or 'there is no such test'}."
        if outcome.failure is None:
            return f"{nodeid} {outcome.status.value}."
        said = f"{outcome.failure.exception}: {outcome.failure.message[:OUTPUT]}"
        return await self._open(f"{nodeid} {outcome.status.value}: {said}")

    async def _value(self, expression: Any) -> str:
        frame = self._failing_frame()
        if frame is None:
            return "The test fails in no function of the project; use snippet."
        if not isinstance(expression, str) or not (shown := one_expression(expression)):
            return "expression must be one line of Python that has a value."
        source = self._source(edits.relative(frame.path, self.field.sources.root))
        if isinstance(source, str):
            return source
        if problem := refusal(shown):
            return problem
        text = with_look(source, frame.line, shown)
        if not text:
            return "There is no statement at the failing line; use snippet."
        try:
            overlay = {frame.path: edits.encode(replace(source.decoded, text=text))}
        except UnicodeEncodeError:
            return f"{source.path.name} is {source.decoded.encoding}, which has not all of these characters."
        report = await self.tools.oracle.run(self._request(overlay, self.field.target.nodeids))
        outcome = report.outcomes.get(self.field.target.failure.nodeid)
        said = outcome.failure if outcome is not None else None
        if said is not None and MARK in said.message:
            value = said.message.partition(MARK)[2][:OUTPUT]
            return await self._open(f"{shown} is {value} when that line first runs.")
        why = _why_not(report)
        if outcome is not None and outcome.status is TestStatus.TIMEOUT:
            why = f"the test was still running after {self.seconds:g} s"
        return await self._open(f"It could not be seen: {why or 'the line did not run'}.")

    async def _snippet(self, code: Any) -> str:
        if not isinstance(code, str) or not code.strip():
            return "code must be Python statements."
        return (await self.run_snippet(code, {})).text

    async def run_snippet(self, code: str, overlay: Mapping[Path, bytes]) -> Ran:
        """Run statements in the project, with a patch or without, in a test file of their own that exists only there.

        Args:
            code: Python statements.
            overlay: the patched files.
        """
        if problem := refusal(code):
            return Ran(problem, ended=False)
        folder = self.field.target.failure.path.parent
        path = folder / "test_regreen_snippet.py"
        while path in self.field.texts:
            path = path.with_name(path.stem + "_.py")
        text = (
            "def test_snippet():\n"
            f"    exec(compile({code!r}, 'snippet', 'exec'), {{'__name__': 'snippet'}})\n"
            f"    raise AssertionError('{MARK}')\n"
        )
        nodeid = f"{edits.relative(path, self.field.snapshot.project.root)}::test_snippet"
        request = self._request({**overlay, path: text.encode()}, (nodeid,))
        report = await self.tools.oracle.run(request)
        outcome = report.outcomes.get(nodeid)
        if outcome is None or outcome.failure is None:
            return Ran(f"It did not run: {_why_not(report) or 'it was skipped'}.", ended=False)
        failure = outcome.failure
        printed = await self._open(failure.output.strip()[-OUTPUT:])
        if MARK in failure.message:
            return Ran(printed or "It printed nothing.", ended=True)
        said = await self._open(f"{failure.exception}: {failure.message[:OUTPUT]}")
        if outcome.status is TestStatus.TIMEOUT:
            said = f"It was still running after {self.seconds:g} s and was ended."
        return Ran(f"{printed}\n{said}".strip(), ended=False, exception=failure.exception)

    def _request(self, overlay: Mapping[Path, bytes], nodeids: tuple[str, ...]) -> RunRequest:
        made = request_for(self.field.target, self.field.snapshot, overlay, "model")
        return RunRequest(
            snapshot=made.snapshot,
            nodeids=nodeids,
            overlay=overlay,
            origin="model",
            seconds_per_test=self.seconds,
            seconds=self.seconds * 2 + 60,
            import_seconds=made.import_seconds,
        )

    # ------------------------------------------------------------------ places

    async def _open(self, text: str) -> str:
        """What a run said, unless it holds text of a file that must not be shown."""
        if self._hidden is None:
            self._hidden = await self._hidden_text()
        name = next((name for piece, name in self._hidden.items() if piece in text), "")
        return f"What it said holds text of {name}, which must not be shown." if name else text

    async def _hidden_text(self) -> Mapping[str, str]:
        """Pieces of text that stand in files which must not be shown and in no other, with the files' names."""
        files = self.field.snapshot.files
        closed = await run_blocking(lambda: [path for path in files if self.sendable(path)])
        pieces: dict[str, str] = {}
        for path in closed:
            if files[path].size <= HIDDEN_BYTES:
                text = (await self.tools.mirror.read(self.field.snapshot, path)).decode("utf-8", "replace")
                name = edits.relative(path, self.field.sources.root)
                pieces.update(dict.fromkeys(_pieces(text), name))
        shut = set(closed)
        for path in self.field.sources.paths if pieces else ():
            source = None if path in shut else self.field.sources.get(path)
            for piece in _pieces(source.text) if source is not None else ():
                pieces.pop(piece, None)
        return pieces

    def _source(self, name: str) -> SourceFile | str:
        """A file of the project by its relative path, or why it cannot be shown."""
        path = self.field.sources.root / name
        if ".." in Path(name).parts or Path(name).is_absolute() or path not in self.field.sources.paths:
            return f"The project has no Python file {name!r}."
        if why := self.sendable(path):
            return f"{name} must not be shown: {why}."
        source = self.field.sources.get(path)
        return source if source is not None else f"{name} is not text."

    def _failing_frame(self) -> Frame | None:
        own = [
            frame
            for frame in self.field.target.failure.frames
            if frame.own and frame.path in self.field.texts
        ]
        tests = self.field.target.failure.path
        return next((frame for frame in reversed(own) if frame.path != tests), own[-1] if own else None)


@dataclass(frozen=True, slots=True)
class Ran:
    """What a snippet showed.

    Args:
        text: what it printed, or why it did not come to its end.
        ended: it came to its end.
        exception: what ended it, "" when nothing did.
    """

    text: str
    ended: bool
    exception: str = ""


def _pieces(text: str) -> Iterator[str]:
    """The lines of a text, and what its lines set a name to, where they are long enough to be told from others."""
    for line in edits.split_lines(text):
        for piece in (line, *_SET.split(line, maxsplit=1)[1:]):
            bare = piece.strip().strip("\"',;").strip()
            if len(bare) >= 8:
                yield bare


def _why_not(report: RunReport) -> str:
    broken = next((one for one in report.outcomes.values() if one.failure is not None), None)
    said = f"{broken.failure.exception}: {broken.failure.message[:300]}" if broken and broken.failure else ""
    return report.refused or report.problem or said
