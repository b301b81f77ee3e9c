"""Which real parts do heals stand on?

The one place that knows the concrete classes behind the ports. The command line imports it when a project is
healed, the language server (see `serving`) when the first test runs.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from regreen import history
from regreen.errors import UserError
from regreen.history import Store
from regreen.llm.parts import Nobody, Person
from regreen.oracle import interpreters
from regreen.oracle.backend import LocalBackend
from regreen.oracle.client import ProbeOracle
from regreen.pipeline import Tools
from regreen.platform.background import run_blocking
from regreen.platform.clock import SystemClock
from regreen.platform.waiting import uninterrupted
from regreen.ports import Git
from regreen.settings import Settings
from regreen.values import Project
from regreen.workspace.git import GitCommand
from regreen.workspace.mirror import ProjectMirror

NOBODY = Nobody()


async def open_tools(project: Project, settings: Settings, person: Person = NOBODY) -> Tools:
    """Find the project's interpreter, start its probe, and prepare its mirror.

    The caller closes them.

    Args:
        project: the project.
        settings: in force for it.
        person: whom to ask before a language model is told anything.

    Raises:
        EnvironmentProblem: there is no interpreter that can run the tests.
        OracleFailed: the probe does not start in it.
    """
    interpreter = await interpreters.find(project, settings)
    mirror = ProjectMirror(
        project,
        max_file_bytes=settings.max_file_megabytes * 1e6,
        max_bytes=settings.max_gigabytes * 1e9,
    )
    oracle = ProbeOracle(project, interpreter, LocalBackend(mirror), settings)
    try:
        facts = await oracle.inspect()
        # Siblings that are installed in editable mode must be the copy's, too.
        await run_blocking(mirror.add_roots, [root for root in facts.roots if not _is_ours(root, project)])
    except BaseException:
        await uninterrupted(oracle.close())
        raise
    store = Store(history.place())
    model, why_no_model = None, ""
    if settings.llm_mode != "off":
        opening = await run_blocking(import_module, "regreen.llm.opening")
        try:
            model = await run_blocking(opening.open_model, settings, store, person)
        except UserError as error:  # templates heal without it
            why_no_model = str(error)
    return Tools(oracle, mirror, GitCommand(), store, SystemClock(), interpreter, model, why_no_model)


def _is_ours(root: Path, project: Project) -> bool:
    """Whether this is the source that Regreen runs from, which only its own tests may regard as project code."""
    return Path(__file__).is_relative_to(root) and not root.is_relative_to(project.root)


def make_git() -> Git:
    """What version control knows, for commands that have no project yet."""
    return GitCommand()
