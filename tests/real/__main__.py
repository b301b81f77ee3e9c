"""Does Regreen heal real projects? `make test-real`; `python -m tests.real --help` says how to run a part of it.

Injects the bugs of `bugs.toml`, one at a time, into pinned releases of real projects, and lets `regreen heal` mend
them. An independent run of the project's own tests judges every fix. Two projects are worked on at once. `--all` takes
those in, too, that are left out to save time.

Exit status: 0 when enough bugs were healed (60 %) and no fix broke another test, else 1.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.real import healing, report
from tests.real.data import Bug, RealProject, bugs, projects
from tests.real.judging import Judgement, NotRunError, judge
from tests.real.places import NotPreparedError, Place, cache, place, pristine
from tests.real.trial import Trial, trial

AT_ONCE = 2


def main(arguments: Sequence[str]) -> int:
    """Run the trials and print what came of them."""
    options = _options(arguments)
    began = time.monotonic()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stopped)
    wanted = [bug for bug in bugs() if _wanted(bug, options.only, everything=options.all)]
    work = [
        (project, [bug for bug in wanted if bug.project == project.name])
        for project in projects()
        if any(bug.project == project.name for bug in wanted)
    ]
    _say(f"{len(wanted)} bugs in {len(work)} projects; cache: {cache()}")
    with ThreadPoolExecutor(AT_ONCE) as lanes:
        lists = list(lanes.map(lambda job: _lane(*job, seconds=options.seconds), work))
    trials = [one for several in lists for one in several]

    _say("\n" + report.table(trials))
    elapsed = time.monotonic() - began
    output = Path(options.output) if options.output else cache() / "last.json"
    output.write_text(json.dumps(report.as_json(trials, elapsed), indent=1) + "\n", encoding="utf-8")
    _say(f"\n{report.summary(trials)}; {elapsed:.0f} s in all; details: {output}")
    return _verdict(trials, heals=options.seconds > 0, partly=bool(options.only))


def _lane(project: RealProject, several: Sequence[Bug], *, seconds: float) -> list[Trial]:
    """All trials of one project, one after the other: they share its folder and environment."""
    try:
        with place(project) as at:
            published = _published(at)
            _say(f"{project.name} {project.version}: {len(published.green)} tests green as published")
            done = []
            for bug in several:
                done.append(trial(at, bug, published, seconds=seconds))
                _say(report.line(done[-1]))
            return done
    except (NotPreparedError, NotRunError) as wrong:
        return [Trial(bug, problem=f"{project.name} could not be prepared: {wrong}") for bug in several]


def _published(at: Place) -> Judgement:
    pristine(at)
    published = judge(at)
    if published.red:
        raise NotRunError(f"red as published: {', '.join(sorted(published.red))}")
    return published


def _verdict(trials: Sequence[Trial], *, heals: bool, partly: bool) -> int:
    """Print the closing line. What counts as failed: a worthless trial, harm, and too few healed."""
    results = [not one.problem and not one.broken for one in trials]
    if heals and not partly:
        results.append(sum(one.verified for one in trials) >= report.needed(len(trials)))
    _say(f"real projects: {sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


def _stopped(number: int, _frame: object) -> None:
    healing.stop_all()
    os._exit(128 + number)


def _wanted(bug: Bug, only: Sequence[str], *, everything: bool) -> bool:
    if only:
        return any(part in f"{bug.project}/{bug.name}" for part in only)
    return everything or not bug.extra


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.real", description="Heal bugs in real projects.")
    parser.add_argument("only", nargs="*", help="parts of `project/bug` names")
    parser.add_argument("--all", action="store_true", help="the bugs marked as extra, too")
    parser.add_argument(
        "--seconds",
        type=float,
        default=healing.SEARCH_SECONDS,
        help="how long each heal may search (default: %(default)s); 0 only shows that each bug is caught",
    )
    parser.add_argument("--output", help="where the JSON goes (default: last.json in the cache folder)")
    return parser.parse_args(arguments)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
