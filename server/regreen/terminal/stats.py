"""What has Regreen been good for?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from regreen.history.shown import Stats
from regreen.terminal.archive import archive, calls, cost, line, write_json
from regreen.terminal.console import outputs
from regreen.terminal.evidence import plural, seconds
from regreen.terminal.tables import columns


def stats_command(folder: Path | None, *, as_json: bool) -> int:
    """Print offers, acceptances, undos, times and costs, of all projects or of those of a folder."""
    out, _ = outputs(machine=as_json)
    found = archive().stats(folder)
    if as_json:
        write_json(out.file, {"stats": None if found is None else asdict(found)})
        return 0
    if found is None:
        where = f" of {folder}" if folder else ""
        out.print(f"Nothing was healed{where} yet. `regreen heal` begins.")
        return 0
    heals = sum(found.outcomes.values())
    out.print(f"{plural(heals, 'heal')}: {_counts(found.outcomes)}" if heals else "No heal has ended yet.")
    out.print(_times(found))
    if found.taken:
        out.print()
        out.print(
            columns(
                [
                    ["fixes of", "", "offered", "accepted", "undone"],
                    *(
                        [line(one.name), one.origin, *map(str, (one.offers, one.accepted, one.undone))]
                        for one in found.taken
                    ),
                ]
            )
        )
    if found.strategies:
        out.print()
        rows = [[line(one.name), _counts(one.attempts)] for one in found.strategies]
        out.print(columns([["strategy", "how its attempts ended"], *rows]))
    if found.roles:
        out.print(f"\nModels: {calls(found.spent)}.")
        rows = [
            [
                line(one.role),
                str(one.spent.calls),
                f"{one.spent.tokens:,}",
                cost(one.spent),
                seconds(one.seconds),
                str(one.problems),
                str(one.degraded),
            ]
            for one in found.roles
        ]
        out.print(columns([["role", "calls", "tokens", "estimate", "median", "failed", "degraded"], *rows]))
    return 0


def _times(found: Stats) -> str:
    parts = []
    if found.seconds is not None:
        parts.append(f"median {seconds(found.seconds)}")
    if found.seconds_verified is not None:
        parts.append(f"of the verified ones {seconds(found.seconds_verified)}")
    return ", ".join(parts)


def _counts(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{count} {line(name)}" for name, count in ordered)
