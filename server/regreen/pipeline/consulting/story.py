"""How does a model's heal go, from the diagnosis to the proof? The whole story on one screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from regreen.errors import UserError
from regreen.llm.case import Case
from regreen.llm.debugger import diagnose
from regreen.llm.desk import Desk, Stop
from regreen.llm.judge import judge
from regreen.llm.parts import ModelParts
from regreen.llm.repairer import Wish, propose
from regreen.llm.summariser import lessons_of
from regreen.pipeline.concurrent import all_or_none
from regreen.pipeline.consulting import stops
from regreen.pipeline.consulting.attempts import Judged, by_size, judged
from regreen.pipeline.consulting.critique import Doubt, doubt
from regreen.pipeline.consulting.review import approved_patches, approved_plan
from regreen.pipeline.consulting.sides import facts
from regreen.pipeline.consulting.standing import for_a_model
from regreen.pipeline.consulting.toolbox import ProjectToolbox
from regreen.pipeline.consulting.values import Consulted, Resume
from regreen.pipeline.ground import Ground
from regreen.pipeline.offers import proven
from regreen.pipeline.parts import Tools
from regreen.pipeline.ranking import ranked
from regreen.pipeline.reasons import cause_of, spent_text
from regreen.pipeline.search import Budget, Found, Search
from regreen.platform.background import run_blocking
from regreen.platform.waiting import uninterrupted
from regreen.ports import Reporter
from regreen.settings import Settings
from regreen.values import Attempt, Diagnosis, Flag, Judgement, Lesson, Progress, Round, Spent, VerifiedFix

DOUBTED = "doubted"
"""The name of the flag of a fix that the model itself found fault with."""


@dataclass(slots=True)
class Consultation:
    """One heal by a model.

    Args:
        desk: asks.
        case: the evidence.
        ground: the failure's suspects, and what judges patches.
        tools: the project's parts.
        settings: budgets and limits.
        reporter: hears of progress and of each judged patch.
        tell: hears of the first fix.
        started: when the heal began, on the tools' clock.
        toolbox: what the model may look at.
        hint: what the user said.
        rounds: what was done so far, in order; round 0 is the diagnosis.
        taken: how many of its rounds of patches were taken over from an earlier heal.
        lessons: what earlier heals taught.
        doubts: plausible patches that the critic found fault with.
    """

    desk: Desk
    case: Case
    ground: Ground
    tools: Tools
    settings: Settings
    reporter: Reporter
    tell: Callable[[VerifiedFix], None]
    started: float
    toolbox: ProjectToolbox
    hint: str = ""
    rounds: list[Round] = field(default_factory=list)
    taken: int = 0
    lessons: Sequence[Lesson] = ()
    doubts: list[tuple[Found, Doubt]] = field(default_factory=list)

    async def run(self) -> Consulted:
        """Diagnose, then ask for patches round by round until one is proven or it is no use to go on."""
        for taken_over in tuple(self.rounds):
            await self._keep(taken_over)
        self.taken = len(self._patched)
        diagnosis = await self._diagnosis()
        if isinstance(diagnosis, Stop):
            return Consulted(diagnosis.reason, diagnosis.text)
        if self.settings.llm_autonomy == "diagnose":
            return Consulted(stops.DIAGNOSED, "It was asked only what is wrong.", diagnosis=diagnosis)
        if self.settings.llm_autonomy == "review":
            plan = await approved_plan(diagnosis, self.desk.parts.person)
            if plan is None:
                return Consulted(stops.REFUSED, "You rejected its plan.", diagnosis=diagnosis)
            diagnosis = plan
        self.lessons = await self._remembered()
        fixes: tuple[VerifiedFix, ...] = ()
        stop = Stop("", "")
        while not stop.reason:
            fixes, stop = await self._round(diagnosis)
        if not fixes and self.doubts:
            fixes = await self._doubted()
        if fixes:
            stop = Stop(stops.VERIFIED, "")
            await self._learn(diagnosis)
        judged = await self._judged() if stop.reason in stops.FRUITLESS else None
        return Consulted(stop.reason, stop.text, fixes, diagnosis=diagnosis, judgement=judged)

    # ------------------------------------------------------------------ the diagnosis

    async def _diagnosis(self) -> Diagnosis | Stop:
        known = next((one.diagnosis for one in reversed(self.rounds) if one.diagnosis is not None), None)
        if known is not None and not self.hint:
            return known
        self._say(f"{self.desk.model} looks for the cause")
        self.desk.round = 0
        found = await diagnose(self.desk, self.case, self.toolbox, hint=self.hint)
        diagnosis = None if isinstance(found, Stop) else found
        await self._keep(Round(self.desk.heal, 0, diagnosis, hint=self.hint, model=self.desk.model))
        return found

    # ------------------------------------------------------------------ one round

    async def _round(self, diagnosis: Diagnosis) -> tuple[tuple[VerifiedFix, ...], Stop]:
        """Ask for patches with several strategies, judge them, and prove the best."""
        number = len(self._patched) + 1
        self.desk.round = number
        taken = stops.strategies(self._patched, diagnosis.confidence, self.settings.llm_strategies)
        self._say(
            f"round {number}: {self.desk.model} writes {len(taken)} {'patch' if len(taken) == 1 else 'patches'}"
        )
        wish = Wish(diagnosis, self.attempts, self.lessons, self.hint)
        proposals = await all_or_none(
            *(
                propose(self.desk, self.case, wish, one, self.ground.field.sources, self._may_change)
                for one in taken
            )
        )
        stop = next((one for one in proposals if isinstance(one, Stop)), None)
        given = [one for one in proposals if not isinstance(one, Stop)]
        if self.settings.llm_autonomy == "review":
            given = await approved_patches(given, self.ground, self.desk.parts.person)
        results = await all_or_none(
            *(
                judged(one, diagnosis, self.ground, self.tools, self.reporter, len(self.attempts) + place)
                for place, one in enumerate(given)
            )
        )
        fixes, attempts = await self._tournament(results)
        await self._keep(
            Round(self.desk.heal, number, attempts=attempts, hint=self.hint, model=self.desk.model)
        )
        if fixes:
            return fixes, Stop(stops.VERIFIED, "")
        if stop is not None:
            return (), stop
        reason = stops.stop_after(self._patched, limit=self.settings.llm_rounds, taken=self.taken)
        return (), Stop(reason, stops.SENTENCES.get(reason, ""))

    async def _tournament(
        self, results: Sequence[Judged]
    ) -> tuple[tuple[VerifiedFix, ...], tuple[Attempt, ...]]:
        """Criticise the plausible ones, best first, and prove what stands."""
        order = by_size([one.found for one in results if one.found is not None], self.ground)
        rejected: dict[str, str] = {}
        standing: list[Found] = []
        for found in ranked(order):
            mine = next(
                one.attempt for one in results if one.found and one.found.candidate is found.candidate
            )
            said = await doubt(found, mine, self.desk, self.case, self.ground, self.toolbox)
            if isinstance(said, Doubt):
                self.doubts.append((found, said))
                rejected[mine.patch_digest] = said.text
            else:  # it found nothing, or can no longer be asked
                standing.append(found)
        fixes = await self._proven(standing, self.tell)
        told = tuple(
            replace(one.attempt, verdict="DOUBTED", reason=rejected[one.attempt.patch_digest])
            if one.attempt.patch_digest in rejected and one.found is not None
            else one.attempt
            for one in results
        )
        return fixes, told

    async def _proven(
        self, found: Sequence[Found], tell: Callable[[VerifiedFix], None]
    ) -> tuple[VerifiedFix, ...]:
        clock = self.tools.clock
        budget = Budget(clock, clock.monotonic() + self.settings.heal_seconds, len(found))
        hunt = Search(found=list(found))
        fixes, _ = await proven(hunt, self.ground, self.tools, self.settings, budget, self.started, tell)
        return fixes

    async def _doubted(self) -> tuple[VerifiedFix, ...]:
        """Fixes that pass every test and that the model found fault with: offered with its doubt, as nothing better came."""
        said = {found.candidate: doubt.text for found, doubt in self.doubts}
        fixes = await self._proven([found for found, _ in self.doubts], lambda _fix: None)  # not told early
        return tuple(replace(fix, flags=(*fix.flags, _flag(said.get(fix.candidate, "")))) for fix in fixes)

    async def _judged(self) -> Judgement | None:
        """Ask whether it is the test that is out of date, when no patch of the code turns it green."""
        self._say(f"{self.desk.model} weighs test against code")
        return await judge(self.desk, self.case, await facts(self.ground, self.tools), hint=self.hint)

    # ------------------------------------------------------------------ what is remembered

    @property
    def _patched(self) -> list[Round]:
        """The rounds that asked for patches."""
        return [one for one in self.rounds if one.number > 0]

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """Every attempt so far."""
        return tuple(one for round_ in self.rounds for one in round_.attempts)

    def _may_change(self, path: Path) -> bool:
        """Whether a patch may touch a file: one with suspects, that may be shown."""
        suspected = any(one.path == path for one in self.ground.suspects)
        return suspected and not self.toolbox.sendable(path)

    async def _keep(self, round_: Round) -> None:
        others = [one for one in self.rounds if one.number != round_.number]
        self.rounds = sorted((*others, round_), key=lambda one: one.number)
        self.toolbox.attempts = self.attempts
        journal, project = self.desk.parts.journal, self.ground.field.snapshot.project
        await run_blocking(journal.record_round, project, round_)

    async def stopped(self, reason: str) -> None:
        """Say in the journal why it ended."""
        last = self.rounds[-1] if self.rounds else Round(self.desk.heal, 0, model=self.desk.model)
        await self._keep(replace(last, stop=reason))

    async def _remembered(self) -> Sequence[Lesson]:
        journal, project = self.desk.parts.journal, self.ground.field.snapshot.project
        return await run_blocking(journal.lessons, project, self.case.signature, self.case.words)

    async def _learn(self, diagnosis: Diagnosis) -> None:
        """Keep what this heal taught; it counts once its fix is accepted."""
        lessons = await lessons_of(self.desk, self.case, diagnosis, self.attempts)
        if lessons:
            journal, project = self.desk.parts.journal, self.ground.field.snapshot.project
            await run_blocking(journal.keep_lessons, project, self.desk.heal, lessons)

    def _say(self, text: str) -> None:
        self.reporter.progress(Progress("model", text, self.ground.field.target.failure.nodeid))


async def consult(
    parts: ModelParts,
    ground: Ground,
    tools: Tools,
    settings: Settings,
    reporter: Reporter,
    heal: str,
    started: float,
    tell: Callable[[VerifiedFix], None],
    resume: Resume,
    tried: Mapping[str, int],
) -> Consulted:
    """Let a model heal a reproduced failure.

    Args:
        parts: what the questions stand on.
        ground: the failure's suspects, and what judges patches.
        tools: the project's parts.
        settings: budgets and limits.
        reporter: hears of progress and of each judged patch.
        heal: the id of the heal.
        started: when the heal began, on the tools' clock.
        tell: hears of the first fix.
        resume: where to go on; an empty one begins anew.
        tried: what became of the candidates of repair templates: verdict → how many.
    """
    stood = await for_a_model(ground, tools)
    if isinstance(stood, str):
        return Consulted(stops.INFRASTRUCTURE, stood)
    ground = stood
    project, failure = ground.field.snapshot.project, ground.field.target.failure
    desk = Desk(parts, project, settings, heal, tools.clock, resume.model)
    ignored = await tools.git.ignored(project.root, tuple(ground.field.snapshot.files))
    sendable = await run_blocking(parts.sendable, project.root, ignored)
    consultation = Consultation(
        desk=desk,
        case=Case(
            desk,
            failure,
            ground.suspects,
            ground.field.sources,
            sendable,
            cause_of(failure),
            stops.general(failure),
            tried,
        ),
        ground=ground,
        tools=tools,
        settings=settings,
        reporter=reporter,
        tell=tell,
        started=started,
        toolbox=ProjectToolbox(ground.field, tools, sendable),
        hint=resume.hint,
        rounds=[replace(one, heal=heal, stop="") for one in resume.rounds],
    )
    try:
        ended = await consultation.run()
    except UserError as error:  # a prompt file of theirs, a file of answers, a damaged list of consents
        ended = Consulted(stops.INFRASTRUCTURE, str(error))
    except BaseException:  # cancelled, mostly
        await uninterrupted(consultation.stopped(stops.CANCELLED))
        raise
    await consultation.stopped(ended.stop)
    spent = await run_blocking(lambda: parts.journal.spent(heal=heal))
    fixes = tuple(_with_cost(fix, spent) for fix in ended.fixes)
    return replace(ended, spent=spent, fixes=fixes)


def _flag(doubt: str) -> Flag:
    """What is said of a doubted fix; of one that was made smaller since, the model said nothing."""
    return Flag(
        DOUBTED, f"the model itself doubts it: {doubt}" if doubt else "the model doubts a larger form of it"
    )


def _with_cost(fix: VerifiedFix, spent: Spent) -> VerifiedFix:
    note = spent_text(spent)
    return replace(fix, evidence=replace(fix.evidence, notes=(*fix.evidence.notes, f"the model took {note}")))
