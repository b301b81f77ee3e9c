"""What was begun can be stopped: by the notification that shows its progress, and by the menu of the status bar."""

from __future__ import annotations

import time
from pathlib import Path

import psutil
import pytest
from tests.lsp.projects import hopeless, last_run
from tests.processes import marked

from .conftest import Start
from .steps import our_log, regreen, regreen_is_up, stays
from .workbench import Workbench

LONG = {"regreen.heal.maxCandidates": 3000, "regreen.heal.maxSeconds": 60}
"""A search that goes on for much longer than any of these tests."""

SOON_SECONDS = 5.0
TOAST = ".notifications-toasts .notification-list-item"


@pytest.fixture
def deep(tmp_path: Path) -> Path:
    """A project with a red test that no search can mend."""
    root = hopeless(tmp_path / "deep")
    last_run(root, red=("test_deep.py::test_answer",))
    return root


def test_the_cancel_button_and_the_menu_end_a_search_at_once_and_without_a_word(
    deep: Path, start: Start
) -> None:
    code = start(deep, deep / "deep.py", settings=LONG)
    regreen_is_up(code)
    begin_a_search(code)
    code.until(lambda: "Looking for fixes" in " ".join(code.notifications()))
    code.picture("looking for fixes")
    code.page.locator(TOAST, has_text="Looking for fixes").locator(
        ".monaco-button", has_text="Cancel"
    ).click()
    it_ends(code)

    begin_a_search(code)
    code.click_status("Regreen")
    code.until(lambda: any("Find Fixes for the Red Tests" in item for item in code.items()))
    code.picture("the menu while something runs")
    assert any("Stop What Is Running" in item for item in code.items())
    code.page.locator(".quick-input-list .monaco-list-row", has_text="Stop What Is Running").click()
    it_ends(code)
    code.click_status("Regreen")
    code.until(lambda: any("Find Fixes for the Red Tests" in item for item in code.items()))
    assert not any("Stop What Is Running" in item for item in code.items())


def begin_a_search(code: Workbench) -> None:
    """Let fixes be looked for by the command, and wait until they are."""
    code.until(lambda: regreen(code) == "1 red")
    code.command("Regreen: Find Fixes for the Red Tests")
    code.until(lambda: regreen(code) == "1 red, looking for fixes")


def it_ends(code: Workbench) -> None:
    """The search is over at once, nothing is told of it, and nothing of it goes on in secret."""
    code.until(lambda: regreen(code) == "1 red", SOON_SECONDS)
    code.until(lambda: "cancelled" in our_log(code))
    code.until(lambda: code.notifications() == [], SOON_SECONDS)
    before, began = busy(code), time.monotonic()
    stays(code, lambda: [regreen(code), *code.notifications()], ["1 red"], 2)
    took = busy(code) - before
    assert took < (time.monotonic() - began) / 4, f"{took:.2f} s of work in 2 s"


def busy(code: Workbench) -> float:
    """How long the processors worked for the server and the tests that it runs, in seconds."""
    total = 0.0
    for process in marked(code.server.mark):
        try:
            if "python" in process.name():
                times = process.cpu_times()
                total += times.user + times.system
        except psutil.NoSuchProcess:  # noqa: PERF203 — each process may end at any moment
            continue
    return total
