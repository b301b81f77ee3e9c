"""Which patch does a model propose, with one strategy?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from regreen import edits
from regreen.llm.case import Case
from regreen.llm.desk import Desk, Said, Stop
from regreen.llm.refusal import Refusal
from regreen.llm.replies import Patch, parse
from regreen.source import ProjectSources
from regreen.values import Attempt, Diagnosis, Lesson, ModelProblem, Role


@dataclass(frozen=True, slots=True)
class Proposal:
    """What came of one strategy: a patch, or why its reply was none. `degraded`: as of the call."""

    strategy: str
    patch: Patch | Refusal
    degraded: bool = False


@dataclass(frozen=True, slots=True)
class Wish:
    """What a patch is asked for with.

    Args:
        diagnosis: what is wrong.
        attempts: what was tried, and how each failed.
        lessons: what earlier heals taught.
        hint: what the user says.
    """

    diagnosis: Diagnosis
    attempts: Sequence[Attempt] = ()
    lessons: Sequence[Lesson] = ()
    hint: str = ""


async def propose(
    desk: Desk,
    case: Case,
    wish: Wish,
    strategy: str,
    sources: ProjectSources,
    may_change: Callable[[Path], bool],
) -> Proposal | Stop:
    """Ask for one patch; a reply that is none is asked for once more, with what was wrong.

    Args:
        desk: asks.
        case: the evidence.
        wish: what is known besides.
        strategy: "minimal" | "restructure" | "guard".
        sources: the project.
        may_change: whether a patch may touch a file.
    """
    evidence = await case.fitted(Role.REPAIRER, attempts=wish.attempts)
    values = {
        "evidence": evidence.text,
        "files": [edits.relative(path, sources.root) for path in sources.paths if may_change(path)],
        "diagnosis": wish.diagnosis,
        "strategy": strategy,
        "lessons": wish.lessons,
        "hint": wish.hint,
    }
    said = await desk.ask(Role.REPAIRER, strategy, values, evidence.ranges)
    if isinstance(said, Stop):
        return said
    patch = _read(said, sources, may_change)
    if not isinstance(patch, Refusal):
        return Proposal(strategy, patch, degraded=said.degraded)
    mended = {**values, "again": {"reply": said.reply.text, "problem": patch.text}}
    second = await desk.ask(Role.REPAIRER, f"{strategy}, asked again", mended, evidence.ranges)
    if isinstance(second, Stop):
        return Proposal(strategy, patch, degraded=True)
    return Proposal(strategy, _read(second, sources, may_change), degraded=True)


def _read(said: Said, sources: ProjectSources, may_change: Callable[[Path], bool]) -> Patch | Refusal:
    truncated = said.reply.problem is ModelProblem.TRUNCATED
    return parse(said.reply.text, sources, may_change, truncated=truncated)
