"""What left this machine, when, and to whom?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict

from rich.console import Console

from regreen.history.shown import Asked
from regreen.terminal.archive import SHORT, archive, dollars, line, since, when, write_json
from regreen.terminal.console import outputs
from regreen.terminal.evidence import plural, size
from regreen.values import SentRange

DIGEST = 12
"""Characters of a digest that are shown."""


def egress_command(start: str | None, *, local: bool, as_json: bool) -> int:
    """Print every request that left this machine, oldest first.

    Args:
        start: since when, a date; None for all that is kept.
        local: also what was sent to models on this machine.
        as_json: as one JSON object.

    Raises:
        UsageError: `start` is no date.
    """
    out, _ = outputs(machine=as_json)
    found = archive().egress(since(start), local=local)
    if as_json:
        write_json(out.file, {"calls": [asdict(one) for one in found]})
    elif found:
        for one in found:
            _print(out, one)
        out.print(f"{plural(len(found), 'request')}, {size(sum(one.bytes * one.tries for one in found))}.")
    else:
        after = f" since {start}" if start else ""
        out.print(f"Nothing left this machine{after}." if not local else f"No model was asked{after}.")
    return 0


def _print(out: Console, one: Asked) -> None:
    where = "this machine" if one.local else line(one.address) or line(one.provider)
    times = f" × {one.tries} tries" if one.tries > 1 else ""
    ended = one.problem or "answered"
    price = "unknown cost" if one.usd is None else f"{dollars(one.usd)} (an estimate)"
    out.print(f"{when(one.at)} UTC  {where}  {line(one.model)}", style="bold")
    out.print(
        f"  {size(one.bytes)}{times}, {one.prompt_tokens:,} → {one.completion_tokens:,} tokens, {price}"
    )
    out.print(f"  files: {_ranges(one.ranges)}")
    if one.masked:
        out.print(f"  masked: {_masked(one.masked)}")
    out.print(
        f"  run {line(one.heal[:SHORT])}, round {one.round}, {line(one.role)} ({line(one.purpose)}), of {line(one.project)}"
    )
    out.print(f"  {ended}, the reply's SHA-256 is {one.reply_digest[:DIGEST]}…")


def _ranges(ranges: Iterable[SentRange]) -> str:
    """Lines as people count them: "cart.py 1–5, 9"."""
    by_path = defaultdict(list)
    for one in ranges:
        last = max(one.end, one.start + 1)
        by_path[one.path].append(f"{one.start + 1}–{last}" if last > one.start + 1 else f"{last}")
    return "; ".join(f"{line(path)} {', '.join(lines)}" for path, lines in by_path.items()) or "none"


def _masked(masked: Mapping[str, int]) -> str:
    return ", ".join(f"{count} × {line(name)}" for name, count in masked.items())
