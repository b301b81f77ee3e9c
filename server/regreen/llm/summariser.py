"""What is worth remembering of a heal?"""

from __future__ import annotations

from collections.abc import Sequence

from regreen.llm.case import Case
from regreen.llm.desk import Desk, Stop
from regreen.values import Attempt, Diagnosis, Lesson, Role, Verdict

MOST = 5
"""How many lessons one heal may teach."""


async def lessons_of(
    desk: Desk, case: Case, diagnosis: Diagnosis, attempts: Sequence[Attempt]
) -> tuple[Lesson, ...]:
    """Ask for the lessons of a heal that found a fix; none where the model cannot be asked for them.

    Args:
        desk: asks.
        case: the evidence.
        diagnosis: what was wrong.
        attempts: what was tried, the patch that passed included.
    """
    evidence = await case.fitted(Role.SUMMARISER, attempts=attempts)
    passed = next((one.diff for one in attempts if one.verdict == Verdict.PLAUSIBLE.value), "")
    values = {"evidence": evidence.text, "outcome": f"healed: {diagnosis.cause}", "diff": passed}
    said = await desk.ask_for(Role.SUMMARISER, "after the heal", values, evidence.ranges)
    if isinstance(said, Stop) or not said.value:
        return ()
    return tuple(
        Lesson(" ".join(one["text"].split()), case.signature, f"{one['code']} {case.words}")
        for one in said.value["lessons"][:MOST]
    )
