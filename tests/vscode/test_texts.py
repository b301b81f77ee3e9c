"""Fixes reach the text that the user has, whatever it is made of, as one step, and never a text that changed."""

from __future__ import annotations

from pathlib import Path

from tests.editors.conftest import CART

from .conftest import Start
from .steps import answer, bug, click_lens, fix_is_ready, is_green, known_green, pick, regreen, tab, told
from .workbench import Workbench, place_of

WINDOWS = CART.replace("\n", "\r\n")
EMOJI = CART.replace("result = 0\n", 'label = "🛒🧾"; result = 0; sign = +1\n').replace(
    "+= price", "+= sign * price"
)


def test_the_lightbulb_changes_what_has_to_change_and_nothing_else(project: Path, start: Start) -> None:
    cart = project / "cart.py"
    cart.write_bytes(WINDOWS.encode())
    code = start(project, cart)
    heals_as_one_step(code, cart, WINDOWS, ("+=", "-="))
    cart.write_text(EMOJI, "utf-8")  # the bug stands on the line of the emoji, after them
    code.until(lambda: code.text() == EMOJI)
    heals_as_one_step(code, cart, EMOJI, ("= +1", "= -1"))


def heals_as_one_step(code: Workbench, cart: Path, text: str, bug: tuple[str, str]) -> None:
    """Make a mistake, apply its fix, and take it back; all else of the text stays."""
    right, wrong = bug
    known_green(code)
    code.replace(right, wrong)
    code.save()
    fix_is_ready(code)
    code.go(*place_of(text.replace("\r\n", "\n"), right))
    pick(code, "Fix test_")
    code.until(code.modified)
    code.save()
    is_green(code)
    healed = cart.read_bytes().decode()
    assert healed.count("\r\n") == text.count("\r\n")
    assert healed.count("🛒🧾") == text.count("🛒🧾")
    code.picture(f"healed with {text.count(chr(13))} carriage returns")
    code.undo()
    code.until(code.modified)
    code.save()
    code.until(lambda: " red" in regreen(code))
    assert cart.read_bytes().decode() == text.replace(right, wrong, 1), "one undo takes the whole fix back"


def test_a_fix_of_a_text_that_changed_is_refused_with_the_reason(project: Path, start: Start) -> None:
    code = start(project, project / "cart.py")
    known_green(code)
    bug(code)
    fix_is_ready(code)
    code.show(project / "test_cart.py")
    click_lens(code, "Preview")
    code.until(lambda: code.diff()[1])
    tab(code, "cart.py")
    code.replace("result = 0", "result = 0.0")
    typed = code.text()
    tab(code, "Fix test_")
    code.until(lambda: any(label.startswith("Apply This Fix") for label in code.title_buttons()))
    code.press("Control+Enter")
    told(
        code,
        "The text changed since the fix was verified, so nothing was applied; save the file or ask for fixes",
    )
    tab(code, "cart.py")
    assert code.text() == typed


def test_files_that_are_not_open_are_edited_and_named(project: Path, start: Start) -> None:
    code = start(project, project / "cart.py")
    known_green(code)
    bug(code)
    fix_is_ready(code)
    code.show(project / "test_cart.py")
    code.page.locator(".tabs-container .tab", has_text="cart.py").first.click(button="middle")
    code.until(lambda: code.tabs() == ["test_cart.py"])
    click_lens(code, "Apply")
    answer(code, "the fix changed cart.py; not saved yet", "Save")
    code.until(lambda: (project / "cart.py").read_text() == CART)
    is_green(code)
