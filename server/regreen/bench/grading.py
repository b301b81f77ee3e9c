"""Do a project's tests pass, by pytest's own word?

Regreen has no part in these runs: they judge what it did.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree as ET

from regreen.bench.cases import Files, names
from regreen.oracle.environment import for_interpreter
from regreen.platform import processes


@dataclass(frozen=True, slots=True)
class Grade:
    """Whether at least one test ran and all that ran passed, and what pytest took, start-up included."""

    passed: bool
    seconds: float


async def grade(
    python: Path, project: Path, tests: Sequence[str] = (), *, limit: float, bytecode: bool = False
) -> Grade:
    """Run pytest in a project.

    Args:
        python: an interpreter that has pytest.
        project: the working directory; a private copy.
        tests: its arguments; empty for the whole suite.
        limit: seconds after which the tests count as failed.
        bytecode: keep compiled files. Without, what is written in the place of a file within the same second is
            sure to be what runs next.
    """
    report = project.with_name("report.xml")
    report.unlink(missing_ok=True)
    environment = for_interpreter(os.environ, python)
    if not bytecode:
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
    began = time.monotonic()
    ended = await processes.capture(
        [python, "-m", "pytest", "-q", f"--junitxml={report}", *tests],
        cwd=project,
        env=environment,
        seconds=limit,
    )
    seconds = time.monotonic() - began
    return Grade(ended.code == 0 and report.is_file() and _some_passed(report), round(seconds, 3))


def files_to_run(exam: Files) -> tuple[str, ...]:
    """The test files of an exam; empty, for the whole suite, when it only holds what they need."""
    return tuple(
        name
        for name in names(exam)
        if name.endswith(".py") and (PurePosixPath(name).name.startswith("test") or name.endswith("_test.py"))
    )


def _some_passed(report: Path) -> bool:
    try:
        suites = ET.parse(report).getroot().iter("testsuite")  # noqa: S314 — written by the run just before
        counts = [
            {key: int(suite.get(key, 0)) for key in ("tests", "skipped", "failures", "errors")}
            for suite in suites
        ]
    except (ET.ParseError, ValueError):
        return False
    return any(each["tests"] > each["skipped"] for each in counts) and not any(
        each["failures"] + each["errors"] for each in counts
    )
