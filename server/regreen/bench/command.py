"""What does `regreen bench` do, from its arguments to its exit status?"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from regreen import __version__
from regreen.bench.ablation import Ablation, ablate, ablation_table
from regreen.bench.cases import Case, load
from regreen.bench.executors import executor
from regreen.bench.journal import Journal, fields
from regreen.bench.page import page
from regreen.bench.report import table
from regreen.bench.running import Runner
from regreen.bench.totals import missed, parse_gate, totals
from regreen.bench.trial import Plan, Result
from regreen.errors import UsageError
from regreen.platform.background import run_blocking
from regreen.platform.files import write_atomic
from regreen.settings import Settings, merge

MODEL = "llm.model="
"""How the setting begins that names the model."""


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """The command line, parsed.

    Args:
        cases: a JSONL file or a folder.
        only: ids of the cases to run; empty for all.
        jobs: how many cases at a time.
        executor: where they run; "" for here.
        json, html: where the results go; None for nowhere.
        gate: bounds that the figures must keep; "" for none.
        ablate: leave out each family of templates in turn.
    """

    cases: Path
    plan: Plan
    engine: str = "offline"
    only: tuple[str, ...] = ()
    jobs: int = 1
    executor: str = ""
    json: Path | None = None
    html: Path | None = None
    gate: str = ""
    ablate: bool = False


async def bench_command(options: BenchOptions) -> int:
    """Heal and grade every case, and tell what came of it.

    Returns:
        0, or 1 when the figures do not keep the bounds of the gate.

    Raises:
        UserError: the arguments or the environment make no sense.
        asyncio.CancelledError: stopped; no process is left here.
    """
    if options.engine != "offline" and not any(one.startswith(MODEL) for one in options.plan.settings):
        raise UsageError(
            f"--engine {options.engine} needs a language model, and none is named.",
            f"Name one with --set {MODEL}…, or use --engine offline.",
        )
    bounds = parse_gate(options.gate) if options.gate else ()
    cases = await run_blocking(_wanted, options)
    journal = Journal(options.json and options.json.with_name(f"{options.json.name}.journal"))
    ablations: tuple[Ablation, ...] = ()
    with ExitStack() as ending:
        workers = await run_blocking(ending.enter_context, executor(options.executor, options.jobs))
        runner = Runner(workers, journal)
        results = await runner.run([(case, options.plan) for case in cases])
        if options.ablate:
            ablations = await ablate(cases, options.plan, results, runner)
    figures = totals(results)
    await run_blocking(_write, options, results, figures, ablations)
    journal.end()
    sys.stdout.write(table(figures) + ablation_table(ablations))
    problems = missed(bounds, figures)
    for sentence in problems:
        sys.stderr.write(f"gate: {sentence}\n")
    return 1 if problems else 0


def _wanted(options: BenchOptions) -> tuple[Case, ...]:
    """Read the cases, and refuse what would only fail when hours are spent."""
    _, complaints = merge(Settings(), {"heal.maxSeconds": options.plan.seconds}, from_repository=False)
    if complaints:
        raise UsageError(complaints[0])
    if options.jobs < 1:
        raise UsageError("--jobs must be at least 1.")
    for path in (options.json, options.html):
        if path is not None and not path.parent.is_dir():
            raise UsageError(f"There is no folder {path.parent} for {path.name}.")
    cases = load(options.cases)
    if unknown := set(options.only) - {case.id for case in cases}:
        raise UsageError(f"{options.cases} has no case named {min(unknown)}.")
    return tuple(case for case in cases if not options.only or case.id in options.only)


def _write(
    options: BenchOptions,
    results: Sequence[Result],
    figures: Mapping[str, Any],
    ablations: Sequence[Ablation],
) -> None:
    document = {
        "version": __version__,
        "engine": options.engine,
        "plan": asdict(options.plan),
        "totals": figures,
        "cases": [fields(result) for result in results],
        "ablation": [asdict(one) for one in ablations],
    }
    if options.json is not None:
        write_atomic(options.json, (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode())
    if options.html is not None:
        write_atomic(options.html, page(document).encode())
