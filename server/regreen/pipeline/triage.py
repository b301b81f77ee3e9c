"""Is this red test worth a search, or does something other than the code have to change?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from regreen import edits
from regreen.pipeline.parts import Baseline, Tools
from regreen.validation.paths import is_test
from regreen.values import Failure, Snapshot, TestStatus

SERVICES = frozenset({"ConnectionRefusedError", "ConnectionResetError", "socket.gaierror", "gaierror"})

_NO_MODULE = re.compile(r"No module named '([\w.]+)'")
_QUOTED_PATH = re.compile(r"'([^']+)'")


def environment_problem(failure: Failure, snapshot: Snapshot) -> str:
    """Why the surroundings and not the code are to blame, with what helps; "" when nothing says so.

    Only what no patch could mend: a missing package that resembles nothing of the project's, a service that
    does not answer, a path that only the original has, a write that the isolation refuses.
    """
    if failure.exception in SERVICES:
        return (
            f"The test needs a service that does not answer ({failure.exception}: {failure.message[:120]}). "
            "Start it, or mark the test `integration` so that it never runs by itself."
        )
    if failure.exception == "ModuleNotFoundError":
        return _missing_module(failure, snapshot)
    if failure.exception in {"PermissionError", "OSError", "FileNotFoundError"}:
        return _path_problem(failure, snapshot)
    return ""


def imported_from_elsewhere(foreign: Mapping[str, Path]) -> str:
    """Why patches cannot have an effect: the tests import the project from somewhere else; "" when they don't.

    Args:
        foreign: the project's modules that were not imported from the copy, and where they came from.
    """
    if not foreign:
        return ""
    module, path = min(foreign.items())
    return (
        f"The tests import `{module}` from {path}, not from the project, so no change of the project can turn them "
        "green. Install the project in editable mode (`pip install -e .`), or set pytest's `pythonpath`."
    )


def _missing_module(failure: Failure, snapshot: Snapshot) -> str:
    found = _NO_MODULE.search(failure.message)
    if found is None:
        return ""
    module = found.group(1)
    importing = failure.frames[-1].path if failure.frames else failure.path
    if is_test(importing, snapshot.project) and (homes := _homes(module, snapshot)):
        home = edits.relative(min(homes), snapshot.project.root)
        return (
            f"`{module}` is in {home}, where the interpreter of the tests does not look. Install the project there "
            f"(`pip install -e .`), or set pytest's `pythonpath` to `{home}`."
        )
    if failure.hints.get("near") or failure.hints.get("import"):
        return ""
    top = module.partition(".")[0]
    own = {path.stem for path in snapshot.files if path.suffix == ".py"}
    own |= {path.parent.name for path in snapshot.files if path.suffix == ".py"}
    if top in own:
        return ""
    return (
        f"The package `{top}` is not installed in the interpreter that runs the tests. Install it there, or choose "
        "another interpreter (`regreen.interpreter`, `--interpreter`); `regreen doctor` shows which one is used."
    )


def _homes(module: str, snapshot: Snapshot) -> set[Path]:
    """The folders that would have to be on the import path for a top-level module of the project's own."""
    python = [path for path in snapshot.files if path.suffix == ".py"]
    packages = {path.parents[1] for path in python if path.parent.name == module}
    return packages | {path.parent for path in python if path.stem == module}


def _path_problem(failure: Failure, snapshot: Snapshot) -> str:
    found = _QUOTED_PATH.search(failure.message)
    if found is None:
        return ""
    path = Path(found.group(1))
    if not path.is_absolute() or any(path.is_relative_to(root) for root in snapshot.roots):
        return ""
    if failure.exception == "PermissionError" or "Read-only" in failure.message:
        return (
            f"The test writes to {path}, outside the project. Runs are confined to the private copy and its "
            "temporary folder (pytest's `tmp_path`, `tempfile`)."
        )
    return ""


async def stale_test(failure: Failure, base: Baseline, tools: Tools) -> str:
    """Why the test rather than the code looks out of date, by git; "" when nothing says so.

    The test's file is the only Python file that differs from the last commit, it was there in that commit, and
    other tests of the code it exercises are green.
    """
    test_file = failure.path
    changed = {p for p in await tools.git.changed_files(base.snapshot.project.root) if p.suffix == ".py"}
    if changed != {test_file} or await tools.git.last_change(test_file) is None:
        return ""
    exercised = base.report.spectrum.lines.get(failure.nodeid, {})
    if not exercised:
        return ""
    agreeing = [
        nodeid
        for nodeid, outcome in base.outcomes.items()
        if outcome.status is TestStatus.PASSED
        and any(lines & exercised.get(path, frozenset()) for path, lines in _lines(base, nodeid))
    ]
    if not agreeing:
        return ""
    return (
        f"Only {test_file.name} changed since the last commit, and {len(agreeing)} other tests agree with the code "
        "it exercises: the expectation may be what has to change. Regreen never edits tests by itself."
    )


def _lines(base: Baseline, nodeid: str) -> list[tuple[Path, frozenset[int]]]:
    return list(base.report.spectrum.lines.get(nodeid, {}).items())
