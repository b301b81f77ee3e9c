"""What does a heal look for, and what does it end in?"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from regreen.values.models import Spent
from regreen.values.projects import FileEdit
from regreen.values.runs import Failure, TestSelection


class Verdict(enum.Enum):
    """What validation found out about one candidate patch."""

    UNAPPLICABLE = "UNAPPLICABLE"  # its edits do not fit the text, or the result does not compile
    REJECTED = "REJECTED"  # refused by the gate, never run
    STILL_FAILING = "STILL_FAILING"
    REGRESSION = "REGRESSION"  # the target is green, another selected test turned red
    TIMEOUT = "TIMEOUT"
    CRASH = "CRASH"
    TAMPERED = "TAMPERED"  # the report cannot be what an honest run gives
    PLAUSIBLE = "PLAUSIBLE"


VERDICT_WORDS: Mapping[str, str] = {
    "STILL_FAILING": "left the test red",
    "REGRESSION": "turned another test red",
    "REJECTED": "refused by the gate",
    "UNAPPLICABLE": "did not compile",
    "TIMEOUT": "ran too long",
    "CRASH": "ended the process",
    "TAMPERED": "kept the test from being run as it is",
    "PLAUSIBLE": "passed",
}
"""What each verdict says of a candidate, after "3 candidates …"."""


class Outcome(enum.Enum):
    """How one heal ended. Every heal ends in exactly one of these."""

    VERIFIED = "VERIFIED"
    VERIFIED_TARGET_ONLY = "VERIFIED_TARGET_ONLY"
    FLAKY = "FLAKY"
    STALE_TEST = "STALE_TEST"
    ENVIRONMENT = "ENVIRONMENT"
    NOT_REPRODUCED = "NOT_REPRODUCED"
    NO_FIX = "NO_FIX"
    OVER_BUDGET = "OVER_BUDGET"
    STUCK = "STUCK"
    CANCELLED = "CANCELLED"
    INTERNAL_ERROR = "INTERNAL_ERROR"


@dataclass(frozen=True, slots=True)
class Suspect:
    """A statement that may be at fault. `suspiciousness` in [0, 1]; `function` is its qualified name."""

    path: Path
    line: int
    suspiciousness: float
    function: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A patch that might be the fix.

    Args:
        edits: one entry per file.
        template: the name of the template or strategy it came from ("comparison.boundary").
        title: what it does, for people ("`<` → `<=`").
        score: suspiciousness × prior; candidates are tried in descending order.
        suspect: where it was aimed.
        kind: "cause" | "guard" | "literal" | "deletion": the last three rank below causes.
        origin: "template" | "model": what a model wrote is trusted less.
    """

    edits: tuple[FileEdit, ...]
    template: str
    title: str
    score: float
    suspect: Suspect
    kind: str = "cause"
    origin: str = "template"


