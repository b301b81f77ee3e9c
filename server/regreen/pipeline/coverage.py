"""Which tests can a patch of this file break, when the whole suite has not been run?"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from regreen import impact
from regreen.pipeline.concurrent import all_or_none
from regreen.pipeline.parts import Baseline, Tools, merged
from regreen.pipeline.shards import split
from regreen.source import ProjectSources
from regreen.validation.paths import is_test
from regreen.values import Failure, RunReport, RunRequest

COLD_MAP_SECONDS = 10.0
"""How long the unpatched tests that import a file may run to fill a cold coverage map after a save."""

PATIENT_SECONDS = 60.0
"""The same for a typed command: it is waited for, and a fix that is proven only for its own test is worth less."""


class Coverage:
    """The coverage map of one unpatched snapshot, filled as far as heals ask for it.

    Args:
        tools: the project's parts.
        seconds: how long one filling may run.
    """

    def __init__(self, tools: Tools, seconds: float = COLD_MAP_SECONDS) -> None:
        self._tools = tools
        self._seconds = seconds
        self._reports: list[RunReport] = []
        self._asked: set[str] = set()
        self._complete = True

    async def extend(
        self, base: Baseline, files: Iterable[Path], sources: ProjectSources, failure: Failure
    ) -> tuple[Baseline, bool]:
        """Extend a partial baseline with the tests that import any of `files`, and with those beside the red one.

        Returns:
            The baseline, and whether every test that can matter is in it.
        """
        if base.whole_suite:
            return base, True
        wanted = _importing_tests(base, files, sources)
        beside = [] if failure.is_collection else [failure.nodeid.partition("::")[0]]
        await self._fill(base, [n for n in dict.fromkeys((*beside, *wanted)) if n not in self._asked])
        for report in self._reports:
            base = merged(base, report)
        return base, self._complete and bool(wanted)

    async def _fill(self, base: Baseline, names: list[str]) -> None:
        """Run the tests of these files as they are, in shards; what was not finished is not tried again.

        What was run already is left out: a test that hangs would take the others' time a second time.
        """
        self._asked.update(names)
        known = tuple(base.report.spectrum.lines)
        requests = [
            RunRequest(base.snapshot, shard, known, spectrum=True, details=False, seconds=self._seconds)
            for shard in split(names, {})
        ]
        reports = await all_or_none(*(self._tools.oracle.run(request) for request in requests))
        self._reports += reports
        self._complete &= all(one.exit_status is not None and not one.problem for one in reports)


def _importing_tests(base: Baseline, files: Iterable[Path], sources: ProjectSources) -> list[str]:
    """The test files that import any of these files, relative to the project, sorted."""
    project = base.snapshot.project
    importing = {path for file in files for path in impact.importers(file, sources) if is_test(path, project)}
    names = [path.relative_to(project.root).as_posix() for path in importing if path.name != "conftest.py"]
    return sorted(names)
