"""What does Regreen cost? `make bench-server`, `make bench-verify`, `make bench-model` and `make bench-vscode`; `python -m tests.bench --json` for programs.

A benchmark, not a test: targets are shown beside what was measured, and missing one is no failure. The exit status
is 1 only when a measure could not be taken.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from tests.bench import candidates, measures, model, saving, verification, vscode
from tests.bench.measures import Measure


def main(arguments: Sequence[str]) -> int:
    """Take every measure and print them side by side."""
    options = _options(arguments)
    everything: dict[str, Callable[[Path], list[Measure]]] = {
        "start": lambda work: [measures.start(work, options.rounds)],
        "replies": lambda work: [measures.replies(work, options.requests)],
        "idle": lambda work: [measures.idle(work, options.idle_seconds)],
        "memory": lambda work: [measures.memory(work, max(1, options.heals // 10), options.heals)],
        "candidates": lambda work: _candidates(work, show=not options.json),
        "isolation": verification.isolation,
        "spectrum": verification.spectrum,
        "mirror": verification.mirror,
        "waiting": verification.waiting,
        "saving": saving.saving,
        "suite": saving.suite,
        "model": model.model,
        "vscode": vscode.vscode,
    }
    taken: list[Measure] = []
    problems: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="regreen-bench-") as name:
        work = Path(name).resolve()
        for what in options.only or everything:
            try:
                new = everything[what](work)
            except (OSError, RuntimeError) as error:
                problems[what] = str(error)
                continue
            taken += new
            for measure in new if not options.json else ():
                _say(_row(measure))
    for what, problem in problems.items():
        print(f"{what} could not be measured: {problem}", file=sys.stderr)  # noqa: T201 — a program's own output
    if options.json:
        _say(json.dumps({"v": 1, "measures": [{**asdict(m), "reached": m.reached} for m in taken]}, indent=1))
    return 1 if problems else 0


def _candidates(work: Path, *, show: bool) -> list[Measure]:
    taken, rows = candidates.measured(work)
    for row in rows if show else ():
        _say(str(row))
    return taken


def _row(measure: Measure) -> str:
    mark = "reached" if measure.reached else "MISSED"
    value = f"{measure.value:.2f} {measure.unit}"
    return (
        f"{measure.name:48} {value:>10}   target ≤ {measure.target:g} {measure.unit:2} {mark:8} {measure.how}"
    )


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measure the language server.")
    parser.add_argument("only", nargs="*", help="what to measure; everything without any")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    parser.add_argument("--rounds", type=int, default=15, help="starts of each kind")
    parser.add_argument("--requests", type=int, default=500, help="code action requests")
    parser.add_argument("--idle-seconds", type=float, default=20.0)
    parser.add_argument("--heals", type=int, default=100)
    return parser.parse_args(arguments)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
