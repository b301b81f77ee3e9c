"""What is run, and what did it show?"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from regreen.values.projects import Snapshot


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

    HOT = "hot"  # fork of a run that has collected these tests; only for a screening
    WARM = (
        "warm"  # fork of a process that holds pytest and nothing of the project; without fork, such a process
    )
    COLD = "cold"  # a fresh process


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
class ComparedCall:
    """What one call of a function came to with the unpatched text and with each of several candidates.

    Args:
        call: for people ("mean([])").
        test: the test that made it; "" for a call that no test made.
        before: what it returned, or the exception it raised, without a patch.
        after: the same with each candidate, in their order; None where that is not known.
    """

    call: str
    test: str
    before: str
    after: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Expression:
    """A text that may stand at a place of a function, as the values seen there while tests ran tell.

    Args:
        path: the file.
        start, end: (0-based line, column in code points) of what it replaces; equal where it is inserted.
        text: the new text.
        kind: "value" | "condition" | "special" | "order" | "continue" | "break"; of the last two `text` is the
            condition of a guard.
        size: how many names, literals and operations it has.
        fits: it gives all that is known to be wanted; else only something other than what is there.
    """

    path: Path
    start: tuple[int, int]
    end: tuple[int, int]
    text: str
    kind: str
    size: int
    fits: bool


@dataclass(frozen=True, slots=True)
class RunRequest:
    """One run of some tests in a private copy.

    Args:
        snapshot: the text to run.
        nodeids: the tests; empty means the whole suite as the project's configuration selects it.
        leave_out: tests of those that are not to be run.
        overlay: files whose bytes differ from the snapshot (the candidate patch).
        origin: who wrote that, as in `Candidate`: what a model wrote sees less of the user's environment.
        rung: how it is started; what cannot be run hot is run warm.
        fresh_copy: lay a new copy instead of using one that earlier runs cleaned up.
        spectrum: record which lines each test executes.
        collect_only: stop after collection.
        details: record frames, locals and comparisons of failures (slower).
        stop_at_first_failure: end the run at the first red test that is not one of `known_red`.
        known_red: tests that were red before, and may stay so.
        canaries: raise the canary here and record its arrival.
        observe: (file, 0-based line of the patched text) inside functions whose calls are digested.
        observe_during: the tests whose calls are digested; tracing makes a test several times as slow.
        compare: overlays of one file each, not run by the tests: what they answer to the calls that the tests make,
            and to others like those.
        synthesise: (file, 0-based line) inside functions for which expressions are looked for, in the first red test.
        relaxed: keep it from changing what is the user's, and from nothing else: it shows what the isolation
            itself turns red. Only for unpatched text.
        seconds_per_test, seconds, import_seconds: limits; import and collection have their own.
        synthesise_seconds: how much processor time that may take once the tests have run.
        processor_seconds: how much processor time all tests may use where candidates are screened together.
    """

    snapshot: Snapshot
    nodeids: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()
    overlay: Mapping[Path, bytes] = field(default_factory=dict)
    origin: str = "template"
    rung: Rung = Rung.WARM
    fresh_copy: bool = False
    spectrum: bool = False
    collect_only: bool = False
    details: bool = True
    stop_at_first_failure: bool = False
    known_red: tuple[str, ...] = ()
    canaries: tuple[CanaryPoint, ...] = ()
    observe: tuple[CanaryPoint, ...] = ()
    observe_during: tuple[str, ...] = ()
    compare: tuple[Mapping[Path, bytes], ...] = ()
    synthesise: tuple[CanaryPoint, ...] = ()
    relaxed: bool = False
    seconds_per_test: float = 30.0
    seconds: float = 600.0
    import_seconds: float = 120.0
    synthesise_seconds: float = 2.0
    processor_seconds: float = 2.0

    @property
    def is_unpatched(self) -> bool:
        """Whether it runs the snapshot's own text, and nothing put into it."""
        return not self.overlay and not self.canaries and not self.compare


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
        behaviour: digest of what the observed functions returned, call by call, while the observed tests ran; "" when nothing was observed.
        compared: the calls that could be compared; none unless asked for.
        expressions: what was found where it was to be synthesised, the likeliest of each place first.
        isolation: how it was confined: "full" | "partial" | "none".
        stderr: the tail of what the process wrote.
        foreign: project modules that were imported from anywhere else than the copy: name → file. For
            these the run says nothing about the snapshot's text.
        rung: how it was run.
        refused: why nothing was run at all, and which setting allows it; else "".
        replaced: functions and classes of pytest, pluggy, unittest or the builtins that were others at the end
            than before anything of the project ran ("_pytest.runner.runtestprotocol").
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
    compared: tuple[ComparedCall, ...] = ()
    expressions: tuple[Expression, ...] = ()
    isolation: str = "none"
    stderr: str = ""
    seconds: float = 0.0
    foreign: Mapping[str, Path] = field(default_factory=dict)
    rung: Rung = Rung.WARM
    refused: str = ""
    replaced: frozenset[str] = frozenset()

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
