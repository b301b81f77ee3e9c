"""What are the values that walk through Regreen, from a failing test to a verified fix?

Frozen dataclasses without behaviour that needs IO. Conventions, everywhere:

* paths are absolute `Path`s in the **user's** tree (never in a copy), unless a name says `copy_`;
* lines are 0-based; columns and offsets are code points of the file's text unless a name says otherwise;
* times are seconds, sizes are bytes;
* a *node id* is pytest's, relative to the project's rootdir, with forward slashes.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


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


class TestStatus(enum.Enum):
    """The outcome of one test over its three phases."""

    __test__ = False  # not a test class, whatever pytest thinks of its name

    PASSED = "passed"
    FAILED = "failed"  # the call phase, or a collection, failed
    ERROR = "error"  # a fixture or a teardown failed
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    XPASSED = "xpassed"
    TIMEOUT = "timeout"  # killed after its time limit
    CRASHED = "crashed"  # the process ended inside this test

    @property
    def is_red(self) -> bool:
        """Whether this status needs healing."""
        return self in (TestStatus.FAILED, TestStatus.ERROR, TestStatus.TIMEOUT, TestStatus.CRASHED)


class Rung(enum.Enum):
    """How a run is started (see the validation ladder)."""

    WARM = "warm"  # fork of a process that holds pytest and nothing of the project
    COLD = "cold"  # a fresh process


# --------------------------------------------------------------------------- projects and text


@dataclass(frozen=True, slots=True)
class Project:
    """The unit that has one interpreter, one working directory and one rootdir.

    Args:
        root: the folder that holds the configuration, also the working directory of runs.
        workspace: the workspace folder (or git top level) it was found in; equal to `root` or above it.
        config_file: the file pytest takes its options from; None when there is none.
        kind: what its tests are written for.
    """

    root: Path
    workspace: Path
    config_file: Path | None = None
    kind: str = "pytest"  # pytest | unittest | django


@dataclass(frozen=True, slots=True)
class SearchStep:
    """One place looked at while choosing an interpreter, for `regreen doctor`."""

    place: str
    result: str
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The user's Python for one project.

    Args:
        executable: as it must be started (symlinks kept: they make a venv a venv).
        version: for example (3, 11, 7).
        pytest_version: None when pytest cannot be imported there.
        found_by: the step that chose it, for people ("`.venv` beside the project").
        steps: every place looked at, in order.
    """

    executable: Path
    version: tuple[int, int, int]
    pytest_version: str | None
    found_by: str
    steps: tuple[SearchStep, ...] = ()


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file of a snapshot: sha256 of its bytes (hex), size in bytes, permission bits.

    `mtime_ns`, in nanoseconds, is what its copy gets; it takes no part in comparisons.
    """

    digest: str
    size: int
    mode: int
    mtime_ns: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An immutable picture of a project's files, disk overlaid with unsaved editor text.

    Args:
        project: whose files.
        generation: grows with every sync that found a change; two snapshots of one mirror with the same
            generation are the same.
        files: by absolute path in the user's tree; sibling packages outside `project.root` included.
        roots: the user folders that are mirrored, `project.root` first.
        links: symbolic links, by path; the value is the text of the link in the copy.
        folders: every folder, the roots included, with its permission bits.
    """

    project: Project
    generation: int
    files: Mapping[Path, FileEntry]
    roots: tuple[Path, ...]
    links: Mapping[Path, str] = field(default_factory=dict)
    folders: Mapping[Path, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WorkingCopy:
    """A private, writable copy of one snapshot, leased for one run at a time.

    Args:
        copy_root: the copy of `project.root` (same folder name).
        copy_temp: an empty folder for temporary files, outside `copy_root`.
        roots: (user folder, its copy) pairs, longest user folder first.
    """

    copy_root: Path
    copy_temp: Path
    roots: tuple[tuple[Path, Path], ...]


@dataclass(frozen=True, slots=True, order=True)
class TextEdit:
    """Replace text[start:end] by `new`. Offsets are code points of the decoded file text."""

    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True)
class FileEdit:
    """Edits of one file: sorted, not overlapping, against the text whose bytes have `base_digest`."""

    path: Path
    base_digest: str
    edits: tuple[TextEdit, ...]


# --------------------------------------------------------------------------- runs and failures


@dataclass(frozen=True, slots=True)
class Local:
    """A local variable of a frame; `value` is a bounded repr."""

    name: str
    type: str
    value: str


