"""What do the commands that show the run store have in common: where it is, and how times, money and JSON look?"""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import IO, Any

from regreen import history
from regreen.errors import UsageError
from regreen.history.reading import Archive
from regreen.terminal.diffs import visible
from regreen.terminal.evidence import plural
from regreen.values import Spent

SHORT = 8
"""Characters of an id that are shown."""


def archive() -> Archive:
    """The user's run store."""
    return Archive(history.place())


def when(at: str) -> str:
    """A stored time to the minute; tables say that it is UTC."""
    return at[:16].replace("T", " ")


def dollars(usd: float) -> str:
    """An amount in US dollars, with as many digits as small ones need."""
    return f"${usd:.2f}" if usd >= 1 or usd == 0 else f"${usd:.4f}"


def cost(spent: Spent) -> str:
    """What calls cost, in a cell: "$0.0120", "$0.0120 + 2 unknown", "" for no call."""
    if not spent.calls:
        return ""
    if spent.unpriced == spent.calls:
        return f"{spent.unpriced} unknown"
    return dollars(spent.usd) + (f" + {spent.unpriced} unknown" if spent.unpriced else "")


def calls(spent: Spent) -> str:
    """The same in a sentence: "3 calls, 4,510 tokens, $0.0120 (an estimate)"."""
    said = f"{plural(spent.calls, 'call')}, {spent.tokens:,} tokens, {cost(spent)}"
    return f"{said} (an estimate)" if spent.unpriced < spent.calls else said


def line(text: str) -> str:
    """A text of a project, a model or a provider on one line, unable to move the cursor."""
    return visible(text.replace("\r\n", "\n").replace("\n", " ⏎ "))


def since(text: str | None) -> datetime | None:
    """A date of the command line: "2026-03-14", or with a time; UTC unless it says otherwise.

    Raises:
        UsageError: it is none.
    """
    if text is None:
        return None
    try:
        # Before Python 3.11 no "Z" is understood.
        at = datetime.fromisoformat(text.removesuffix("Z"))
        return (at.replace(tzinfo=timezone.utc) if at.tzinfo is None else at).astimezone(timezone.utc)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{text!r} is no date.", "Write it as 2026-03-14 or 2026-03-14T15:30.") from error


def write_json(file: IO[str], document: dict[str, Any]) -> None:
    """One JSON object, its format's version first. Characters beyond ASCII are escaped: texts may hold half pairs."""
    file.write(json.dumps({"v": 1, **document}, indent=2) + "\n")
