"""Saving: what heals by itself then, and what never does, beside formatters, auto-save and other extensions."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest
from tests.editors.conftest import CART, TESTS

from .conftest import Start
from .standins import FORMATTER, LINTER, add
from .steps import (
    bug,
    fix_is_ready,
    is_green,
    known_green,
    lightbulb,
    our_log,
    pick,
    problems,
    regreen,
    stays,
)
from .workbench import Workbench

QUIET_SECONDS = 2.0
"""Longer than nobody may have typed before a fix is applied by itself."""

BY_ITSELF = "Applying by itself"
BAD = CART.replace("+=", "-=")

FORMATS: dict[str, object] = {
    "editor.formatOnSave": True,
    "[python]": {"editor.defaultFormatter": "standins.formatter"},
}
SLOW_SECONDS = 1.0
"""How long one of the tests takes that a save affects."""


@pytest.fixture
def extensions(extensions: Path, tmp_path: Path) -> Path:
    """The installed extensions in a folder of this test's own."""
    return shutil.copytree(extensions, tmp_path / "extensions")


def test_a_bug_saved_by_hand_is_healed_and_one_undo_takes_the_fix_back_for_good(
    project: Path, start: Start
) -> None:
    cart = project / "cart.py"
    code = start(project, cart)
    known_green(code)
    code.command("Regreen: Toggle Auto-heal on Save")
    code.until(lambda: regreen(code) == "All green, auto-heal on save is on")
    code.picture("auto-heal is on")
    bug(code)
    code.until(lambda: code.text() == CART)
    assert code.modified(), "the file is the user's to save"
    assert cart.read_text() == BAD
    is_green(code)
    code.picture("healed by itself")

    code.undo()
    code.until(lambda: code.text() == BAD)
    fix_is_ready(code)
    code.save()
    code.go(1)
    code.press("Control+End")
    code.type("\n")
    code.save()
    assert cart.read_text() == BAD + "\n"
    fix_is_ready(code)
    stays(code, lambda: (code.text(), our_log(code).count(BY_ITSELF)), (BAD + "\n", 1), QUIET_SECONDS)


def test_after_a_save_that_nobody_made_the_fix_is_offered_and_never_applied(
    project: Path, start: Start
) -> None:
    cart = project / "cart.py"
    settings = {"regreen.autoHeal.onSave": True, "files.autoSaveDelay": 1500}
    code = start(project, cart, settings=settings)
    known_green(code)
    assert regreen(code) == "All green, auto-heal on save is on"
    for mode in ("afterDelay", "onFocusChange", "onWindowChange"):
        saves_by_itself(code, project, mode)
        code.replace("+=", "-=")
        if mode == "onFocusChange":
            code.show(project / "test_cart.py")
        elif mode == "onWindowChange":
            look_at_another_window(code)
        code.until(lambda: cart.read_text() == BAD)
        fix_is_ready(code)
        if mode == "onFocusChange":
            code.show(cart)
        assert code.text() == BAD
        assert any("test_total: Expected -7, got 7" in line for line in problems(code))
        stays(code, lambda: (code.text(), our_log(code).count(BY_ITSELF)), (BAD, 0), QUIET_SECONDS)
        code.picture(f"after a save by {mode}")
        code.replace("-=", "+=")
        code.save()
        is_green(code)


def saves_by_itself(code: Workbench, project: Path, mode: str) -> None:
    """Choose when VS Code saves; it watches the file and shows nothing of it."""
    folder = project / ".vscode"
    folder.mkdir(exist_ok=True)
    (folder / "settings.json").write_text(json.dumps({"files.autoSave": mode}), "utf-8")
    code.page.wait_for_timeout(1500)


def look_at_another_window(code: Workbench) -> None:
    """Leave the window for another one; Playwright lets every window believe that it is looked at."""
    session = code.page.context.new_cdp_session(code.page)
    session.send("Emulation.setFocusEmulationEnabled", {"enabled": False})
    code.page.context.new_page().bring_to_front()


def test_a_save_that_formats_and_fixes_all_waits_for_no_test_and_the_fix_fits_the_formatted_text(
    project: Path, start: Start, extensions: Path
) -> None:
    add(extensions, "standins.formatter", FORMATTER)
    slow = f"import time\n{TESTS}\n\ndef test_slow():\n    time.sleep({SLOW_SECONDS})\n    assert total([0]) == 0\n"
    (project / "test_cart.py").write_text(slow)
    cart = project / "cart.py"
    kinds = {"editor.codeActionsOnSave": {"source.fixAll": "explicit"}}
    code = start(project, cart, settings={**FORMATS, **kinds})
    known_green(code)
    code.replace("    return result", "    return result   ")
    code.replace("+=", "-=")
    began = time.monotonic()
    code.save()
    took = time.monotonic() - began
    assert took < SLOW_SECONDS, f"the save waited {took:.1f} s"
    assert cart.read_text() == BAD, "the save formatted"

    fix_is_ready(code)
    saved = cart.stat().st_mtime_ns
    code.press("Control+s")
    code.until(lambda: cart.stat().st_mtime_ns > saved)
    assert cart.read_text() == code.text() == BAD, "a general fix-all is not for fixes of tests"
    code.go(4, 10)
    pick(code, "Fix test_")
    code.until(lambda: code.text() == CART)
    code.save()
    assert cart.read_text() == CART
    is_green(code)


def test_fix_all_of_our_own_applies_a_verified_fix_on_the_next_save(
    project: Path, start: Start, extensions: Path
) -> None:
    add(extensions, "standins.formatter", FORMATTER)
    cart = project / "cart.py"
    kinds = {"editor.codeActionsOnSave": {"source.fixAll.regreen": "explicit"}}
    code = start(project, cart, settings={**FORMATS, **kinds})
    known_green(code)
    bug(code)
    assert cart.read_text() == BAD, "nothing was verified yet"
    fix_is_ready(code)
    assert code.text() == BAD
    code.press("Control+s")
    code.until(lambda: cart.read_text() == CART)
    code.until(lambda: code.text() == CART and not code.modified())
    is_green(code)


def test_another_extension_for_python_and_ours_both_show_their_problems_and_fixes(
    project: Path, start: Start, extensions: Path
) -> None:
    add(extensions, "standins.linter", LINTER)
    code = start(project, project / "cart.py")
    known_green(code)
    bug(code)
    fix_is_ready(code)
    listed = problems(code)
    assert any("Is this meant?" in line for line in listed)
    assert any("test_total: Expected -7, got 7" in line for line in listed)
    code.go(4, 16)
    offered = lightbulb(code)
    code.picture("both offer fixes")
    assert "Linter: say it in words" in offered
    assert any(title.startswith("Fix test_total: `-=` → `+=` in cart.py:4") for title in offered)
    code.press("Escape")
    pick(code, "Linter")
    code.until(lambda: "result -= price  # yes" in code.text())