@dataclass(frozen=True, slots=True, order=True)
class Flag:
    """Something about a patch that a person should look at twice.

    Args:
        name: the sort of thing, for programs ("removed-assert").
        text: what the patch does, for people ("removes an assert").
    """

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What a patch makes of one call of the function it changes.

    Args:
        call: for people ("mean([])").
        test: the test that makes it; "" when it was made up.
        before: what it returned, or the exception it raised, without the patch.
        after: the same with it.
    """

    call: str
    test: str
    before: str
    after: str


class Confidence(enum.Enum):
    """How sure the other plausible patches make us of a fix."""

    AGREED = "agreed"  # there are others, and all behave alike, also where the tests do not look
    SPLIT = "split"  # another one behaves differently
    THIN = "thin"  # too little to go by


@dataclass(frozen=True, slots=True)
class Rival:
    """The best other patch that behaves differently.

    Args:
        title: what it does, for people.
        call: the shortest call on which the two differ.
        ours, theirs: what it comes to with the fix, and with that patch.
    """

    title: str
    call: str
    ours: str
    theirs: str


@dataclass(frozen=True, slots=True)
class Vote:
    """What the plausible patches of one failure say about one of them, asked for what no test asks.

    Args:
        confidence: the class.
        reason: why it is that, for people ("4 patches behave alike on 120 calls").
        rival: of a split.
        changes: calls that green tests make and that come to something else than without the fix, though no test
            noticed; bounded.
    """

    confidence: Confidence
    reason: str
    rival: Rival | None = None
    changes: tuple[Answer, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """All of it, for people: the class and why, then each change."""
        said = f"{self.confidence.value}: {self.reason}"
        if self.rival is not None:
            one = self.rival
            said += f". A: {one.call} → {one.ours}, B: {one.theirs} (A is this one, B is {one.title})"
        changes = [f"no test notices {one.call}: {one.before} → {one.after}" for one in self.changes]
        return (said, *changes)


UNKNOWN = Vote(Confidence.THIN, "it was not compared with others")
"""Of a fix of which nothing else is known."""


@dataclass(frozen=True, slots=True)
class CandidateVerdict:
    """What became of one candidate, and why, in one line for people."""

    candidate: Candidate
    verdict: Verdict
    reason: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a fix may be offered; all counts are of tests that ran.

    Args:
        red_to_green: tests that were red without the patch and are green with it.
        still_green: tests that were green before and are green with it.
        still_red: other tests that were red before and still are.
        runs, runs_wanted: repeated runs of the target that were green, of how many.
        selection: which tests were run beside the target, and why.
        complete: every impacted test was run.
        canary: "reached" | "not applicable": proof that the patched statement is what ran.
        lines_changed: lines of the diff's larger side.
        isolation: what confined the runs.
        seconds: from the start of the heal to this proof.
        command: a shell line that reproduces the proof once the fix is applied.
        notes: honest remarks ("runs reduced to 1: the test takes 7.2 s").
        vote: how it behaves where no test looks, held against the other plausible patches.
    """

    red_to_green: tuple[str, ...]
    still_green: int
    still_red: tuple[str, ...]
    runs: int
    runs_wanted: int
    selection: TestSelection
    complete: bool
    canary: str
    lines_changed: int
    isolation: str
    seconds: float
    command: str
    notes: tuple[str, ...] = ()
    vote: Vote = UNKNOWN


@dataclass(frozen=True, slots=True)
class VerifiedFix:
    """A candidate that climbed the whole ladder.

    Args:
        base_digests: the text it may be applied to.
        target_only: other tests are still red, or were not all run.
        differs_from: ids of other offers that behave differently.
        flags: what to look at twice before it is believed.
    """

    fix_id: str
    failure: Failure
    candidate: Candidate
    evidence: Evidence
    base_digests: Mapping[Path, str]
    diff: str
    target_only: bool = False
    differs_from: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()

    @property
    def warning(self) -> str:
        """What to look at twice, in one sentence; "" when nothing asks for it."""
        return f"Look twice: {'; '.join(flag.text for flag in self.flags)}." if self.flags else ""

    @property
    def unattended(self) -> bool:
        """Whether it may be applied without being read: it leaves nothing red and has no flags."""
        return not self.target_only and not self.flags


@dataclass(frozen=True, slots=True)
class Expectation:
    """A change of a TEST with which it agrees with the code as it is: for a person to take, never applied by itself.

    Args:
        edit: of the test's file.
        old, new: what the test asks for, and would ask for.
        diff: for people.
    """

    edit: FileEdit
    old: str
    new: str
    diff: str = ""


@dataclass(frozen=True, slots=True)
class HealResult:
    """How the heal of one failure ended.

    Args:
        fixes: best first, at most three; empty unless the outcome is VERIFIED or VERIFIED_TARGET_ONLY.
        reason: one or two sentences for people; for NO_FIX what was tried and why it failed.
        cause: one line: where and what went wrong.
        tried: verdict name → how many candidates ended so.
        suspects: the most suspicious places, best first.
        heal: its id in the run store.
        spent: what asking a model cost; None when none was asked.
        expectation: where the test rather than the code looks stale, what would make it agree.
    """

    failure: Failure
    outcome: Outcome
    reason: str
    cause: str
    fixes: tuple[VerifiedFix, ...] = ()
    tried: Mapping[str, int] = field(default_factory=dict)
    suspects: tuple[Suspect, ...] = ()
    seconds: float = 0.0
    heal: str = ""
    spent: Spent | None = None
    expectation: Expectation | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """Something a person waiting may want to see: a stage, a sentence, and how far in [0, 1] if known."""

    stage: str  # sync | baseline | reproduce | localise | search | verify | model
    message: str
    nodeid: str = ""
    fraction: float | None = None
