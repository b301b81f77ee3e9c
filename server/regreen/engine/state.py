"""What does the engine remember of one project?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from regreen import edits
from regreen.settings import Settings
from regreen.values import (
    Failure,
    FileEdit,
    HealResult,
    Outcome,
    Project,
    Snapshot,
    TestOutcome,
    VerifiedFix,
)

if TYPE_CHECKING:  # the pipeline is imported when something runs: the server answers sooner
    from regreen.pipeline import Baseline, Tools


@dataclass(frozen=True, slots=True)
class KnownRed:
    """A test that failed in the user's own last pytest run; `line` is 0-based, of its definition."""

    nodeid: str
    path: Path
    line: int


@dataclass(frozen=True, slots=True)
class Offer:
    """A verified fix with the text before and after it, so that nothing is read when it is asked for.

    Args:
        lines: the 0-based lines (first, last) that it touches, by file, in the text before.
    """

    fix: VerifiedFix
    root: Path
    before: Mapping[Path, bytes]
    after: Mapping[Path, bytes]
    after_digests: Mapping[Path, str]
    lines: Mapping[Path, tuple[int, int]]

    @property
    def fingerprint(self) -> tuple[str, ...]:
        """What stays the same when the same fix is found again: for another test, or in text that changed around it."""
        files = sorted(str(path) for path in self.before)
        changed = [
            line
            for line in self.fix.diff.splitlines()
            if line.startswith(("-", "+")) and not line.startswith(("--- ", "+++ "))
        ]
        return (*files, *changed)


def make_offer(fix: VerifiedFix, root: Path, before: Mapping[Path, bytes]) -> Offer:
    """Lay a fix over the bytes it was verified against.

    Raises:
        ValueError: the bytes are others.
    """
    after, lines = {}, {}
    for edit in fix.candidate.edits:
        after[edit.path] = edits.apply_to_bytes(before[edit.path], edit)
        lines[edit.path] = _lines_of(before[edit.path], edit)
    digests = {path: edits.digest(data) for path, data in after.items()}
    return Offer(fix, root, before, after, digests, lines)


def _lines_of(data: bytes, edit: FileEdit) -> tuple[int, int]:
    index = edits.LineIndex(edits.decode(data).text)
    return index.line_at(edit.edits[0].start), index.line_at(max(edit.edits[-1].end, edit.edits[-1].start))


