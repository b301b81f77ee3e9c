"""What was the outcome of every test of this run? Written as JSON, by node id, to the file `REGREEN_OUTCOMES` names.

A pytest plug-in for the projects' own environments: standard library only. pytest's own reports on the terminal are
cut, coloured and configured by each project; a file of our own is not.
"""

from __future__ import annotations

import json
import os

import pytest

_outcomes: dict[str, str] = {}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep the worst phase: a test is green only if nothing of it failed, its subtests included."""
    if report.failed:
        _outcomes[report.nodeid] = "failed"
    elif report.when == "call" or report.skipped:
        _outcomes.setdefault(report.nodeid, report.outcome)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """A file that cannot be collected is red under its own node id."""
    if report.failed:
        _outcomes[report.nodeid] = "failed"


def pytest_unconfigure() -> None:
    """Write at the very end, so that a run that was cut short leaves no file."""
    with open(os.environ["REGREEN_OUTCOMES"], "w", encoding="utf-8") as file:  # noqa: PTH123 — one call, no import
        json.dump(_outcomes, file)
