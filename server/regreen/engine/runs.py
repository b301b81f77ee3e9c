"""What does one job of a project do: choose the tests, run them, search for fixes, check them in idle time?"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Protocol

from regreen import pipeline
from regreen.engine.choose import Choice, choose, move_lines, quick_tests, tests_of, touched_by
from regreen.engine.documents import Documents
from regreen.engine.judgement import Search, choose_search, group_by_cause, unchecked_offers
from regreen.engine.lane import Job
from regreen.engine.state import Offer, ProjectState, file_of, make_offer, short_name
from regreen.engine.world import Face, Level, World
from regreen.history.database import utc
from regreen.history.journal import midnight
from regreen.llm.parts import ModelParts, Nobody
from regreen.pipeline import Baseline, Tools
from regreen.pipeline.texts import MAX_BYTES
from regreen.platform.background import run_blocking
from regreen.settings import Settings
from regreen.validation.ladder import Known
from regreen.values import CandidateVerdict, Failure, HealResult, Outcome, Progress, Snapshot, TestOutcome

log = logging.getLogger(__name__)

COLD_SECONDS = 10.0
COLD_FILES = 4
READ_BY_JOBS = (
    "enable", "run_tests", "auto_heal_on_save", "heal_seconds", "heal_candidates", "heal_offers", "heal_without",
    "tests_never", "slow_markers", "seconds_per_test", "llm_base_url", "llm_key_variable", "llm_fallbacks",
    "llm_roles", "llm_context", "llm_rounds", "llm_strategies", "llm_autonomy", "budget_fix_usd", "budget_day_usd",
    "budget_calls", "budget_tokens", "budget_seconds", "budget_unknown_price",
)  # fmt: skip
"""Fields of settings that each job reads anew; with any other one, tools are built again."""
NOT_FOUND = 4
"""Pytest's exit status when an argument names nothing; it then runs nothing at all."""


class Keep(Protocol):
    """Takes over how a heal ended, or what is known while it still goes on."""

    def __call__(self, result: HealResult, *, ended: bool) -> None:
        """Take it over soon."""
        ...


class RunReporter:
    """Passes on what the pipeline says while one job runs."""

    def __init__(self, state: ProjectState, face: Face, keep: Keep) -> None:
        self._state = state
        self._face = face
        self._keep = keep
        self._tried = 0

    def progress(self, progress: Progress) -> None:
        """A stage was entered or moved on."""
        name = f"{short_name(progress.nodeid)}: " if progress.nodeid else ""
        self._face.report(self._state.root, name + progress.message, progress.fraction)

    def failure(self, failure: Failure) -> None:
        """A red test was seen; it is shown when its run is over."""

    def candidate(self, failure: Failure, verdict: CandidateVerdict) -> None:
        """A candidate was judged."""
        self._tried += 1
        log.debug("%s: %s %s", failure.nodeid, verdict.verdict.value, verdict.reason)
        if self._tried % 10 == 0:
            message = f"{short_name(failure.nodeid)}: {self._tried} candidates tried"
            self._face.report(self._state.root, message, None)

    def offer(self, result: HealResult) -> None:
        """A first fix is there; others are still being looked at."""
        self._keep(result, ended=False)

    def result(self, result: HealResult) -> None:
        """A heal ended."""
        self._keep(result, ended=True)


