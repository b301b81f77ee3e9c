"""A language model in VS Code: it is asked after consent alone, a hint takes it further, and its fix is shown whole."""

from __future__ import annotations

from pathlib import Path

from tests.models.scripts import diagnosis, patch, write_script

from .conftest import Start
from .steps import answer, is_green, regreen, regreen_is_up, told
from .workbench import Workbench

HINT = "prices are added"
RATE = "RATE = 1\n"
CART = """\
from rate import RATE


def total(prices):
    result = 0
    for price in prices:
        result += price * RATE
    return result
"""
TESTS = """\
from cart import total


def test_total():
    assert total([4, -5, -6]) == -7
"""


def script(folder: Path) -> str:
    """A model that is wrong until it is given the hint."""
    right = patch("rate.py", "RATE = 2", "RATE = 1") + patch(
        "cart.py", "        result -= price * RATE", "        result += price * RATE"
    )
    return write_script(
        folder,
        diagnosis(7, "14", "Prices are taken away, and twice.", "Add each price once."),
        [{"when": HINT, "text": right}, {"text": patch("rate.py", "RATE = 2", "RATE = 3")}],
    )


def write_project(folder: Path) -> None:
    """A red test that only a change of two files turns green."""
    folder.mkdir()
    (folder / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    (folder / "rate.py").write_text(RATE.replace("1", "2"))
    (folder / "cart.py").write_text(CART.replace("+=", "-="))
    (folder / "test_cart.py").write_text(TESTS)


def test_a_model_is_asked_after_consent_and_a_hint_leads_to_a_fix_of_two_files(
    start: Start, tmp_path: Path
) -> None:
    folder = tmp_path / "priced"
    write_project(folder)
    settings = {
        "regreen.heal.maxCandidates": 0,
        "regreen.llm.mode": "allowed",
        "regreen.llm.model": script(tmp_path),
        "regreen.llm.strategies": 1,
    }
    code = start(folder, folder / "test_cart.py", settings=settings)
    regreen_is_up(code)
    code.command("Regreen: Run Tests")
    code.until(lambda: regreen(code) == "1 red" and code.notifications() == [])  # runs ask nothing

    code.command("Regreen: Find Fixes")
    asked = told(code, "scripted at api.example.com")
    code.picture("the question for consent")
    answer(code, asked, "Send")
    told(code, "Regreen: test_total: ")
    assert regreen(code) == "1 red"
    code.command("Notifications: Clear All Notifications")

    code.command("Regreen: Go On with a Language Model's Heal")
    code.enter(HINT)
    said = told(code, "is ready.")
    answer(code, said, "Preview")
    code.until(lambda: both_sides(code))
    code.picture("a fix of two files")
    assert (folder / "rate.py").read_text() == "RATE = 2\n"
    code.click_title_button("Apply This Fix")
    answer(code, "the fix changed", "Save")
    code.until(lambda: ((folder / "rate.py").read_text(), (folder / "cart.py").read_text()) == (RATE, CART))
    is_green(code)
    code.until(lambda: code.lenses() == [])


def both_sides(code: Workbench) -> bool:
    """Whether the changes of both files are on the screen."""
    shown = code.page.locator(".multiDiffEntry").all_inner_texts()
    return sum("rate.py" in text or "cart.py" in text for text in shown) == 2
