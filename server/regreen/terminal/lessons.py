"""What do models get told of earlier heals, and how is that forgotten?"""

from __future__ import annotations

from dataclasses import asdict

from regreen.terminal.archive import SHORT, archive, line, when, write_json
from regreen.terminal.console import outputs
from regreen.terminal.evidence import plural
from regreen.terminal.tables import columns


def list_lessons(*, as_json: bool) -> int:
    """Print every lesson, newest first."""
    out, _ = outputs(machine=as_json)
    found = archive().lessons()
    if as_json:
        write_json(out.file, {"lessons": [asdict(one) for one in found]})
    elif found:
        rows = [
            [
                str(one.key),
                when(one.at),
                "told" if one.accepted else "waits",
                line(one.heal[:SHORT]),
                line(f"{one.text}  [{one.signature}] in {one.project}"),
            ]
            for one in found
        ]
        out.print(columns([["id", "at (UTC)", "state", "run", "lesson"], *rows]))
        out.print(
            '\n"told": a fix of its run was accepted, so models hear it in similar cases. '
            '"waits": no fix of its run is, or it was undone.'
        )
    else:
        out.print("There are no lessons. Models leave some when they heal a test and you accept the fix.")
    return 0


def delete_lesson(key: int) -> int:
    """Forget one lesson; 1 when there is none."""
    out, err = outputs()
    if not archive().delete_lesson(key):
        err.print(f"There is no lesson {key}. `regreen lessons list` shows them.")
        return 1
    out.print(f"Lesson {key} is forgotten.")
    return 0


def clear_lessons() -> int:
    """Forget all lessons."""
    out, _ = outputs()
    out.print(f"{plural(archive().clear_lessons(), 'lesson')} forgotten.")
    return 0