@dataclass(frozen=True, slots=True)
class Frame:
    """One traceback entry, outermost first in a failure. `own`: the file belongs to the project."""

    path: Path
    line: int
    function: str
    own: bool
    locals: tuple[Local, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """The two sides of the comparison that failed, as bounded reprs; `op` is Python's (`==`, `in` …)."""

    op: str
    left: str
    right: str
    left_type: str = ""
    right_type: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """One red test (or file that cannot be collected) with all that is known about why.

    Args:
        nodeid: the test, or the file's node id for a collection error.
        phase: setup | call | teardown | collect.
        exception: qualified type name ("AssertionError", "pkg.errors.Oops"); "Timeout" or "Crash" if killed.
        message: the exception's text, bounded.
        frames: outermost first; for a SyntaxError the last frame is the place the parser names.
        comparison: for a failed comparison in an assert.
        hints: facts read from live objects by the probe, e.g. {"name": "pirce", "near": "price,prices"}.
        output: the last lines the test printed, bounded.
        path, line: where the test is defined (0-based).
    """

    nodeid: str
    phase: str
    exception: str
    message: str
    frames: tuple[Frame, ...]
    path: Path
    line: int
    comparison: Comparison | None = None
    hints: Mapping[str, str] = field(default_factory=dict)
    output: str = ""
    seconds: float = 0.0

    @property
    def is_collection(self) -> bool:
        """Whether the file could not even be collected."""
        return self.phase == "collect"


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """The result of one test. `path`, `line`: where it is defined; `markers`: names of its marks."""

    __test__ = False

    nodeid: str
    status: TestStatus
    seconds: float
    path: Path
    line: int
    markers: frozenset[str] = frozenset()
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Spectrum:
    """Which lines each test executed: node id → file → 0-based lines. Imports count for no test."""

    lines: Mapping[str, Mapping[Path, frozenset[int]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CanaryPoint:
    """A place in the patched text: the statement at or after this 0-based line."""

    path: Path
    line: int


@dataclass(frozen=True, slots=True)
class RunRequest:
    """One run of some tests in a private copy.

    Args:
        snapshot: the text to run.
        nodeids: the tests; empty means the whole suite as the project's configuration selects it.
        overlay: files whose bytes differ from the snapshot (the candidate patch).
        rung: warm or cold.
        fresh_copy: lay a new copy instead of using one that earlier runs cleaned up.
        spectrum: record which lines each test executes.
        collect_only: stop after collection.
        details: record frames, locals and comparisons of failures (slower).
        stop_at_first_failure: end the run at the first red test that is not one of `known_red`.
        known_red: tests that were red before, and may stay so.
        canaries: raise the canary here and record its arrival.
        observe: (file, 0-based line of the patched text) inside functions whose calls are digested.
        seconds_per_test, seconds, import_seconds: limits; import and collection have their own.
    """

    snapshot: Snapshot
    nodeids: tuple[str, ...] = ()
    overlay: Mapping[Path, bytes] = field(default_factory=dict)
    rung: Rung = Rung.WARM
    fresh_copy: bool = False
    spectrum: bool = False
    collect_only: bool = False
    details: bool = True
    stop_at_first_failure: bool = False
    known_red: tuple[str, ...] = ()
    canaries: tuple[CanaryPoint, ...] = ()
    observe: tuple[CanaryPoint, ...] = ()
    seconds_per_test: float = 30.0
    seconds: float = 600.0
    import_seconds: float = 120.0


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a run showed.

    Args:
        outcomes: by node id, in execution order; a file that could not be collected appears under
            its own node id with status FAILED and a failure of phase "collect".
        collected: every node id pytest selected, in order.
        exit_status: pytest's own exit status, None when the process did not end by itself.
        spectrum: empty unless asked for.
        origins: for every overlaid file that was imported, the copy's file it was loaded from,
            mapped back to the user's tree; a file missing here was never imported.
        canary_arrived: whether the canary was reached.
        problem: why the run as a whole is unusable ("import timed out", "cannot compile …"), else "".
        uncompilable: overlaid files that do not compile in the user's Python.
        behaviour: digest of what the observed functions returned, call by call; "" when nothing was observed.
        isolation: what confined it: "landlock" | "none" | …
        stderr: the tail of what the process wrote.
        foreign: project modules that were imported from anywhere else than the copy: name → file. For
            these the run says nothing about the snapshot's text.
    """

    outcomes: Mapping[str, TestOutcome]
    collected: tuple[str, ...]
    exit_status: int | None
    spectrum: Spectrum = field(default_factory=Spectrum)
    origins: frozenset[Path] = frozenset()
    canary_arrived: bool = False
    problem: str = ""
    uncompilable: frozenset[Path] = frozenset()
    behaviour: str = ""
    isolation: str = "none"
    stderr: str = ""
    seconds: float = 0.0
    foreign: Mapping[str, Path] = field(default_factory=dict)

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Every failure, in execution order."""
        return tuple(o.failure for o in self.outcomes.values() if o.status.is_red and o.failure)


@dataclass(frozen=True, slots=True)
class TestSelection:
    """Tests to run after a change, and why they were chosen. `complete`: nothing relevant was left out."""

    __test__ = False

    nodeids: tuple[str, ...]
    reason: str
    complete: bool = True


# --------------------------------------------------------------------------- search


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
    """

    edits: tuple[FileEdit, ...]
    template: str
    title: str
    score: float
    suspect: Suspect
    kind: str = "cause"


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


@dataclass(frozen=True, slots=True)
class VerifiedFix:
    """A candidate that climbed the whole ladder. `base_digests`: text it may be applied to."""

    fix_id: str
    failure: Failure
    candidate: Candidate
    evidence: Evidence
    base_digests: Mapping[Path, str]
    diff: str
    target_only: bool = False
    differs_from: tuple[str, ...] = ()  # ids of other offers that behave differently


@dataclass(frozen=True, slots=True)
class HealResult:
    """How the heal of one failure ended.

    Args:
        fixes: best first, at most three; empty unless the outcome is VERIFIED or VERIFIED_TARGET_ONLY.
        reason: one or two sentences for people; for NO_FIX what was tried and why it failed.
        cause: one line: where and what went wrong.
        tried: verdict name → how many candidates ended so.
        suspects: the most suspicious places, best first.
    """

    failure: Failure
    outcome: Outcome
    reason: str
    cause: str
    fixes: tuple[VerifiedFix, ...] = ()
    tried: Mapping[str, int] = field(default_factory=dict)
    suspects: tuple[Suspect, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Progress:
    """Something a person waiting may want to see: a stage, a sentence, and how far in [0, 1] if known."""

    stage: str  # sync | baseline | reproduce | localise | search | verify
    message: str
    nodeid: str = ""
    fraction: float | None = None
