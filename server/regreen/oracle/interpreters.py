"""Which Python runs the tests of a project, and why that one?

The first one that starts, is new enough and has pytest, among the places of `places`; an environment that was made
for the project is preferred even without pytest, because only it has what the project imports. Every place that was
looked at is kept, so that `regreen doctor` can explain the choice.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from regreen.errors import EnvironmentProblem
from regreen.oracle.environment import for_interpreter
from regreen.oracle.places import ACTIVE, OWN, PROJECT, SYSTEM, WINDOWS, Place, places
from regreen.platform import processes
from regreen.platform.background import run_blocking
from regreen.settings import Settings
from regreen.values import Interpreter, Project, SearchStep

OLDEST = (3, 9)
CHECK_SECONDS = 10.0
"""How long an interpreter may take to tell its version."""

# Runs in any Python, also in a 2.7 that must be told apart: so no syntax newer than that.
_CHECK = """
import sys
sys.path[:] = [p for p in sys.path if p]
import json
found = None
try:
    import importlib.util
    if importlib.util.find_spec("pytest") is not None:
        try:
            from importlib.metadata import version
            found = version("pytest")
        except Exception:
            import pytest
            found = pytest.__version__
except ImportError:
    pass
print(json.dumps({"version": list(sys.version_info[:3]), "pytest": found}))
"""

_checked: dict[tuple[Path, int], tuple[tuple[int, int, int], str | None]] = {}
"""What was found out, by executable and the time of its last change. Without pytest nothing is kept: it may come."""


@dataclass(frozen=True, slots=True)
class Search:
    """What looking for an interpreter gave: it, or the reason why there is none; and every step."""

    interpreter: Interpreter | None
    problem: EnvironmentProblem | None
    steps: tuple[SearchStep, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    place: Place
    version: tuple[int, int, int]
    pytest: str | None

    def __str__(self) -> str:
        python = ".".join(map(str, self.version))
        return f"Python {python}, " + (f"pytest {self.pytest}" if self.pytest else "no pytest")


async def search(
    project: Project,
    settings: Settings,
    environment: Mapping[str, str] | None = None,
    *,
    windows: bool = WINDOWS,
) -> Search:
    """Look for the project's interpreter. Starts interpreters of the project: call it for trusted folders only.

    Args:
        project: whose.
        settings: `interpreter` is used.
        environment: instead of ours.
        windows: use the folders' layout of Windows.
    """
    env = os.environ if environment is None else environment
    found: list[_Found] = []
    steps: list[SearchStep] = []
    where: dict[int, int] = {}
    looked = await run_blocking(lambda: list(places(project, settings.interpreter, env, windows=windows)))
    for place in looked:
        if _settled(found, place.rank):
            break
        if place.executable is None:
            steps.append(SearchStep(place.text, place.note))
            continue
        try:
            version, pytest = await check(place.executable, env)
        except EnvironmentProblem as problem:
            steps.append(SearchStep(place.text, problem.what))
            continue
        where[len(found)] = len(steps)
        found.append(_Found(place, version, pytest))
        steps.append(SearchStep(place.text, str(found[-1])))
    if not found:
        return Search(None, _nothing(settings, steps), tuple(steps))
    best = _best(found)
    at = where[found.index(best)]
    steps[at] = replace(steps[at], chosen=True)
    executable = best.place.executable
    assert executable is not None  # noqa: S101 — only places with one are found
    interpreter = Interpreter(executable, best.version, best.pytest, best.place.text, tuple(steps))
    return Search(interpreter, None, tuple(steps))


def _settled(found: list[_Found], rank: str) -> bool:
    """Whether places of this rank need no look any more."""
    if any(one.pytest for one in found):
        return True
    if rank == OWN:
        return bool(found)
    owned = any(one.place.rank == PROJECT for one in found)
    return rank in (ACTIVE, SYSTEM) and owned


def _best(found: list[_Found]) -> _Found:
    return next((one for one in found if one.pytest), found[0])


def _nothing(settings: Settings, steps: list[SearchStep]) -> EnvironmentProblem:
    if settings.interpreter:
        return EnvironmentProblem(
            f"The interpreter of the setting regreen.interpreter, {settings.interpreter}, cannot be used: "
            f"{steps[-1].result}.",
            "Correct the setting, or empty it to have one found; where it is empty, your editor chose this one.",
        )
    return EnvironmentProblem(
        "No Python was found for the tests.",
        "Make an environment beside the project (python3 -m venv .venv), or name one with the setting "
        "regreen.interpreter; `regreen doctor` shows where Regreen looked.",
    )


async def find(
    project: Project, settings: Settings, environment: Mapping[str, str] | None = None
) -> Interpreter:
    """The project's interpreter; see `search`.

    Raises:
        EnvironmentProblem: there is none that can be used.
    """
    result = await search(project, settings, environment)
    if result.interpreter is None:
        raise result.problem or EnvironmentProblem("No Python was found for the tests.")
    return result.interpreter


async def check(
    executable: Path, environment: Mapping[str, str] | None = None
) -> tuple[tuple[int, int, int], str | None]:
    """The version of an interpreter and of its pytest (None without one), from one short process.

    Raises:
        EnvironmentProblem: it does not start, is no Python, or is too old; `what` is a clause for a table.
    """
    try:
        key = (executable, os.stat(executable).st_mtime_ns)  # noqa: PTH116 — one quick look
    except OSError as error:
        raise EnvironmentProblem(f"cannot be read: {error.strerror}") from error
    if key in _checked:
        return _checked[key]
    env = for_interpreter(os.environ if environment is None else environment, executable)
    try:
        told = await processes.capture(
            [executable, "-c", _CHECK], cwd=Path(tempfile.gettempdir()), env=env, seconds=CHECK_SECONDS
        )
    except OSError as error:
        raise EnvironmentProblem(f"does not start: {error.strerror or error}") from error
    if told.code is None:
        raise EnvironmentProblem(f"does not answer within {CHECK_SECONDS:g} s")
    if told.code != 0:
        last = told.stderr.strip().rsplit("\n", 1)[-1]
        raise EnvironmentProblem(f"does not start: exit status {told.code}{last and ', ' + last[:200]}")
    try:
        answer = json.loads(told.stdout.strip().rsplit(b"\n", 1)[-1])
        major, minor, micro = answer["version"]
        pytest = answer["pytest"]
    except (ValueError, KeyError, TypeError) as error:
        raise EnvironmentProblem("is not a Python: its answer makes no sense") from error
    version = (int(major), int(minor), int(micro))
    if version < OLDEST:
        raise EnvironmentProblem(
            f"is Python {'.'.join(map(str, version))}, too old: {'.'.join(map(str, OLDEST))} or newer is needed"
        )
    if pytest is not None:
        _checked[key] = (version, str(pytest))
    return version, pytest