class Runs:
    """Does the jobs of all projects.

    Args:
        refresh: called whenever what is shown of a project may have changed.
    """

    def __init__(
        self, world: World, face: Face, documents: Documents, refresh: Callable[[ProjectState], None]
    ) -> None:
        self._world = world
        self._face = face
        self._documents = documents
        self._refresh = refresh

    async def do(self, state: ProjectState, job: Job) -> tuple[Offer, ...]:
        """Do a job; gives the fixes that it found and that may be applied by themselves.

        Raises:
            UserError: nothing can run, and the user can mend it.
        """
        tools = await self.tools(state)
        if job.check_suite:
            await self._check_suite(state, tools)
            return ()
        unsaved = self._documents.unsaved(state.root)
        if job.whole_suite:
            return await self._run(state, tools, job, (), unsaved)
        choice = await self._choose(state, tools, job, unsaved)
        state.owed.update(choice.warm)
        cold = choice.cold if job.changed else ()
        asked = () if cold else job.tests
        found: tuple[Offer, ...] = ()
        if warm := tuple(dict.fromkeys((*asked, *(state.owed if job.changed else ())))):
            found = await self._run(state, tools, job, warm, unsaved)
        started = self._world.clock.monotonic()
        ran: list[str] = [*warm]
        for start in range(0, len(cold), COLD_FILES):
            if start and self._world.clock.monotonic() - started > COLD_SECONDS:
                break  # a cold map is not worth more than this; the rest is run when it is asked for
            ran += cold[start : start + COLD_FILES]
            found += await self._run(state, tools, job, cold[start : start + COLD_FILES], unsaved)
        # Last, as a search may take a minute, and what was just saved is not to wait for it.
        if left := tuple(nodeid for nodeid in job.tests if not _asked_for(nodeid, ran)):
            found += await self._run(state, tools, job, left, unsaved)
        return found

    async def tools(self, state: ProjectState) -> Tools:
        """The tools of a project, built when first needed and again when its settings changed."""
        settings = state.settings
        built_for = state.tools_settings
        if state.tools is not None and built_for is not None and _same_tools(built_for, settings):
            return state.tools
        await state.close_tools()
        tools = await self._world.tools(state.project, settings, self._face)
        state.tools, state.tools_settings = tools, settings
        return tools

    async def _choose(
        self, state: ProjectState, tools: Tools, job: Job, unsaved: Mapping[Path, bytes]
    ) -> Choice:
        self._face.report(state.root, "looking at what changed", None)
        snapshot = await tools.mirror.sync(unsaved)
        old = state.texts
        new = await read_texts(old, snapshot, tools)
        before, after = {p: d for p, (_, d) in old.items()}, {p: d for p, (_, d) in new.items()}
        missed = {p for p, data in after.items() if p in before and before[p] != data}
        gone = before.keys() - after.keys()
        choice = await choose(state, before, after, job.changed | missed | gone)
        for path in missed:
            move_lines(state, path, before[path], after[path])
        state.forget_files(gone)
        state.texts = new
        return choice

    async def _baseline(
        self,
        state: ProjectState,
        tools: Tools,
        reporter: RunReporter,
        nodeids: Sequence[str],
        unsaved: Mapping[Path, bytes],
    ) -> Baseline:
        """Run tests as they are; when some are gone, and pytest therefore runs none, run their files."""
        settings = state.settings
        base = await pipeline.baseline(tools, settings, reporter, nodeids=nodeids, unsaved=unsaved)
        asked = list(nodeids)
        if nodeids and base.report.exit_status == NOT_FOUND and not base.report.outcomes:
            texts = {path: data for path, (_, data) in state.texts.items()}
            files = [state.root / name for name in dict.fromkeys(map(file_of, nodeids))]
            left = [nodeid for file in files if file in texts for nodeid in tests_of(file, texts, state)]
            if left:
                asked += [*left, *map(file_of, nodeids)]
                base = await pipeline.baseline(tools, settings, reporter, nodeids=left, unsaved=unsaved)
        state.absorb(base, asked)
        return base

    async def _run(
        self,
        state: ProjectState,
        tools: Tools,
        job: Job,
        nodeids: Sequence[str],
        unsaved: Mapping[Path, bytes],
    ) -> tuple[Offer, ...]:
        red_before = {f.nodeid for f in state.red_failures()} | state.known_reds.keys()
        found: list[Offer] = []
        keeping: list[asyncio.Task[None]] = []
        in_order = asyncio.Lock()

        async def kept(result: HealResult, *, ended: bool) -> None:
            async with in_order:
                offers = await self._keep(state, tools, base, result, ended=ended)
                found.extend(offers if ended else ())

        def keep(result: HealResult, *, ended: bool) -> None:
            state.searching -= {result.failure.nodeid}
            keeping.append(asyncio.get_running_loop().create_task(kept(result, ended=ended)))

        reporter = RunReporter(state, self._face, keep)
        base = await self._baseline(state, tools, reporter, nodeids, unsaved)
        state.texts = await read_texts(state.texts, base.snapshot, tools)
        state.problem = _unusable(base)
        search = await self._search(state, tools, job, base, red_before)
        state.grouped = (state.grouped - base.report.outcomes.keys()) | search.grouped
        state.searching = frozenset(search.heal)
        self._refresh(state)
        self._tell_of_groups(state, search)
        try:
            if search.heal:
                await self._heal(state, tools, job, base, reporter, search.heal)
        finally:
            state.searching = frozenset()
            await asyncio.gather(*keeping)
            self._refresh(state)
        return tuple(found)

    async def _heal(
        self,
        state: ProjectState,
        tools: Tools,
        job: Job,
        base: Baseline,
        reporter: RunReporter,
        nodeids: Sequence[str],
    ) -> None:
        """Heal red tests; those of which a heal by a model is taken up again, from where it was left."""
        asked_for = job.heal and not job.offers_only
        used = tools if asked_for else replace(tools, model=_unasked(tools.model, state.settings))
        resumes = await self._resumes(used, job)
        if resumes:
            await pipeline.heal_again(base, used, state.settings, reporter, resumes)
        if others := [nodeid for nodeid in nodeids if nodeid not in resumes]:
            await pipeline.heal_all(base, used, state.settings, reporter, nodeids=others)

    @staticmethod
    async def _resumes(tools: Tools, job: Job) -> Mapping[str, pipeline.Resume]:
        resumes: dict[str, pipeline.Resume] = {}
        if tools.model is None:
            return resumes
        for again in job.again:
            rounds = await run_blocking(tools.model.journal.rounds, again.heal)
            kept = tuple(one for one in rounds if again.round is None or one.number <= again.round)
            resumes[again.nodeid] = pipeline.Resume(kept, again.hint, again.model)
        return resumes

    async def _search(
        self, state: ProjectState, tools: Tools, job: Job, base: Baseline, red_before: set[str]
    ) -> Search:
        ran = base.report.outcomes
        if job.heal:
            asked = set(job.tests)
            names = [
                o.nodeid
                for o in ran.values()
                if o.status.is_red and (job.whole_suite or not asked or _asked_for(o.nodeid, asked))
            ]
            if not job.changed:
                return Search(tuple(names), frozenset())
            own = await self._unasked(state, tools, ran, red_before)
            return Search(tuple(dict.fromkeys((*names, *own.heal))), own.grouped - set(names))
        if not job.changed and (job.tests or job.whole_suite):  # "run the tests" is not "find fixes"
            return Search((), frozenset())
        return await self._unasked(state, tools, ran, red_before)

    async def _unasked(
        self, state: ProjectState, tools: Tools, ran: Mapping[str, TestOutcome], red_before: set[str]
    ) -> Search:
        committed: set[Path] = set()
        if await tools.git.toplevel(state.root) is not None:
            changed = await tools.git.changed_files(state.root)
            committed = {outcome.path for outcome in ran.values()} - changed
        return choose_search(state, ran, red_before, committed)

    def _tell_of_groups(self, state: ProjectState, search: Search) -> None:
        if search.grouped:
            groups = group_by_cause(f for f in state.red_failures() if f.nodeid in search.grouped)
            text = f"{len(search.grouped)} tests are red, {len(groups)} causes; fixes are looked for when you ask."
            self._face.log(Level.INFO, text)

    async def _keep(
        self, state: ProjectState, tools: Tools, base: Baseline, result: HealResult, *, ended: bool
    ) -> Sequence[Offer]:
        if result.outcome is Outcome.CANCELLED:
            return ()
        offers = []
        for fix in result.fixes:
            paths = [edit.path for edit in fix.candidate.edits]
            before = {path: await tools.mirror.read(base.snapshot, path) for path in paths}
            offers.append(make_offer(fix, state.root, before))
        nodeid = result.failure.nodeid
        if (outcome := state.outcomes.get(nodeid)) is not None and outcome.status.is_red:
            state.keep_result(result, offers)  # else one of its offers was taken meanwhile
            self._refresh(state)
        if result.spent is not None and tools.model is not None:
            spent = await run_blocking(partial(tools.model.journal.spent, since=midnight(utc())))
            state.usd_today = spent.usd
            self._refresh(state)
        if ended:
            told = f"{nodeid}: {result.outcome.value} after {result.seconds:.1f} s. {result.cause}"
            self._face.log(Level.INFO, told)
        return offers

    async def _check_suite(self, state: ProjectState, tools: Tools) -> None:
        """Run the whole suite with each verified fix; one that breaks a green test is withdrawn."""
        snapshot = await tools.mirror.sync(self._documents.unsaved(state.root))
        quick = dict.fromkeys(quick_tests(state))
        files = [name for name in dict.fromkeys(map(file_of, quick)) if state.root / name in snapshot.files]
        tests = [n for n in await pipeline.collected(tools, snapshot, files) if n in quick]
        known = Known(
            {nodeid: state.outcomes[nodeid].status for nodeid in tests},
            {nodeid: state.outcomes[nodeid].seconds for nodeid in tests},
        )
        suite = pipeline.Suite(tools, snapshot, known, state.settings.seconds_per_test)
        for offer in unchecked_offers(state, snapshot):
            nodeid = offer.fix.failure.nodeid
            self._face.report(state.root, f"{short_name(nodeid)}: {len(tests)} tests with its fix", None)
            broken = await suite.broken_by(offer.after, await touched_by(state, offer))
            state.suite_checked.add(offer.fix.fix_id)
            if broken:
                reason = f"The whole suite spoke against the fix: {broken}."
                state.withdraw(offer.fix.fix_id, reason)
                self._face.log(Level.INFO, f"{nodeid}: an offer was withdrawn. {reason}")
                self._refresh(state)


