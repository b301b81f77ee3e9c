"""Which tests can a patch of this file break, when the whole suite has not been run?"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from regreen import impact
from regreen.pipeline.parts import Baseline, Tools, merged
from regreen.source import ProjectSources
from regreen.validation.paths import is_test
from regreen.values import RunRequest

COLD_MAP_SECONDS = 10.0
"""How long the unpatched tests that import a file may run to fill a cold coverage map."""


async def with_impacted_tests(
    base: Baseline, files: Iterable[Path], sources: ProjectSources, tools: Tools
) -> tuple[Baseline, bool]:
    """Extend a partial baseline with the tests that import any of `files`.

    Returns:
        The baseline, and whether every test that can matter is in it.
    """
    if base.whole_suite:
        return base, True
    project = base.snapshot.project
    importing = {path for file in files for path in impact.importers(file, sources) if is_test(path, project)}
    test_files = sorted(path for path in importing if path.name != "conftest.py")
    wanted = [str(path.relative_to(project.root).as_posix()) for path in test_files]
    if not wanted:
        return base, False
    report = await tools.oracle.run(
        RunRequest(base.snapshot, tuple(wanted), spectrum=True, details=False, seconds=COLD_MAP_SECONDS)
    )
    complete = report.exit_status is not None and not report.problem
    return merged(base, report), complete
