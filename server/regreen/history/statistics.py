"""What has Regreen been good for: offers, what the user made of them, time, and what models cost?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from statistics import median

from regreen.history import encoding
from regreen.history.database import Database
from regreen.history.shown import RoleUse, Stats, Strategy, Taken
from regreen.values import Spent


def stats(db: Database, projects: Collection[str] | None) -> Stats | None:
    """Count everything that is kept.

    Args:
        db: the store.
        projects: only these; None for all.

    Returns:
        None when there is nothing to count.
    """
    heals = [
        row[1:]
        for row in db.execute("SELECT project, outcome, seconds FROM heals")
        if projects is None or row[0] in projects
    ]
    roles, spent = _roles(db, projects)
    taken = _taken(db, projects)
    if not (heals or roles or taken):
        return None
    verified = [seconds for outcome, seconds in heals if outcome == "VERIFIED"]
    return Stats(
        dict(Counter(outcome for outcome, _ in heals)),
        median(seconds for _, seconds in heals) if heals else None,
        median(verified) if verified else None,
        taken,
        _strategies(db, projects),
        roles,
        spent,
    )


def _roles(db: Database, projects: Collection[str] | None) -> tuple[tuple[RoleUse, ...], Spent]:
    calls = defaultdict(list)
    for project, role, *call in db.execute(
        "SELECT project, role, prompt_tokens + completion_tokens, usd, seconds, problem, degraded FROM calls"
    ):
        if projects is None or project in projects:
            calls[role].append(call)
    used = []
    for role, rows in sorted(calls.items()):
        tokens, usd, seconds, problems, degraded = zip(*rows, strict=True)
        cost = Spent(len(rows), sum(tokens), sum(one or 0.0 for one in usd), usd.count(None))
        used.append(RoleUse(role, cost, median(seconds), sum(one != "" for one in problems), sum(degraded)))
    parts = [one.spent for one in used]
    return tuple(used), Spent(
        sum(one.calls for one in parts),
        sum(one.tokens for one in parts),
        sum(one.usd for one in parts),
        sum(one.unpriced for one in parts),
    )


def _taken(db: Database, projects: Collection[str] | None) -> tuple[Taken, ...]:
    offers: Counter[tuple[str, str]] = Counter()
    marks: dict[tuple[str, str], Counter[int]] = defaultdict(Counter)
    for project, template, origin in db.execute(
        "SELECT project, template, fixes.origin FROM fixes JOIN heals ON fixes.heal = heals.heal"
    ):
        if projects is None or project in projects:
            offers[_group(template, origin)] += 1
    for project, template, origin, undone in db.execute(
        "SELECT project, template, origin, undone FROM marks WHERE mark IN"
        " (SELECT max(mark) FROM marks GROUP BY project, fix)"
    ):
        if projects is None or project in projects:
            marks[_group(template, origin)][undone] += 1
    found = [
        Taken(name, origin, offers[origin, name], marks[origin, name][0], marks[origin, name][1])
        for origin, name in {*offers, *marks}
    ]
    return tuple(sorted(found, key=lambda one: (one.origin != "template", -one.offers, one.name)))


def _group(template: str, origin: str) -> tuple[str, str]:
    """A template's family is the first part of its name; a model's strategy is the last."""
    parts = template.split(".")
    return origin, parts[0] if origin == "template" else parts[-1]


def _strategies(db: Database, projects: Collection[str] | None) -> tuple[Strategy, ...]:
    ended: dict[str, Counter[str]] = defaultdict(Counter)
    for project, attempts in db.execute("SELECT project, attempts FROM rounds"):
        if projects is None or project in projects:
            for attempt in encoding.attempts_of(attempts):
                ended[attempt.strategy][attempt.verdict] += 1
    return tuple(Strategy(name, dict(counts)) for name, counts in sorted(ended.items()))
