"""What is a heal fought on: the text, the suspects, and what every candidate is judged against?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from regreen import impact
from regreen.localization import rank
from regreen.pipeline.coverage import Coverage
from regreen.pipeline.parts import Baseline, Tools
from regreen.pipeline.places import changed_lines
from regreen.pipeline.screening import Field
from regreen.pipeline.texts import heads, load_sources
from regreen.source import ProjectSources
from regreen.validation.gate import Gate
from regreen.validation.hazards import dangerous
from regreen.validation.ladder import Known, Target
from regreen.validation.literals import of_test
from regreen.validation.paths import protected
from regreen.values import Candidate, Suspect, TestSelection, TestStatus

COVERED_FILES = 50
"""The cold coverage map is filled for the files of this many top suspects."""


@dataclass(frozen=True, slots=True)
class Ground:
    """Where candidates come from and what judges them.

    Args:
        suspects: best first.
        spared: suspicious places that get no candidates because nothing would protect the user's files.
    """

    base: Baseline
    suspects: tuple[Suspect, ...]
    spared: int
    field: Field


async def survey(target: Target, base: Baseline, tools: Tools, coverage: Coverage, isolation: str) -> Ground:
    """Rank the suspects of a reproduced failure and gather what its candidates are judged against."""
    sources, texts = await load_sources(base.snapshot, tools)
    first_lines = heads(texts)
    project, tests = base.snapshot.project, base.test_files()
    executed = tuple(base.report.spectrum.lines.get(target.failure.nodeid, {}))
    inside = [root.resolve() for root in base.snapshot.roots]
    ignored = await tools.git.ignored(project.root, executed)

    def why_not(path: Path) -> str:
        if path in ignored:
            return "git-ignored files are read-only"
        if not any(path.resolve().is_relative_to(root) for root in inside):
            return "a link to a file outside of the project"
        return protected(path, project, test_files=tests, head=first_lines.get(path, ""))

    def ranked(known: Baseline) -> tuple[Suspect, ...]:
        return rank(
            target.failure,
            known.report.spectrum,
            passing=[name for name, outcome in known.outcomes.items() if outcome.status is TestStatus.PASSED],
            sources=sources,
            may_change=lambda path: path in texts and not why_not(path),
        )

    # The first ranking says whose tests to run where few are known; what they execute then tells lines apart.
    suspects = ranked(base)
    covered = {suspect.path for suspect in suspects[:COVERED_FILES]}
    base, complete = await coverage.extend(base, covered, sources, target.failure)
    suspects = ranked(base)
    safe = tuple(suspect for suspect in suspects if isolation != "none" or not _hazard(suspect, sources))

    literals = of_test(sources.get(target.failure.path), target.failure)
    known = Known(
        {nodeid: outcome.status for nodeid, outcome in base.outcomes.items()},
        {nodeid: outcome.seconds for nodeid, outcome in base.outcomes.items()},
    )
    field = Field(
        target,
        base.snapshot,
        known,
        Gate(sources, why_not, literals),
        _selector(base, sources, complete=complete),
        texts,
        sources,
        _siblings(target.failure.nodeid, base),
    )
    return Ground(base, safe, len(suspects) - len(safe), field)


def _siblings(nodeid: str, base: Baseline) -> tuple[str, ...]:
    """The other cases of a parametrised test that were collected and not run."""
    test, bracket, _ = nodeid.partition("[")
    collected = [name for name in base.report.collected if bracket and name.startswith(f"{test}[")]
    return tuple(name for name in collected if name != nodeid and name not in base.outcomes)


def _hazard(suspect: Suspect, sources: ProjectSources) -> str:
    parsed = sources.get(suspect.path)
    return dangerous(parsed, suspect.line) if parsed else ""


def _selector(
    base: Baseline, sources: ProjectSources, *, complete: bool
) -> Callable[[Candidate], TestSelection]:
    """Impacted tests of a candidate, computed once per edited place."""
    selections: dict[tuple[tuple[Path, tuple[int, ...]], ...], TestSelection] = {}

    def select(candidate: Candidate) -> TestSelection:
        changed = changed_lines(candidate, sources)
        key = tuple(changed.items())
        if key not in selections:
            selections[key] = impact.select(changed, base.report.spectrum, sources, complete=complete)
        return selections[key]

    return select
