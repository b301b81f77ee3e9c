"""Stopping a search, leaving in the middle of one, and fixes that arrive by themselves."""

from __future__ import annotations

from pathlib import Path

from tests.processes import marked, survivors

from .conftest import CART, Start
from .steps import bug, fix_is_offered, green, known_green, wait_quietly

BUGGY = CART.replace("+=", "-=")
QUIET_SECONDS = 2.0
"""Longer than the moment without typing after which a fix that was found would be applied by itself."""
SLOW = """\
import time

from cart import total


def test_total():
    time.sleep(1.5)
    assert total([4, 5, 6]) == 15
"""


def test_a_cancelled_search_ends_with_all_its_processes(project: Path, start: Start) -> None:
    (project / "cart.py").write_text(BUGGY, encoding="utf-8")
    (project / "test_cart.py").write_text(SLOW, encoding="utf-8")
    nvim = start(options="trusted = true")
    nvim.open(project / "cart.py")
    idle = len(marked(nvim.mark))
    nvim.command("RegreenHeal")
    nvim.until("require('regreen').status() == 'regreen: looking for a fix…'")
    assert len(marked(nvim.mark)) > idle

    nvim.command("RegreenCancel")
    nvim.until_said("Regreen: stopped")
    nvim.until("require('regreen').status() == 'regreen: 1 red'")
    running = [process.cmdline() for process in marked(nvim.mark)]
    assert not [line for line in running if "run" in line[-1:]], running
    nvim.command("RegreenCancel")
    nvim.until_said("nothing was running")


def test_leaving_in_the_middle_of_a_search_leaves_no_process(project: Path, start: Start) -> None:
    (project / "cart.py").write_text(BUGGY, encoding="utf-8")
    (project / "test_cart.py").write_text(SLOW, encoding="utf-8")
    nvim = start(options="trusted = true")
    nvim.open(project / "cart.py")
    nvim.command("RegreenHeal")
    nvim.until("require('regreen').status() == 'regreen: looking for a fix…'")
    nvim.answer("<Esc>:qall!<CR>")
    assert survivors(nvim.mark) == []


def test_a_fix_arrives_after_a_save_and_is_not_forced_again_once_undone(project: Path, start: Start) -> None:
    nvim = start(options="trusted = true", autoHeal={"onSave": True})
    known_green(nvim, project / "cart.py")
    bug(nvim)
    nvim.until("vim.fn.getline(4):find('+=', 1, true)")
    assert nvim.text() == CART
    assert (project / "cart.py").read_text() == BUGGY, "the file is the user's to save"

    nvim.type("u")
    assert nvim.text() == BUGGY, "one undo takes back the fix and nothing else"
    nvim.save()
    nvim.replace("result = 0", "result = 0  # mine")
    nvim.save()
    fix_is_offered(nvim)
    wait_quietly(nvim, QUIET_SECONDS)
    assert nvim.text() == BUGGY.replace("result = 0", "result = 0  # mine")


def test_healing_on_save_is_off_until_it_is_turned_on(project: Path, start: Start) -> None:
    nvim = start(options="trusted = true")
    known_green(nvim, project / "cart.py")
    bug(nvim)
    fix_is_offered(nvim)
    wait_quietly(nvim, QUIET_SECONDS)
    assert nvim.text() == BUGGY
    nvim.type("u")
    nvim.save()
    green(nvim)

    nvim.command("RegreenToggleAutoHeal")
    nvim.until("require('regreen').status() == 'regreen: all green (auto)'")
    nvim.replace("min(prices)", "max(prices)")  # the bug of before would count as a fix taken back
    nvim.save()
    nvim.until("vim.fn.getline(9):find('min', 1, true)")
    assert nvim.text() == CART
