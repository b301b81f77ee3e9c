"""What does `regreen heal` do, from its arguments to its exit status?"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from regreen.errors import EnvironmentProblem, NoTests, RegreenError, StaleFix, UsageError, UserError
from regreen.llm.parts import Person
from regreen.pipeline import PATIENT_SECONDS, Baseline, Resume, Tools, baseline, heal_again, heal_all
from regreen.platform.background import run_blocking
from regreen.ports import Git, History, Mirror
from regreen.settings import Settings
from regreen.terminal import ndjson
from regreen.terminal.blocks import summary_line
from regreen.terminal.configured import settings_for
from regreen.terminal.console import outputs
from regreen.terminal.delivery import Delivery, applied, patched, top_of
from regreen.terminal.evidence import seconds
from regreen.terminal.narrowing import from_junit, from_last_failed
from regreen.terminal.patches import FileChange, best_fixes, changes
from regreen.terminal.person import TerminalPerson, ask
from regreen.terminal.progress import ShownReporter, for_people
from regreen.terminal.together import verified_together
from regreen.values import HealResult, Outcome, Project, RunReport, VerifiedFix
from regreen.workspace.arguments import Target, resolve
from regreen.workspace.mirror import ProjectMirror

PYTEST_FOUND_NOTHING = 5
"""pytest's exit status when it collected no tests."""

STOPPED = 130
"""The exit status of a command that was told to stop."""

OpenTools = Callable[[Project, Settings, Person], Awaitable[Tools]]


@dataclass(frozen=True, slots=True)
class HealOptions:
    """The command line, parsed.

    Args:
        arguments: folders, files and node ids.
        cwd: what relative ones are relative to.
        patch: where a patch goes; None for none.
        junit: a report that names the red tests; None to find them by running.
        settings: by key, over those of the project.
        consent: what a language model would be sent may be sent, without being asked.
        resume: take up an earlier heal by a model; then the arguments name its test.
    """

    arguments: tuple[str, ...]
    cwd: Path
    apply: bool = False
    check: bool = False
    json: bool = False
    patch: Path | None = None
    last_failed: bool = False
    junit: Path | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    consent: bool = False
    resume: Resume | None = None


@dataclass(frozen=True, slots=True)
class Healed:
    """What became of one project.

    Args:
        tests: how many tests ran unpatched.
        fixes: those that hold together, to be applied.
        left_out: verified fixes that do not fit to the others.
        files: what the fixes make of the files.
        history: hears which fixes were accepted.
    """

    project: Project
    tests: int = 0
    results: tuple[HealResult, ...] = ()
    fixes: tuple[VerifiedFix, ...] = ()
    left_out: tuple[VerifiedFix, ...] = ()
    files: tuple[FileChange, ...] = ()
    history: History | None = None


async def heal_command(options: HealOptions, open_tools: OpenTools, git: Git) -> int:
    """Heal every red test that the arguments name, and deliver the fixes as asked.

    Returns:
        0 when nothing is red or every red test has a verified fix, 1 when some have none (with `check`:
        when anything is red), 2 when a project could not be run.

    Raises:
        UserError: the arguments or the environment make no sense.
        asyncio.CancelledError: stopped; no process is left.
    """
    out, err = outputs(machine=options.json)
    began = time.monotonic()
    targets = await run_blocking(_narrowed, options, await resolve(options.arguments, options.cwd, git))
    healed: list[Healed] = []
    problems = 0
    delivery = Delivery()
    try:
        for target in targets:
            one = await _or_problem(_heal_target(target, options, open_tools, out, err))
            if isinstance(one, Healed):
                healed.append(one)
            elif len(targets) == 1:
                raise one
            else:
                problems += not isinstance(one, NoTests)
                err.print(f"{target.project.root}: {one}")
        delivery = await _deliver(options, healed, git)
    except asyncio.CancelledError:
        _summarise(options, out, healed, delivery, time.monotonic() - began, STOPPED)
        raise
    status = 2 if problems or (targets and not healed) else _status(options, healed)
    _summarise(options, out, healed, delivery, time.monotonic() - began, status)
    return status


async def _or_problem(work: Awaitable[Healed]) -> Healed | RegreenError:
    """One project that cannot be run must not keep the others from being healed."""
    try:
        return await work
    except (UserError, StaleFix) as error:
        return error


def _narrowed(options: HealOptions, targets: tuple[Target, ...]) -> tuple[Target, ...]:
    if options.patch is not None and not options.patch.parent.is_dir():
        raise UsageError(f"There is no folder {options.patch.parent} for the patch.")
    if options.junit is not None:
        targets = from_junit(targets, options.junit)
    elif options.last_failed:
        targets = tuple(from_last_failed(target) for target in targets)
    else:
        return targets
    return tuple(target for target in targets if target.nodeids)


async def _heal_target(
    target: Target, options: HealOptions, open_tools: OpenTools, out: Console, err: Console
) -> Healed:
    project = target.project
    settings, complaints = await run_blocking(settings_for, project, options.settings)
    for sentence in complaints:
        err.print(sentence)
    reporter: ShownReporter = (
        ndjson.NdjsonReporter(out.file, project.root) if options.json else for_people(out, err)
    )
    async with AsyncExitStack() as ending:
        tools = await open_tools(
            project, settings, TerminalPerson(err, reporter.paused, consent=options.consent)
        )
        ending.push_async_callback(tools.close)
        await _may_copy(tools.mirror, err)
        with reporter.showing():
            return await _heal_with(tools, settings, reporter, target, options)


