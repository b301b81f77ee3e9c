"""How is an earlier heal by a model taken up again at one of its rounds, to go on differently?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from regreen.errors import UsageError
from regreen.pipeline import Resume
from regreen.platform.background import run_blocking
from regreen.ports import Git
from regreen.terminal.archive import SHORT, archive
from regreen.terminal.heal import HealOptions, OpenTools, heal_command

MODEL, MODE = "llm.model", "llm.mode"


async def fork_command(
    start: str,
    resume: Resume,
    number: int | None,
    options: HealOptions,
    open_tools: OpenTools,
    git: Git,
) -> int:
    """Go back to a round of an earlier heal, and on from there as a new heal; ends as `regreen heal` does.

    Args:
        start: the beginning of the earlier heal's id.
        resume: the hint and the model.
        number: the last round that is taken over; 0 is the diagnosis, None for all.
        options: how it is delivered, with the settings of the command line.
        open_tools: builds the project's tools.
        git: finds its top.

    Raises:
        UserError: there is no such heal or round, or what it was about is gone.
    """
    whole = await run_blocking(lambda: archive().find(start))
    run = whole.run
    if not run.nodeid:
        raise UsageError(f"Run {run.id[:SHORT]} never ended, so nobody knows which test it was about.")
    root = Path(run.project)
    if not await run_blocking(root.is_dir):
        raise UsageError(f"The project of run {run.id[:SHORT]}, {root}, is gone.")
    rounds = tuple(one for one in whole.rounds if number is None or one.number <= number)
    if not rounds or (number is not None and rounds[-1].number != number):
        numbers = ", ".join(str(one.number) for one in whole.rounds)
        raise UsageError(
            f"Run {run.id[:SHORT]} has no round {0 if number is None else number}.",
            f"It has {numbers}." if numbers else "No model was asked in it; `regreen heal` asks one.",
        )
    asked = dict(options.settings)
    model = resume.model or str(asked.get(MODEL, "")) or rounds[-1].model
    asked.setdefault(MODEL, model)
    asked.setdefault(MODE, "allowed")  # who types this wants a model asked; consent is another question
    return await heal_command(
        replace(
            options,
            arguments=(f"{root}/{run.nodeid}",),
            cwd=root,
            settings=asked,
            resume=Resume(rounds, resume.hint, model),
        ),
        open_tools,
        git,
    )
