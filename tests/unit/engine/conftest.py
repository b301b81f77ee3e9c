"""An engine over real files and a real mirror; only the runs of tests are scripted, by rules over the text."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from regreen import edits, pipeline
from regreen.engine import Change, Engine, Level, Status, World
from regreen.llm.parts import Nobody, Person
from regreen.pipeline import Baseline, Tools
from regreen.settings import Settings
from regreen.values import (
    UNKNOWN,
    Candidate,
    Comparison,
    Evidence,
    Failure,
    Flag,
    Frame,
    HealResult,
    Interpreter,
    Outcome,
    Project,
    RunReport,
    RunRequest,
    Snapshot,
    Spectrum,
    Suspect,
    TestOutcome,
    TestSelection,
    TestStatus,
    VerifiedFix,
    Vote,
)
from regreen.workspace.mirror import ProjectMirror
from regreen.workspace.projects import discover, locate

GOOD = "def total(prices):\n    result = 0\n    for price in prices:\n        result += price\n    return result\n"
BAD = GOOD.replace("+=", "-=")
TESTS = "from cart import total\n\n\ndef test_total():\n    assert total([10, 5]) == 15\n"


class ManualClock:
    """Time that passes only when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleepers.append((self.now + seconds, future))
        await future

    def advance(self, seconds: float) -> None:
        self.now += seconds
        due = [f for at, f in self._sleepers if at <= self.now]
        self._sleepers = [(at, f) for at, f in self._sleepers if at > self.now]
        for future in due:
            if not future.done():
                future.set_result(None)


class ListFace(Nobody):
    """Keeps what it is told; applies changes by `on_apply`; answers no questions."""

    def __init__(self) -> None:
        self.published: list[frozenset[Path]] = []
        self.lines: list[tuple[Level, str]] = []
        self.statuses: list[Status] = []
        self.begun: list[str] = []
        self.changes: list[Change] = []
        self.cancel: Callable[[], object] = lambda: None
        self.on_apply: Callable[[Change], None] = lambda _: None

    def publish(self, paths: frozenset[Path]) -> None:
        self.published.append(paths)

    def log(self, level: Level, text: str) -> None:
        self.lines.append((level, text))

    def status(self, status: Status) -> None:
        self.statuses.append(status)

    def begin(self, root: Path, title: str, cancel: Callable[[], object]) -> None:
        self.begun.append(title)
        self.cancel = cancel

    def report(self, root: Path, message: str, fraction: float | None) -> None:
        return

    def end(self, root: Path, message: str) -> None:
        return

    async def apply(self, change: Change) -> None:
        self.changes.append(change)
        self.on_apply(change)


class ScriptedOracle:
    """What the suite is asked for in idle time; all other runs are those of the scripted pipeline."""

    def __init__(self, told: Callable[[RunRequest], Awaitable[RunReport]]) -> None:
        self.closed = 0
        self._told = told

    async def screen(self, requests: Sequence[RunRequest]) -> Sequence[RunReport | None]:
        return [None] * len(requests)

    async def run(self, request: RunRequest) -> RunReport:
        return await self._told(request)

    async def close(self) -> None:
        self.closed += 1


@dataclass
class ScriptedGit:
    """A repository where these files differ from the last commit."""

    top: Path | None = None
    changed: frozenset[Path] = frozenset()

    async def toplevel(self, folder: Path) -> Path | None:
        return self.top

    async def changed_files(self, folder: Path) -> frozenset[Path]:
        return self.changed

    async def ignored(self, folder: Path, paths: Sequence[Path]) -> frozenset[Path]:
        return frozenset()

    async def last_change(self, path: Path) -> datetime | None:
        return None


@dataclass
class ListHistory:
    marks: list[tuple[str, bool]] = field(default_factory=list)

    def record(self, project: Project, result: HealResult) -> None:
        return

    def accepted(self, project: Project, template: str) -> tuple[int, int]:
        return (0, 0)

    def mark(self, project: Project, fix: VerifiedFix, *, undone: bool) -> None:
        self.marks.append((fix.fix_id, undone))