async def _may_copy(mirror: Mirror, err: Console) -> None:
    """Ask a person at a terminal before a very large project is copied; refuse for anybody else."""
    try:
        await mirror.sync({})
    except UserError as error:
        if not (isinstance(mirror, ProjectMirror) and mirror.size > mirror.max_bytes):
            raise
        if not (sys.stdin.isatty() and err.is_terminal):
            raise UsageError(error.what, "Allow it with --max-gigabytes, or move large data away.") from error
        answer = await ask(err, f"{error.what} Copy it all the same? [y/N] ")
        if answer.strip().lower() not in {"y", "yes"}:
            raise
        mirror.max_bytes = mirror.size


async def _heal_with(
    tools: Tools,
    settings: Settings,
    reporter: ShownReporter,
    target: Target,
    options: HealOptions,
) -> Healed:
    base = await baseline(tools, settings, reporter, nodeids=target.nodeids)
    _must_have_run(base.report, target.project)
    results: tuple[HealResult, ...] = ()
    if base.report.failures:
        results = await _healed(base, tools, settings, reporter, options.resume)
    fixes = best_fixes(results)
    if not (options.apply or options.patch):
        return Healed(target.project, len(base.report.outcomes), results, fixes)
    return await _with_files(base, tools, settings, reporter, results, fixes)


async def _healed(
    base: Baseline, tools: Tools, settings: Settings, reporter: ShownReporter, resume: Resume | None
) -> tuple[HealResult, ...]:
    if resume is None:
        return await heal_all(base, tools, settings, reporter, map_seconds=PATIENT_SECONDS)
    resumes = {one.nodeid: resume for one in base.report.failures}
    return await heal_again(base, tools, settings, reporter, resumes, map_seconds=PATIENT_SECONDS)


async def _with_files(
    base: Baseline,
    tools: Tools,
    settings: Settings,
    reporter: ShownReporter,
    results: tuple[HealResult, ...],
    fixes: tuple[VerifiedFix, ...],
) -> Healed:
    project = base.snapshot.project
    kept, left_out = await verified_together(fixes, base, tools, settings, reporter)
    files = await run_blocking(changes, kept)
    return Healed(project, len(base.report.outcomes), results, kept, left_out, files, tools.history)


def _must_have_run(report: RunReport, project: Project) -> None:
    """Refuse to call a suite green that never ran."""
    if report.outcomes:
        return
    if report.problem:
        raise EnvironmentProblem(
            f"The tests of {project.root} could not be run: {report.problem}",
            "`regreen doctor` shows how they are run.",
        )
    if report.exit_status in (0, PYTEST_FOUND_NOTHING):
        raise NoTests(
            f"pytest found no tests in {project.root}.", "Give the folder of a project that has tests."
        )
    raise EnvironmentProblem(
        f"pytest ended with status {report.exit_status} before any test of {project.root} ran:\n"
        f"{report.stderr.strip()}",
        "The same command without Regreen shows the same; `regreen doctor` prints the interpreter.",
    )


async def _deliver(options: HealOptions, healed: Sequence[Healed], git: Git) -> Delivery:
    files = [file for one in healed for file in one.files]
    delivery = Delivery()
    touched = [one.project.root for one in healed if one.files]
    top = await top_of(files, touched, git) if files else options.cwd
    if options.patch is not None:
        delivery = await run_blocking(patched, files, top, options.patch, delivery)
    if options.apply and files:
        delivery = await run_blocking(applied, files, top, delivery)
        await run_blocking(_remember_accepted, healed)
    return delivery


def _remember_accepted(healed: Sequence[Healed]) -> None:
    for one in healed:
        if one.history is not None:
            for fix in one.fixes:
                one.history.mark(one.project, fix, undone=False)


def _status(options: HealOptions, healed: Sequence[Healed]) -> int:
    results = [result for one in healed for result in one.results]
    if options.check:
        return 1 if results else 0
    left_out = any(one.left_out for one in healed)
    return 1 if left_out or any(result.outcome is not Outcome.VERIFIED for result in results) else 0


def _summarise(
    options: HealOptions,
    out: Console,
    healed: Sequence[Healed],
    delivery: Delivery,
    elapsed: float,
    status: int,
) -> None:
    results = [result for one in healed for result in one.results]
    tests = sum(one.tests for one in healed)
    if options.json:
        fields = ndjson.summary_fields(
            results,
            tests=tests,
            applied=delivery.written,
            undo=delivery.undo,
            patch=delivery.patch,
            top=delivery.top,
            elapsed=elapsed,
            status=status,
        )
        ndjson.write(out.file, "summary", fields)
        return
    if status == STOPPED:
        out.print(f"Stopped after {seconds(elapsed)}. What was found until then is shown above.")
        return
    out.print(summary_line(results, tests, elapsed))
    for fix in (fix for one in healed for fix in one.left_out):
        out.print(
            f"Left out: {fix.candidate.title} for {fix.failure.nodeid}; it does not go together with the others."
        )
    if delivery.patch:
        out.print(f"Patch:   {delivery.patch}, made for `git apply` in {delivery.top}")
    if delivery.written:
        out.print(f"Changed: {', '.join(delivery.written)}")
        out.print(f"Undo:    {delivery.undo}")
    elif any(one.fixes for one in healed) and not options.check:
        out.print("No file was changed. The same command with --apply applies the verified fixes.")