async def read_texts(
    known: Mapping[Path, tuple[str, bytes]], snapshot: Snapshot, tools: Tools
) -> dict[Path, tuple[str, bytes]]:
    """Digest and bytes of every Python file of a snapshot; only what changed is read."""
    texts: dict[Path, tuple[str, bytes]] = {}
    for path, entry in snapshot.files.items():
        if path.suffix == ".py" and entry.size <= MAX_BYTES:
            old = known.get(path)
            fresh = old is not None and old[0] == entry.digest
            texts[path] = old if old and fresh else (entry.digest, await tools.mirror.read(snapshot, path))
    return texts


def _asked_for(nodeid: str, asked: Iterable[str]) -> bool:
    return any(nodeid == name or nodeid.startswith((f"{name}::", f"{name}[")) for name in asked)


def _same_tools(one: Settings, other: Settings) -> bool:
    """Whether tools built for one are right for the other."""
    return replace(one, **{name: getattr(other, name) for name in READ_BY_JOBS}) == other


def _unasked(model: ModelParts | None, settings: Settings) -> ModelParts | None:
    """What a heal that nobody asked for may use of a model: nothing, or, fully automatic, what was allowed before."""
    if model is None or settings.llm_autonomy != "auto":
        return None
    return replace(model, person=Nobody())


def _unusable(base: Baseline) -> str:
    """Why a run showed nothing at all; empty when it showed something."""
    return f"The tests could not run: {base.report.problem}" if base.report.problem else ""
