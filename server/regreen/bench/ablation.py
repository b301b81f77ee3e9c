"""What does each family of repair templates add, and what does it cost?

A family is left out by the setting that any user has, and the cases are healed again. Only those cases are in which
the family gave a plausible candidate: without one it decided nothing there, and only its time is saved.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from regreen.bench.cases import Case
from regreen.bench.running import Runner, tell
from regreen.bench.trial import Plan, Result


@dataclass(frozen=True, slots=True)
class Ablation:
    """One family left out.

    Args:
        family: its name.
        tried, seconds: how many of its candidates were judged in all cases, and the time that took.
        rerun: how many cases were healed again without it.
        offered, correct: how many more of these have an offer, and a correct one, with the family than without; less
            than none where it does harm.
    """

    family: str
    tried: int
    seconds: float
    rerun: int
    offered: int
    correct: int


async def ablate(
    cases: Sequence[Case], plan: Plan, results: Sequence[Result], runner: Runner
) -> tuple[Ablation, ...]:
    """Leave out each family that was tried, one at a time; those that add most come first.

    Args:
        cases: what was healed.
        plan: how.
        results: what became of it, in the order of the cases.
        runner: heals again.
    """
    families = sorted({name for result in results for name in result.families})
    pairs = [
        (family, case, result)
        for family in families
        for case, result in zip(cases, results, strict=True)
        if result.families.get(family, {}).get("plausible")
    ]
    tell(f"Leaving out each of {len(families)} families where it decided anything: {len(pairs)} heals.")
    again = await runner.run([(case, _without(family, plan)) for family, case, _ in pairs])
    found: list[Ablation] = []
    for family in families:
        spent = [result.families[family] for result in results if family in result.families]
        both = [(was, now) for (name, _, was), now in zip(pairs, again, strict=True) if name == family]
        found.append(
            Ablation(
                family,
                sum(one["tried"] for one in spent),
                round(sum(one["seconds"] for one in spent), 1),
                len(both),
                sum(was.offered - now.offered for was, now in both),
                sum(bool(was.correct) - bool(now.correct) for was, now in both),
            )
        )
    return tuple(sorted(found, key=lambda one: (-one.correct, -one.offered, one.family)))


def ablation_table(ablations: Sequence[Ablation]) -> str:
    """What each family adds and costs; "" without any."""
    if not ablations:
        return ""
    lines = [
        "",
        "Each family left out in turn; healed again were only the cases in which it gave a plausible candidate.",
        f"{'family':<16}{'adds offers':>12}{'adds correct':>13}{'healed again':>13}{'tried':>8}{'seconds':>9}",
    ]
    lines += [
        f"{one.family:<16}{one.offered:>+12}{one.correct:>+13}{one.rerun:>13}{one.tried:>8}{one.seconds:>9.1f}"
        for one in ablations
    ]
    return "\n".join(lines) + "\n"


def _without(family: str, plan: Plan) -> Plan:
    return replace(plan, settings=(*plan.settings, f"heal.without={json.dumps([family])}"))