class SetTrust:
    def __init__(self) -> None:
        self.folders: set[Path] = set()

    def is_trusted(self, folder: Path) -> bool:
        return folder in self.folders

    def trust(self, folder: Path) -> None:
        self.folders.add(folder)


@dataclass
class Rule:
    """One scripted test: green if `is_green` of the texts says so; `fixed` is what the scripted heal makes of `file`."""

    nodeid: str
    is_green: Callable[[Mapping[str, str]], bool]
    file: str = "cart.py"
    fixed: Callable[[str], str] = lambda text: text.replace("-=", "+=")
    line: int = 3
    markers: frozenset[str] = frozenset()
    seconds: float = 0.01
    outcome: Outcome = Outcome.VERIFIED
    lines_changed: int = 1
    flags: tuple[Flag, ...] = ()
    vote: Vote = UNKNOWN


class Bench:
    """A project on disk, an engine, and the script of its tests."""

    def __init__(self, root: Path, cache: Path) -> None:
        self.root = root
        self.clock = ManualClock()
        self.face = ListFace()
        self.git = ScriptedGit()
        self.history = ListHistory()
        self.trust = SetTrust()
        self.oracle = ScriptedOracle(self._suite)
        self.idle_runs: list[tuple[str, ...]] = []
        self.rules: dict[str, Rule] = {}
        self.runs: list[tuple[str, ...]] = []
        self.texts_run: list[dict[str, str]] = []
        self.heals: list[tuple[str, ...]] = []
        self.hold: asyncio.Event | None = None  # a baseline waits for it
        self.hold_heal: asyncio.Event | None = None
        self.hold_proofs: asyncio.Event | None = None  # all but the first of a heal wait for it
        self.waiting = 0
        self.cancelled = 0
        self.tools_for: list[Settings] = []
        self._cache = cache
        self.engine = Engine(
            World(
                tools=self._tools,
                discover=discover,
                project_of=locate,
                trust=self.trust,
                clock=self.clock,
            ),
            self.face,
        )

    async def _tools(self, project: Project, settings: Settings, _person: Person) -> Tools:
        self.tools_for.append(settings)
        mirror = self._mirror = ProjectMirror(project, cache=self._cache)
        interpreter = Interpreter(Path("/usr/bin/python3"), (3, 11, 0), "9.0", "a test")
        return Tools(self.oracle, mirror, self.git, self.history, self.clock, interpreter)

    # ------------------------------------------------------------------ the script

    def rule(self, nodeid: str, is_green: Callable[[Mapping[str, str]], bool], **more: Any) -> Rule:
        self.rules[nodeid] = Rule(nodeid, is_green, **more)
        return self.rules[nodeid]

    async def baseline(
        self,
        tools: Tools,
        settings: Settings,
        reporter: Any,
        *,
        nodeids: Sequence[str] = (),
        unsaved: Mapping[Path, bytes] | None = None,
    ) -> Baseline:
        snapshot = await tools.mirror.sync(unsaved or {})
        texts = await self._texts(snapshot)
        try:
            if self.hold is not None:
                self.waiting += 1
                await self.hold.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        self.runs.append(tuple(nodeids))
        self.texts_run.append(texts)
        known = {r.nodeid for r in self.rules.values()}
        if any("::" in n and not any(_selected(k, [n]) for k in known) for n in nodeids) or any(
            "::" not in n and not (self.root / n).exists() for n in nodeids
        ):
            return Baseline(snapshot, RunReport({}, (), 4), whole_suite=False)  # as pytest does
        wanted = self._wanted(nodeids)
        outcomes = {rule.nodeid: self._outcome(rule, texts) for rule in wanted}
        lines = {
            rule.nodeid: {self.root / rule.file: frozenset(range(len(texts[rule.file].splitlines())))}
            for rule in wanted
        }
        report = RunReport(
            outcomes, tuple(outcomes), 1, Spectrum(lines), seconds=sum(o.seconds for o in outcomes.values())
        )
        return Baseline(snapshot, report, not nodeids, dict(unsaved or {}))

    async def _suite(self, request: RunRequest) -> RunReport:
        self.idle_runs.append(request.nodeids)
        wanted = self._wanted(request.nodeids)
        texts = await self._texts(request.snapshot, request.overlay)
        outcomes = (
            {} if request.collect_only else {rule.nodeid: self._outcome(rule, texts) for rule in wanted}
        )
        return RunReport(outcomes, tuple(rule.nodeid for rule in wanted), 0)

    def _wanted(self, nodeids: Sequence[str]) -> list[Rule]:
        return [r for r in self.rules.values() if not nodeids or _selected(r.nodeid, nodeids)]

    async def _texts(
        self, snapshot: Snapshot, overlay: Mapping[Path, bytes] = MappingProxyType({})
    ) -> dict[str, str]:
        return {
            path.relative_to(self.root).as_posix(): edits.decode(
                overlay[path] if path in overlay else await self._mirror.read(snapshot, path)
            ).text
            for path in snapshot.files
            if path.suffix == ".py"
        }

    def _outcome(self, rule: Rule, texts: Mapping[str, str]) -> TestOutcome:
        path = self.root / rule.nodeid.partition("::")[0]
        green = rule.is_green(texts)
        failure = Failure(
            rule.nodeid,
            "call",
            "AssertionError",
            "assert -15 == 15",
            (Frame(path, rule.line + 1, "test", own=True),),
            path,
            rule.line,
            Comparison("==", "-15", "15"),
        )
        status = TestStatus.PASSED if green else TestStatus.FAILED
        return TestOutcome(
            rule.nodeid, status, rule.seconds, path, rule.line, rule.markers, None if green else failure
        )

    async def heal_all(
        self,
        base: Baseline,
        tools: Tools,
        settings: Settings,
        reporter: Any,
        *,
        nodeids: Sequence[str] = (),
    ) -> tuple[HealResult, ...]:
        self.heals.append(tuple(nodeids))
        try:
            if self.hold_heal is not None:
                await self.hold_heal.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        results = []
        for nodeid in nodeids:
            failure = base.report.outcomes[nodeid].failure
            assert failure is not None
            result = await self._result(failure, base, tools)
            if result.fixes and self.hold_proofs is not None:
                reporter.offer(result)
                await self.hold_proofs.wait()
            results.append(result)
            reporter.result(result)
        return tuple(results)

    async def _result(self, failure: Failure, base: Baseline, tools: Tools) -> HealResult:
        rule = self.rules[failure.nodeid]
        path = self.root / rule.file
        data = await tools.mirror.read(base.snapshot, path)
        text = edits.decode(data).text
        new = rule.fixed(text)
        if new == text or rule.outcome not in (Outcome.VERIFIED, Outcome.VERIFIED_TARGET_ONLY):
            return HealResult(failure, Outcome.NO_FIX, "Nothing helped.", "cart.py:4")
        edit = edits.file_edit(path, data, new)
        suspect = Suspect(path, edits.LineIndex(text).line_at(edit.edits[0].start), 0.9)
        candidate = Candidate((edit,), "arithmetic.operator", "`-=` → `+=`", 1.0, suspect)
        evidence = Evidence(
            (failure.nodeid,),
            1,
            (),
            3,
            3,
            TestSelection((), "covers cart.py:4"),
            complete=True,
            canary="reached",
            lines_changed=rule.lines_changed,
            isolation="none",
            seconds=0.1,
            command="pytest",
            vote=rule.vote,
        )
        fix = VerifiedFix(
            f"{failure.nodeid}-{edits.digest(new.encode())[:12]}",
            failure,
            candidate,
            evidence,
            {path: edits.digest(data)},
            edits.unified_diff(rule.file, text, new),
            target_only=rule.outcome is Outcome.VERIFIED_TARGET_ONLY,
            flags=rule.flags,
        )
        return HealResult(failure, rule.outcome, "", "cart.py:4", (fix,), suspects=(suspect,))

    # ------------------------------------------------------------------ the person

    async def open(self, *, trusted: bool | None = True, **settings: Any) -> None:
        self._sources: Sequence[Mapping[str, Any]] = [settings]
        self._after = 0.0
        self.engine.open_folder(self.root, sources=self._answer, trusted=trusted)
        await self.engine.ready()

    def configure(self, sources: Sequence[Mapping[str, Any]], after: float = 0.0) -> None:
        """The settings change; the client tells the new ones after some seconds."""
        self._sources, self._after = sources, after
        self.engine.configure(self.root)

    async def _answer(self, _place: Path) -> Sequence[Mapping[str, Any]]:
        await asyncio.sleep(self._after)
        return self._sources

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def open_document(self, name: str, version: int = 1) -> Path:
        path = self.root / name
        self.engine.opened(path, path.as_uri(), version, path.read_bytes().decode())
        return path

    def type(self, name: str, text: str) -> None:
        document = self.engine.documents.get(self.root / name)
        assert document is not None
        self.engine.edited(document.path, (document.version or 0) + 1, text)

    def save(self, name: str, text: str | None = None, *, by_hand: bool = True) -> None:
        document = self.engine.documents.get(self.root / name)
        if text is not None and document is not None:
            self.type(name, text)
        self.write(name, text if text is not None else document.text if document else "")
        self.engine.saved(self.root / name, by_hand=by_hand)

    async def until(self, condition: Callable[[], object], *, step: float = 0.1) -> None:
        """Let time pass until something is so; the bound only ends a broken test."""
        for _ in range(2000):
            if condition():
                return
            self.clock.advance(step)
            await asyncio.sleep(0.002)
        raise AssertionError("it never came to that")

    async def rest(self, seconds: float = 10.0) -> None:
        """Let time pass, and everything that it starts happen."""
        for _ in range(int(seconds / 0.1)):
            self.clock.advance(0.1)
            await asyncio.sleep(0.003)
        await self.until(lambda: not self.engine._work.busy)

    @property
    def log(self) -> str:
        return "\n".join(text for _, text in self.face.lines)