@dataclass(slots=True)
class ProjectState:
    """Everything that is remembered of one project; changed only by the engine.

    Args:
        folder: the workspace folder it was opened in.
        outcomes: the last outcome of every test that ran, in the suite's order once all of it has run.
        lines: which lines each test executed when it last ran: node id → file → 0-based lines.
        green_before: tests that were green at some time, by our runs or by the user's own last run.
        known_reds: red in the user's own last run, not run by us yet.
        results: how the last heal of each red test ended.
        offers: verified fixes by id.
        owed: tests that a change may affect and that did not run since.
        texts: digest and bytes of every Python file, as `lines` counts them.
        seen: digests of changed files that were run, or are being run.
        saved_by_hand: digests of the texts that the user saved last; None where the last save was automatic.
        muted_tests, muted_fixes: what the user does not want to see fixed, or fixed by itself.
        suite_checked: fixes that the whole suite was run with.
        suite_seconds: how long the whole suite took when it last ran.
        isolation: what confined the last run.
        usd_today: what models had cost by the end of the last heal that asked one, today (UTC) and in all projects.
        problem: why nothing can run, for people; empty when it can.
        notice_at: the file whose save told of the problem.
        grouped: red tests that turned red together and wait for the user.
        searching: red tests that a fix is being looked for, and none is there yet.
    """

    project: Project
    folder: Path
    settings: Settings
    tools: Tools | None = None
    tools_settings: Settings | None = None
    outcomes: dict[str, TestOutcome] = field(default_factory=dict)
    lines: dict[str, Mapping[Path, frozenset[int]]] = field(default_factory=dict)
    green_before: set[str] = field(default_factory=set)
    known_reds: dict[str, KnownRed] = field(default_factory=dict)
    results: dict[str, HealResult] = field(default_factory=dict)
    offers: dict[str, Offer] = field(default_factory=dict)
    owed: set[str] = field(default_factory=set)
    texts: dict[Path, tuple[str, bytes]] = field(default_factory=dict)
    snapshot: Snapshot | None = None
    seen: dict[Path, str] = field(default_factory=dict)
    saved_by_hand: dict[Path, str | None] = field(default_factory=dict)
    muted_tests: set[str] = field(default_factory=set)
    muted_fixes: set[tuple[str, ...]] = field(default_factory=set)
    suite_seconds: float | None = None
    suite_checked: set[str] = field(default_factory=set)
    isolation: str = ""
    usd_today: float = 0.0
    problem: str = ""
    notice_at: Path | None = None
    grouped: frozenset[str] = frozenset()
    searching: frozenset[str] = frozenset()

    async def close_tools(self) -> None:
        """End every process of the project and release its copies."""
        if (tools := self.tools) is not None:
            self.tools = None
            await tools.close()

    @property
    def root(self) -> Path:
        """The project's root, its name among all projects."""
        return self.project.root

    def was_saved_by_hand(self, changed: Collection[Path]) -> bool:
        """Whether the user saved the very texts of these files that were run."""
        return bool(changed) and all(self.saved_by_hand.get(p) == self.seen.get(p, "") for p in changed)

    def red_failures(self) -> list[Failure]:
        """Every failure of the tests that are red now."""
        return [o.failure for o in self.outcomes.values() if o.status.is_red and o.failure is not None]

    def absorb(self, base: Baseline, asked: Iterable[str]) -> None:
        """Take over what a run of the unpatched text showed.

        Args:
            base: the run.
            asked: the node ids (or files) that were asked for; those that no longer exist are forgotten.
        """
        report = base.report
        asked = set(asked)
        self.owed -= asked | report.outcomes.keys()
        for gone in self._gone(base, asked):
            self.outcomes.pop(gone, None)
            self.known_reds.pop(gone, None)
            self.lines.pop(gone, None)
            self.drop_result(gone)
        kept = self.outcomes
        if base.whole_suite:  # its order is the suite's
            kept = {nodeid: outcome for nodeid, outcome in kept.items() if nodeid not in report.outcomes}
        self.outcomes = {**kept, **report.outcomes}
        self.lines.update(report.spectrum.lines)
        for nodeid, outcome in report.outcomes.items():
            self.known_reds.pop(nodeid, None)
            if not outcome.status.is_red:
                self.green_before.add(nodeid)
                self.drop_result(nodeid)
        if base.whole_suite:
            self.known_reds.clear()
            self.suite_seconds = report.seconds
        self.snapshot = base.snapshot
        self.isolation = report.isolation
        for path in self.seen:
            if entry := base.snapshot.files.get(path):
                self.seen[path] = entry.digest

    def _gone(self, base: Baseline, asked: set[str]) -> list[str]:
        report = base.report
        if report.problem or not report.outcomes:
            return []
        present = {*report.outcomes, *report.collected}
        failed_files = {o.nodeid for o in report.outcomes.values() if o.failure and o.failure.is_collection}
        return [
            nodeid
            for nodeid in (*self.outcomes, *self.known_reds)
            if nodeid not in present
            and (base.whole_suite or nodeid in asked or file_of(nodeid) in asked)
            and file_of(nodeid) not in failed_files
        ]

    def forget_files(self, paths: Collection[Path]) -> None:
        """Test files were deleted: nothing is known of their tests any more."""
        for nodeid in [n for n, outcome in self.outcomes.items() if outcome.path in paths]:
            del self.outcomes[nodeid]
            self.lines.pop(nodeid, None)
            self.owed.discard(nodeid)
            self.drop_result(nodeid)
        for nodeid in [n for n, known in self.known_reds.items() if known.path in paths]:
            del self.known_reds[nodeid]

    def drop_result(self, nodeid: str) -> None:
        """Forget the last heal of a test, and its offers; what mends other tests, too, is still offered for these."""
        self.results.pop(nodeid, None)
        needed = {fix.fix_id for result in self.results.values() for fix in result.fixes}
        for fix_id in self.offers.keys() - needed:
            del self.offers[fix_id]

    def keep_result(self, result: HealResult, offers: Iterable[Offer]) -> None:
        """Take over how a heal ended."""
        self.drop_result(result.failure.nodeid)
        self.results[result.failure.nodeid] = result
        self.offers.update({offer.fix.fix_id: offer for offer in offers})

    def offers_for(self, nodeid: str) -> list[Offer]:
        """The verified fixes of one red test, best first, each as the fix of this very test."""
        result = self.results.get(nodeid)
        fixes = [fix for fix in result.fixes if fix.fix_id in self.offers] if result else []
        return [replace(self.offers[fix.fix_id], fix=fix) for fix in fixes]

    def withdraw(self, fix_id: str, reason: str) -> None:
        """Take an offer back because the whole suite speaks against it."""
        self.offers.pop(fix_id, None)
        for nodeid, old in list(self.results.items()):
            if any(fix.fix_id == fix_id for fix in old.fixes) and not self.offers_for(nodeid):
                self.results[nodeid] = HealResult(
                    old.failure, Outcome.NO_FIX, reason, old.cause, tried=old.tried, suspects=old.suspects
                )


def file_of(nodeid: str) -> str:
    """The file part of a node id."""
    return nodeid.partition("::")[0]


def short_name(nodeid: str) -> str:
    """What people call a test: the last part of its node id, or its file."""
    return nodeid.rpartition("::")[2] or nodeid
