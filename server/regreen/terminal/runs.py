"""Which heals were there, and what happened in one of them?"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from regreen.errors import EnvironmentProblem
from regreen.history.shown import Run, WholeRun
from regreen.platform.files import write_atomic
from regreen.terminal.archive import SHORT, archive, cost, line, when, write_json
from regreen.terminal.console import outputs
from regreen.terminal.evidence import seconds
from regreen.terminal.run_text import run_text
from regreen.terminal.tables import columns

UNFINISHED = "unfinished"
"""Of a heal that is still at work, or was killed."""


def list_runs(folder: Path | None, *, limit: int, as_json: bool) -> int:
    """Print the last heals, newest first."""
    out, _ = outputs(machine=as_json)
    found = archive().runs(folder, limit=limit)
    if as_json:
        write_json(out.file, {"runs": [asdict(one) for one in found]})
    elif found:
        head = ["id", "at (UTC)", "outcome", "time", "rounds", "models (estimate)", "test"]
        out.print(columns([head, *map(_row, found)]))
    elif folder is None:
        out.print("There are no runs yet. `regreen heal` makes one for each red test.")
    else:
        out.print(
            f"There are no runs of {folder} yet. Without a path, `regreen runs list` shows those of all."
        )
    return 0


def show_run(start: str, *, prompts: bool, as_json: bool) -> int:
    """Print one heal.

    Args:
        start: the beginning of its id.
        prompts: also all that was sent and came back.
        as_json: as one JSON object.

    Raises:
        UsageError: no run, or several, have such an id.
    """
    out, _ = outputs(machine=as_json)
    whole = archive().find(start)
    if as_json:
        write_json(out.file, document(whole, prompts=prompts))
    else:
        out.print(run_text(whole, prompts=prompts))
    return 0


def export_run(start: str, file: Path | None) -> int:
    """Write all that is known of one heal as one JSON document, to stdout or to a file that only its owner may read.

    Raises:
        UsageError: no run, or several, have such an id.
        EnvironmentProblem: the file cannot be written.
    """
    out, err = outputs(machine=file is None)
    whole = archive().find(start)
    if file is None:
        write_json(out.file, document(whole, prompts=True))
        return 0
    text = json.dumps({"v": 1, **document(whole, prompts=True)}, indent=2) + "\n"
    try:
        if not file.exists():
            file.touch(mode=0o600)
        write_atomic(file, text.encode())
    except OSError as error:
        raise EnvironmentProblem(f"{file} cannot be written: {error.strerror}.") from error
    err.print(f"Written to {file}; it holds all that models were told, code of yours included.")
    return 0


def document(whole: WholeRun, *, prompts: bool) -> dict[str, Any]:
    """One heal as JSON; of each call "said" is null when its texts are not asked for, or not kept any more."""
    return {
        "run": asdict(whole.run) | {"exception": whole.exception, "tried": dict(whole.tried)},
        "rounds": [asdict(one) for one in whole.rounds],
        "fixes": [asdict(one) for one in whole.fixes],
        "calls": [
            asdict(one)
            | {"said": asdict(whole.said[one.call]) if prompts and one.call in whole.said else None}
            for one in whole.calls
        ],
    }


def _row(one: Run) -> list[str]:
    return [
        line(one.id[:SHORT]),
        when(one.at),
        one.outcome or UNFINISHED,
        seconds(one.seconds) if one.outcome else "",
        f"{one.rounds} {one.stop}".strip() if one.rounds else "",
        cost(one.spent),
        line(f"{one.nodeid or '?'}  in {one.project}"),
    ]