def _selected(nodeid: str, nodeids: Sequence[str]) -> bool:
    return any(nodeid == n or nodeid.startswith((f"{n}::", f"{n}[")) for n in nodeids)


@pytest.fixture
async def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bench]:
    root = tmp_path / "shop"
    root.mkdir()
    bench = Bench(root, tmp_path / "cache")
    monkeypatch.setattr(pipeline, "baseline", bench.baseline)
    monkeypatch.setattr(pipeline, "heal_all", bench.heal_all)
    bench.write("pyproject.toml", "[tool.pytest.ini_options]\n")
    bench.write("cart.py", GOOD)
    bench.write("tests/test_cart.py", TESTS)
    bench.rule("tests/test_cart.py::test_total", lambda texts: "+=" in texts["cart.py"])
    yield bench
    await bench.engine.close()


@pytest.fixture
def good() -> str:
    return GOOD


@pytest.fixture
def bad() -> str:
    return BAD


@pytest.fixture
def last_run() -> Callable[..., None]:
    """Write what pytest's own cache would hold."""

    def write(root: Path, *, failed: Sequence[str] = (), known: Sequence[str] = ()) -> None:
        folder = root / ".pytest_cache" / "v" / "cache"
        folder.mkdir(parents=True)
        (folder / "lastfailed").write_text(json.dumps(dict.fromkeys(failed, True)))
        (folder / "nodeids").write_text(json.dumps([*known, *failed]))

    return write
