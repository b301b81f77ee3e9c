"""What did models cost, and how much of today's budget is left?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from datetime import datetime, timedelta, timezone
from pathlib import Path

from regreen.history.shown import Cost
from regreen.terminal.archive import archive, calls, cost, dollars, write_json
from regreen.terminal.configured import settings_for
from regreen.terminal.console import outputs
from regreen.terminal.evidence import plural
from regreen.terminal.tables import columns
from regreen.values import Project, Spent


def cost_command(folder: Path, *, days: int, as_json: bool, asked: Mapping[str, object]) -> int:
    """Print what calls cost by day, role and model.

    Args:
        folder: whose pyproject.toml may restrict the day's budget.
        days: how many days, today included.
        as_json: as one JSON object.
        asked: settings of the command line.

    Raises:
        UsageError: a setting makes no sense.
    """
    out, err = outputs(machine=as_json)
    settings, complaints = settings_for(Project(folder, folder), asked)
    for complaint in complaints:
        err.print(complaint)
    now = datetime.now(timezone.utc)
    start = now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=days - 1)
    store = archive()
    found = store.costs(start)
    spent, held = store.today(now)
    cap = settings.budget_day_usd
    left = max(0.0, cap - spent.usd - held.usd)
    if as_json:
        write_json(
            out.file,
            {
                "since": start.isoformat(),
                "costs_are": "estimates",
                "costs": [asdict(one) for one in found],
                "today": {
                    "spent": asdict(spent),
                    "in_flight_or_unknown": asdict(held),
                    "budget_usd": cap,
                    "left_usd": left,
                },
            },
        )
        return 0
    if found:
        out.print(f"Estimates from list prices, in US dollars; days are UTC. {calls(_sum(found))}.")
        for title, key in (("day", _day), ("role", _role), ("model", _model)):
            out.print()
            out.print(columns([[title, "calls", "tokens", "estimate"], *_rows(found, key)]))
        if unpriced := _sum(found).unpriced:
            out.print(f"\nOf {plural(unpriced, 'call')} no cost is known; the sums are without.")
    else:
        out.print(f"No model was asked in the last {plural(days, 'day')}.")
    unknown = f", {dollars(held.usd)} in flight or of unknown cost" if held.usd else ""
    out.print(
        f"\nToday: {dollars(spent.usd)} spent{unknown}; {dollars(left)} of {dollars(cap)} left "
        "(regreen.budget.perDayUsd; an editor may set another: --set budget.perDayUsd=5)."
    )
    return 0


def _rows(found: Iterable[Cost], key: Callable[[Cost], str]) -> list[list[str]]:
    groups: dict[str, list[Cost]] = {}
    for one in found:
        groups.setdefault(key(one), []).append(one)
    sums = {name: _sum(group) for name, group in groups.items()}
    return [[name, str(one.calls), f"{one.tokens:,}", cost(one)] for name, one in sums.items()]


def _sum(found: Iterable[Cost]) -> Spent:
    parts = [one.spent for one in found]
    return Spent(
        sum(one.calls for one in parts),
        sum(one.tokens for one in parts),
        sum(one.usd for one in parts),
        sum(one.unpriced for one in parts),
    )


def _day(one: Cost) -> str:
    return one.day


def _role(one: Cost) -> str:
    return one.role


def _model(one: Cost) -> str:
    return f"{one.model} (this machine)" if one.local else one.model
