"""Is the test stale, or the code wrong?"""

from __future__ import annotations

from collections.abc import Sequence

from regreen.llm.case import Case
from regreen.llm.desk import Desk, Stop
from regreen.values import Judgement, Role

SURE = 0.6
"""With no more confidence than this the test counts as right: it is what says what is wanted."""


async def judge(desk: Desk, case: Case, facts: Sequence[str], *, hint: str = "") -> Judgement | None:
    """Ask which side is out of date; None where no model can be asked, or it gives no answer.

    Args:
        desk: asks.
        case: the evidence.
        facts: what else speaks for either side.
        hint: what the user says.
    """
    evidence = await case.fitted(Role.JUDGE, beside=sum(map(len, facts)))
    values = {"evidence": evidence.text, "facts": facts, "hint": hint}
    said = await desk.ask_for(Role.JUDGE, "test or code", values, evidence.ranges)
    if isinstance(said, Stop) or not said.value:
        return None
    answer = said.value
    side = answer["side"] if answer["confidence"] > SURE else "unclear"
    return Judgement(side, answer["why"], answer.get("expectation", "") if side == "test" else "")
