"""What speaks for the test, and what for the code, when they disagree?"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from regreen import edits
from regreen.pipeline.ground import Ground
from regreen.pipeline.parts import Tools
from regreen.source import docstring
from regreen.values import TestStatus


async def facts(ground: Ground, tools: Tools) -> tuple[str, ...]:
    """Say how old both sides are by git, which other tests agree with the code, and what it says of itself."""
    failure = ground.field.target.failure
    places = [one for one in ground.suspects if one.path != failure.path][:1]
    found = [await _age("The test's file", failure.path, ground, tools)]
    for suspect in places:
        found.append(await _age("The file of the code", suspect.path, ground, tools))
        agreeing = _agreeing(suspect.path, suspect.line, ground)
        found.append(f"Other tests that run this code and pass: {agreeing}.")
        source = ground.field.sources.get(suspect.path)
        function = source.function_at(suspect.line) if source is not None else None
        if function is not None:
            says = docstring(function) or "nothing"
            found.append(f"{function.qualname} says of itself: {says}")
            head = ", ".join(f"{one.name}: {one.annotation}" for one in function.parameters if one.annotation)
            found += [f"Types of its parameters: {head}"] if head else []
    return tuple(found)


async def _age(what: str, path: Path, ground: Ground, tools: Tools) -> str:
    name = edits.relative(path, ground.field.snapshot.project.root)
    changed: datetime | None = await tools.git.last_change(path)
    if path in await tools.git.changed_files(ground.field.snapshot.project.root):
        return f"{what}, {name}, differs from the last commit."
    when = changed.date().isoformat() if changed is not None else "at an unknown time"
    return f"{what}, {name}, was last changed {when}."


def _agreeing(path: Path, line: int, ground: Ground) -> int:
    lines = ground.base.report.spectrum.lines
    return sum(
        outcome.status is TestStatus.PASSED and line in lines.get(nodeid, {}).get(path, frozenset())
        for nodeid, outcome in ground.base.outcomes.items()
    )
