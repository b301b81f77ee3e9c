"""A pytest plug-in for the template tests: what failed, why, and which lines each test ran, as JSON.

Loaded with `-p recorder` in a process of its own. A test that executes too many lines is stopped, so that a
hang is found by counting and not by the clock.
"""

from __future__ import annotations

import difflib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

LINES = 30_000


class Timeout(BaseException):
    """Raised inside of a test that does not end."""


class Recorder:
    def __init__(self) -> None:
        self.failures: list[dict[str, Any]] = []
        self.lines: dict[str, dict[str, list[int]]] = {}
        self.comparison: dict[str, str] | None = None
        self.seen: dict[str, set[int]] = {}
        self.count = 0

    def trace_calls(self, frame: FrameType, event: str, arg: object) -> Any:
        name = Path(frame.f_code.co_filename).name
        return self.trace_lines if name.startswith(("case_", "with_")) else None

    def trace_lines(self, frame: FrameType, event: str, arg: object) -> Any:
        if event == "line":
            self.seen.setdefault(Path(frame.f_code.co_filename).name, set()).add(frame.f_lineno - 1)
            self.count += 1
            if self.count > LINES:
                sys.settrace(None)
                raise Timeout
        return self.trace_lines

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        self.seen = {}
        self.count = 0
        self.comparison = None
        sys.settrace(self.trace_calls)
        yield
        sys.settrace(None)
        self.lines[item.nodeid] = {name: sorted(lines) for name, lines in self.seen.items()}

    def pytest_assertrepr_compare(self, config: pytest.Config, op: str, left: object, right: object) -> None:
        self.comparison = {
            "op": op,
            "left": repr(left)[:400],
            "right": repr(right)[:400],
            "left_type": type(left).__name__,
            "right_type": type(right).__name__,
        }

    def pytest_exception_interact(self, node: Any, call: Any, report: object) -> None:
        sys.settrace(None)
        error = call.excinfo.value
        collecting = isinstance(node, pytest.Collector)
        if isinstance(error, pytest.Collector.CollectError) and error.__cause__ is not None:
            error = error.__cause__
        self.failures.append(
            {
                "nodeid": node.nodeid,
                "phase": "collect" if collecting else call.when,
                "exception": type(error).__qualname__,
                "message": str(error)[:2000],
                "frames": list(frames_of(error)),
                "path": str(node.path),
                "comparison": self.comparison if isinstance(error, AssertionError) else None,
                "hints": hints_of(error),
            }
        )

    def pytest_sessionfinish(self) -> None:
        result = {"failures": self.failures, "lines": self.lines}
        Path(os.environ["RECORD_TO"]).write_text(json.dumps(result), encoding="utf-8")


def frames_of(error: BaseException) -> Iterator[dict[str, Any]]:
    here = str(Path.cwd())
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        own = frame.f_code.co_filename.startswith(here)
        if own or traceback.tb_next is None:
            values = [
                [name, type(value).__name__, repr(value)[:400]] for name, value in frame.f_locals.items()
            ]
            yield {
                "path": frame.f_code.co_filename,
                "line": traceback.tb_lineno - 1,
                "function": frame.f_code.co_name,
                "own": own,
                "locals": values[:30] if own and frame.f_code.co_name != "<module>" else [],
            }
        traceback = traceback.tb_next
    if isinstance(error, SyntaxError) and error.filename:
        yield {
            "path": error.filename,
            "line": (error.lineno or 1) - 1,
            "function": "",
            "own": True,
            "locals": [],
        }


def hints_of(error: BaseException) -> dict[str, str]:
    hints: dict[str, str] = {}
    if isinstance(error, AttributeError) and error.name:
        near = difflib.get_close_matches(error.name, dir(error.obj), 3, 0.6)
        hints = {"name": error.name, "near": ",".join(near), "type": type(error.obj).__name__}
    return hints


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Recorder(), "recorder-of-templates")
