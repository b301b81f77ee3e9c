"""From red to green in a real VS Code: what a person does, and what the screen shows."""

from __future__ import annotations

from pathlib import Path

from tests.editors.conftest import CART

from .conftest import Start
from .steps import bug, click_lens, fix_is_ready, is_green, known_green, lightbulb, problems, squiggles


def test_a_saved_bug_is_shown_previewed_applied_and_green_again(project: Path, start: Start) -> None:
    code = start(project, project / "cart.py")
    known_green(code)
    bug(code)
    fix_is_ready(code)
    assert any("test_total: Expected -7, got 7" in line for line in problems(code))

    code.show(project / "test_cart.py")
    code.until(lambda: "Expected -7, got 7 · Fix ready: `-=` → `+=` (thin)" in code.lenses())
    code.until(lambda: squiggles(code))
    code.go(6, 5)
    actions = lightbulb(code)
    assert actions[0].startswith("Fix test_total: `-=` → `+=` in cart.py:4 (")
    code.picture("lightbulb")
    code.press("Escape")
    click_lens(code, "Preview")
    code.until(lambda: code.diff()[1])
    left, right = code.diff()
    assert ("result -= price" in left, "result += price" in right) == (True, True)
    assert {"Apply This Fix (Ctrl+Enter)", "Discard the Preview (Alt+Backspace)"} <= set(code.title_buttons())
    code.picture("preview")
    code.click_title_button("Discard the Preview")
    code.until(lambda: code.active_tab() == "test_cart.py")
    assert "-=" in (project / "cart.py").read_text()

    click_lens(code, "Preview")
    code.until(lambda: code.diff()[1])
    code.until(lambda: any(label.startswith("Apply This Fix") for label in code.title_buttons()))
    code.press("Control+Enter")
    code.until(lambda: code.active_tab() == "test_cart.py")
    code.show(project / "cart.py")
    assert code.text() == CART.rstrip("\n") + "\n"
    assert code.modified(), "the file is the user's to save"
    assert "-=" in (project / "cart.py").read_text()
    code.save()
    is_green(code)
    assert (project / "cart.py").read_text() == CART
    code.show(project / "test_cart.py")
    code.until(lambda: (squiggles(code), code.lenses()) == (0, []), 20)
