"""What does pytest tell, and how does it become records?"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable

import pytest

from regreen_probe import identity
from regreen_probe.failures import Describer
from regreen_probe.observe import Observer
from regreen_probe.reprs import clip

OUTPUT = 4000
_HAS_START = "start" in inspect.signature(pytest.TestReport.__init__).parameters  # since pytest 7.1


class Current:
    """The test that is running."""

    def __init__(self, nodeid: str) -> None:
        self.nodeid = nodeid
        self.forget()

    def forget(self) -> None:
        """Begin again."""
        self.phases: dict[str, str] = {}
        self.outcomes: list[str] = []
        self.failure: dict[str, object] | None = None
        self.raised: dict[str, dict[str, object]] = {}
        self.seconds = 0.0


LOOKS = 20
"""After how many tests of a run it is looked whether anything of pytest was replaced; at the end it always is."""


class Reporter:
    """The pytest plug-in of one run.

    Args:
        send: takes records.
        describer: explains exceptions.
        lines: what the current test has executed, {path: [lines]}; None when that is not asked for.
        reset: forgets what was executed.
        observer: watches the calls of some functions while tests run.
        left_out: node ids of tests that are not to run.
    """

    def __init__(
        self,
        send: Callable[[dict[str, object]], None],
        describer: Describer,
        lines: Callable[[], dict[str, list[int]]] | None,
        reset: Callable[[], None],
        observer: Observer,
        left_out: list[str],
    ) -> None:
        self.send = send
        self.describer = describer
        self.lines = lines
        self.reset = reset
        self.observer = observer
        self.left_out = frozenset(left_out)
        self.deselected = 0
        self.seen_replaced: set[str] = set()
        self.looks = LOOKS
        self.current: Current | None = None
        self.rootdir = ""

    # ----------------------------------------------------------------- collection

    def pytest_deselected(self, items):
        """Count what the project's own options leave out."""
        self.deselected += len(items)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        """Leave out what is not to run, without a word: it is asked for anew with every run."""
        items[:] = [item for item in items if item.nodeid not in self.left_out]

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session):
        """Tell what will run."""
        places = {}
        for item in session.items:
            places[item.nodeid] = list(place(item))
        self.send(
            {
                "ev": "collected",
                "ids": [item.nodeid for item in session.items],
                "places": places,
                "deselected": self.deselected,
            }
        )

    @pytest.hookimpl(hookwrapper=True)
    def pytest_make_collect_report(self, collector):
        """Tell what cannot be collected."""
        result = yield
        if result.excinfo is not None:  # what ends the whole run, like SystemExit since pytest 8
            self.collect_error(collector.nodeid, result.excinfo[1], "")
            return
        report = result.get_result()
        if report.failed:
            call = getattr(report, "call", None)
            error = call.excinfo.value if call is not None and call.excinfo is not None else None
            self.collect_error(report.nodeid, error, str(report.longrepr))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_load_initial_conftests(self, early_config):
        """Tell of a conftest that ends the run before it begins."""
        result = yield
        error = result.excinfo[1] if result.excinfo else None
        if type(error).__name__ == "ConftestImportFailure":
            self.rootdir = str(early_config.rootpath)
            self.collect_error("", error, "")

    def pytest_sessionstart(self, session):
        """Remember what node ids are relative to."""
        self.rootdir = str(session.config.rootpath)

    def collect_error(self, nodeid: str, error: BaseException | None, text: str) -> None:
        """A file that cannot be collected; a conftest is named itself, whatever was being collected."""
        if error is None:
            failure = without_exception("collect", text)
        else:
            failure = self.describer.describe(error, "collect")
            if type(error).__name__ == "ConftestImportFailure":
                nodeid = os.path.relpath(str(error.path), self.rootdir).replace(os.sep, "/")
        self.send({"ev": "collect_error", "nodeid": nodeid, "failure": failure})

    # ----------------------------------------------------------------- tests

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        """Frame one test, with all that belongs to it."""
        current = self.current = Current(item.nodeid)
        self.describer.compared.forget()
        self.send({"ev": "begin", "nodeid": item.nodeid})
        self.reset()
        self.observer.start(item.nodeid)
        result = yield
        self.observer.stop(item.nodeid)
        if self.looks:
            self.looks -= 1
            self.seen_replaced.update(identity.replaced())
        lines = self.lines() if self.lines is not None else None
        if result.excinfo is not None and current.failure is None:
            current.outcomes.append("error")
            current.failure = self.describer.describe(result.excinfo[1], "call")
        self.current = None
        self.send_test(item, current, lines)

    def replaced(self) -> list[str]:
        """What of pytest, unittest or the builtins was replaced, now or after one of the first tests."""
        return sorted(self.seen_replaced.union(identity.replaced()))

    def send_test(self, item, current: Current, lines: dict[str, list[int]] | None) -> None:
        """Tell how a test went."""
        outcome = overall(current)
        failure = current.failure
        if outcome not in ("failed", "error"):
            failure = None
        elif failure is None:
            failure = without_exception("call", "")
        if failure is not None:
            failure["output"] = output(item)
        path, line = place(item)
        record: dict[str, object] = {
            "ev": "test",
            "nodeid": item.nodeid,
            "outcome": outcome,
            "phases": current.phases,
            "seconds": round(current.seconds, 6),
            "path": path,
            "line": line,
            "markers": sorted({mark.name for mark in item.iter_markers()}),
            "failure": failure,
        }
        if lines is not None:
            record["lines"] = lines
        self.send(record)

    def pytest_runtest_makereport(self, item, call):
        """Notes the exception; and for plain failures makes a report without rendering a traceback.

        Not tryfirst: unittest's own implementation, which is, first fills in the exception of its tests.
        """
        if call.excinfo is None:
            return None
        error = call.excinfo.value
        if isinstance(error, (pytest.skip.Exception, pytest.xfail.Exception)):
            return None
        failure = self.describer.describe(error, call.when)
        if self.current is not None:
            self.current.raised.setdefault(call.when, failure)
        if not isinstance(item, pytest.Function) or not isinstance(error, (Exception, pytest.fail.Exception)):
            return None
        times = {"start": call.start, "stop": call.stop} if _HAS_START else {}
        return pytest.TestReport(
            item.nodeid,
            item.location,
            dict.fromkeys(item.keywords, 1),
            "failed",
            clip("{}: {}".format(failure["exception"], failure["message"]), 300),
            call.when,
            [(f"Captured {key} {when}", content) for when, key, content in item._report_sections],
            call.duration,
            user_properties=item.user_properties,
            **times,
        )

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report):
        """Add one phase, or one subtest, to the current test."""
        current = self.current
        if current is None or report.nodeid != current.nodeid:
            return
        if report.outcome == "rerun":  # pytest-rerunfailures: what counts is the last time
            current.forget()
            return
        subtest = hasattr(report, "context")
        if not subtest or report.failed:
            current.phases[report.when] = worse(current.phases.get(report.when), report.outcome)
        if not subtest:
            current.seconds += report.duration
        if hasattr(report, "wasxfail"):
            current.outcomes.append("xfailed" if report.skipped else "xpassed")
        elif report.failed:
            current.outcomes.append("failed" if report.when == "call" else "error")
            if current.failure is None:
                raised = current.raised.get(report.when)
                current.failure = raised or without_exception(report.when, str(report.longrepr))
        elif report.skipped and not subtest:
            current.outcomes.append("skipped")

    def pytest_assertrepr_compare(self, op, left, right):
        """Note the sides of a comparison; explain nothing."""
        if self.describer.details:
            self.describer.compared.note(op, left, right)


def overall(current: Current) -> str:
    """The outcome of a test from those of its phases."""
    for outcome in ("failed", "error", "xfailed", "xpassed", "skipped"):
        if outcome in current.outcomes:
            return outcome
    return "passed"


def worse(before: str | None, now: str) -> str:
    """Of two outcomes of one phase (subtests have many) the one to tell."""
    return "failed" if "failed" in (before, now) else now


def without_exception(phase: str, text: str) -> dict[str, object]:
    """The `failure` of what fails without raising, like a strict xfail that passes."""
    return {
        "phase": phase,
        "exception": "Failed",
        "message": clip(text, 2000),
        "frames": [],
        "comparison": None,
        "hints": {},
        "output": "",
    }


def place(item) -> tuple[str, int]:
    """Where a test is defined: path and 1-based line."""
    try:
        path, line, _ = item.reportinfo()
    except Exception:  # a custom item's own code
        return str(item.path), 1
    return str(path), (line or 0) + 1


def output(item) -> str:
    """The last of what the test printed and logged."""
    text = "".join(content for _, _, content in item._report_sections)
    return text[-OUTPUT:]
