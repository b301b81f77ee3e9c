"""May a plausible candidate be offered, and with what evidence?"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterable
from dataclasses import replace

from regreen import edits
from regreen.pipeline.concurrent import all_or_none
from regreen.pipeline.parts import Baseline, Tools
from regreen.pipeline.places import patched_points
from regreen.pipeline.screening import Field
from regreen.pipeline.search import Found, judge
from regreen.pipeline.shards import in_shards
from regreen.validation import ladder
from regreen.validation.minimise import minimise
from regreen.validation.perturb import perturbed
from regreen.values import (
    Candidate,
    Evidence,
    Interpreter,
    Outcome,
    Project,
    RunReport,
    RunRequest,
    TestSelection,
    TestStatus,
    Verdict,
    VerifiedFix,
)

RUNS = 3
SLOW_SECONDS = 5.0
"""A target that takes longer with the patch is run only once more, and the evidence says so."""

LONG_SECONDS = 4.0
"""How long the impacted tests must take for shards to pay in a cold run: each of these imports the project anew."""


async def prove(
    found: Found, field: Field, base: Baseline, tools: Tools, *, started: float
) -> VerifiedFix | ladder.Step:
    """Climb the rest of the ladder with one plausible candidate.

    Minimise; then, side by side: see the canary arrive, and the perturbed test fail; run target and impacted tests
    cold in a fresh copy; repeat the red ones.

    Args:
        found: the candidate.
        field: what it was judged against.
        base: the unpatched project.
        tools: the project's parts.
        started: when the heal began, on the tools' clock.

    Returns:
        The fix with its evidence, or the step that stopped it.
    """

    async def as_good(smaller: Candidate) -> bool:
        other = (await judge(field, smaller, tools))[1]
        return other is not None and len(other.mended) >= len(found.mended) and other.leaves <= found.leaves

    candidate = await minimise(found.candidate, as_good)
    overlay = {e.path: edits.apply_to_bytes(field.texts[e.path], e) for e in candidate.edits}
    target, selection = field.target, field.select(candidate)
    request = ladder.request_for(target, field.snapshot, overlay, candidate.origin)

    points = patched_points(candidate, overlay)
    wanted = RUNS if found.took <= SLOW_SECONDS else 2
    again = replace(
        request,
        nodeids=tuple(dict.fromkeys((*target.nodeids, *found.mended))),
        stop_at_first_failure=False,
    )
    arrived, judged, step, *repeats = await all_or_none(
        ladder.canary(tools.oracle, request, points),
        ladder.perturbed_fails(tools.oracle, target, request, perturbed(target.failure, field.sources)),
        _cold(field, selection, tools, request),
        *(_again(tools, again, target) for _ in range(wanted - 1)),
    )
    for seen in (arrived, judged, step, *repeats):
        if seen.verdict is not Verdict.PLAUSIBLE:
            return seen
    cold, *others = [seen.report for seen in (step, *repeats) if seen.report is not None]
    if not all(path in cold.origins for path in overlay):
        return ladder.Step(Verdict.TAMPERED, "the patched file was not what the tests imported", cold)

    reds = tuple(
        nodeid
        for nodeid in _turned_green(base, cold, target)
        if all(_passed(report, nodeid) for report in others)
    )
    fix = _fix(
        candidate,
        field,
        base,
        cold,
        reds,
        selection,
        wanted,
        found.took,
        tools.clock.monotonic() - started,
        tools.interpreter,
    )
    return replace(fix, flags=field.gate.examine(candidate, overlay).flags)


async def _again(tools: Tools, request: RunRequest, target: ladder.Target) -> ladder.Step:
    """Run the tests that the patch turned green once more, in a process of its own."""
    step = ladder.judge_target(await tools.oracle.run(request), target)
    if step.verdict is Verdict.PLAUSIBLE:
        return step
    return replace(step, reason=f"not green in every run: {step.reason}")


async def _cold(field: Field, selection: TestSelection, tools: Tools, request: RunRequest) -> ladder.Step:
    """Run target and impacted tests cold, where that takes long in shards, each in a process and a copy of its own.

    What is red in shards is tried again in one piece: it may be due to tests that are missing there.
    """
    target, known = field.target, field.known
    request = ladder.widened(ladder.cold(request), target, selection, known)
    seconds = sum(known.seconds.get(nodeid, 0.0) for nodeid in filter(known.green, selection.nodeids))
    if seconds > LONG_SECONDS:
        report = await in_shards(tools.oracle, request, known.seconds)
        step = ladder.judge_selection(report, target, selection, known)
        if step.verdict is Verdict.PLAUSIBLE:
            return step
    return ladder.judge_selection(await tools.oracle.run(request), target, selection, known)


def _turned_green(base: Baseline, report: RunReport, target: ladder.Target) -> tuple[str, ...]:
    """Other tests that were red in the baseline and passed with the patch."""
    return tuple(
        nodeid
        for nodeid, outcome in report.outcomes.items()
        if outcome.status is TestStatus.PASSED
        and nodeid != target.failure.nodeid
        and nodeid in base.outcomes
        and base.outcomes[nodeid].status.is_red
    )


def _passed(report: RunReport, nodeid: str) -> bool:
    outcome = report.outcomes.get(nodeid)
    return outcome is not None and outcome.status is TestStatus.PASSED


def _fix(
    candidate: Candidate,
    field: Field,
    base: Baseline,
    cold: RunReport,
    reds: tuple[str, ...],
    selection: TestSelection,
    runs: int,
    took: float,
    seconds: float,
    interpreter: Interpreter,
) -> VerifiedFix:
    failure = field.target.failure
    still_red = tuple(
        nodeid
        for nodeid in selection.nodeids
        if nodeid not in reds
        and nodeid != failure.nodeid
        and nodeid in base.outcomes
        and base.outcomes[nodeid].status.is_red
    )
    texts = [
        (
            file.path,
            edits.decode(field.texts[file.path]).text,
            edits.apply(edits.decode(field.texts[file.path]).text, file.edits),
        )
        for file in candidate.edits
    ]
    root = field.snapshot.project.root
    diff = "".join(edits.unified_diff(edits.relative(path, root), old, new) for path, old, new in texts)
    notes = []
    if runs < RUNS:
        notes.append(f"runs reduced to {runs}: the test takes {took:.1f} s")
    if not selection.complete:
        notes.append("not every test that may be affected was run")
    if field.target.before:
        notes.append(f"run after {len(field.target.before)} tests of its file, without which it was green")
    evidence = Evidence(
        red_to_green=(failure.nodeid, *reds),
        still_green=sum(1 for n in selection.nodeids if field.known.green(n) and n != failure.nodeid),
        still_red=still_red,
        runs=runs,
        runs_wanted=RUNS,
        selection=selection,
        complete=selection.complete,
        canary="reached",
        lines_changed=sum(edits.changed_lines(old, new) for _, old, new in texts),
        isolation=cold.isolation,
        seconds=seconds,
        command=reproduce_command(
            field.snapshot.project, interpreter, (failure.nodeid, *reds, *selection.nodeids)
        ),
        notes=tuple(notes),
    )
    return VerifiedFix(
        fix_id=hashlib.sha256(f"{failure.nodeid}\0{diff}".encode()).hexdigest()[:12],
        failure=failure,
        candidate=candidate,
        evidence=evidence,
        base_digests={file.path: file.base_digest for file in candidate.edits},
        diff=diff,
        target_only=not selection.complete or bool(still_red),
    )


def reproduce_command(project: Project, interpreter: Interpreter, nodeids: Iterable[str]) -> str:
    """Return a shell line that runs what the proof ran; many tests are named by their files.

    Where the interpreter has no pytest, the tests are what its own test runner takes.
    """
    named = list(dict.fromkeys(nodeids))
    if len(named) > 8:
        named = [named[0], *sorted({nodeid.partition("::")[0] for nodeid in named[1:]})]
    runner = ["-m", "pytest"]
    if interpreter.pytest_version is None:
        runner = ["manage.py", "test"] if project.kind == "django" else ["-m", "unittest"]
        named = [
            ".".join([file.removesuffix(".py").replace("/", "."), *inside])
            for file, *inside in (nodeid.split("::") for nodeid in named)
        ]
    return (
        f"cd {shlex.quote(str(project.root))} && {shlex.join([str(interpreter.executable), *runner, *named])}"
    )


def outcome_of(fixes: Iterable[VerifiedFix]) -> Outcome:
    """Return how the heal ended, given its best offers."""
    return Outcome.VERIFIED if any(not fix.target_only for fix in fixes) else Outcome.VERIFIED_TARGET_ONLY
