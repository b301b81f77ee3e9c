"""Which of the plausible candidates become offers?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from regreen.pipeline.confidence import vote
from regreen.pipeline.ground import Ground
from regreen.pipeline.parts import Tools
from regreen.pipeline.proof import prove
from regreen.pipeline.ranking import alike, ranked
from regreen.pipeline.search import Budget, Found, Search
from regreen.pipeline.votes import answered
from regreen.settings import Settings
from regreen.values import UNKNOWN, VerifiedFix


async def proven(
    hunt: Search,
    ground: Ground,
    tools: Tools,
    settings: Settings,
    budget: Budget,
    started: float,
    tell: Callable[[VerifiedFix], None],
) -> tuple[tuple[VerifiedFix, ...], Counter[str]]:
    """Prove plausible candidates in order of merit until there are enough offers.

    A proof may take longer than the search, so once the budget is spent one fix that leaves nothing red is enough.

    Args:
        hunt: what the search found.
        ground: what it was judged against.
        tools: the project's parts.
        settings: how many offers are enough.
        budget: what may be spent.
        started: when the heal began, on the tools' clock.
        tell: hears of the first fix if it leaves nothing red and asks for no second look: it stays the best.

    Returns:
        The fixes, best first: those that leave nothing red before those that only turn the target green, and of
        either those last that ask for a second look; and why others were refused, with counts.
    """
    fixes: list[tuple[VerifiedFix, Found]] = []
    refused: Counter[str] = Counter()
    plausible = ranked(await answered(hunt.found, ground.field, tools))
    for found in plausible:
        whole = any(not fix.target_only for fix, _ in fixes)
        if len(fixes) >= settings.heal_offers or (whole and budget.spent):
            break
        answer = await prove(found, ground.field, ground.base, tools, started=started)
        if not isinstance(answer, VerifiedFix):
            refused[answer.reason] += 1
        elif all(answer.diff != fix.diff for fix, _ in fixes):  # two candidates may shrink to one
            asked = answer.candidate == found.candidate  # and not what is left of it, minimised
            said = vote(found, plausible, ground.field.known) if asked else UNKNOWN
            evidence = replace(answer.evidence, vote=said)
            fixes.append((replace(answer, evidence=evidence), found))
            if len(fixes) == 1 and not answer.target_only and not answer.flags:
                tell(fixes[0][0])
    fixes.sort(key=lambda pair: (pair[0].target_only, bool(pair[0].flags)))
    return tuple(_with_rivals(fix, found, fixes) for fix, found in fixes), refused


def _with_rivals(fix: VerifiedFix, found: Found, fixes: list[tuple[VerifiedFix, Found]]) -> VerifiedFix:
    """Name the other offers, as good by their tests, that behave differently."""
    rivals = tuple(
        other.fix_id
        for other, theirs in fixes
        if not alike(theirs, found) and other.target_only == fix.target_only
    )
    return replace(fix, differs_from=rivals)
