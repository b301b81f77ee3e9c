"""The pictures of docs/pictures, taken by `make pictures` of the packaged extension: not collected as tests."""

from __future__ import annotations

from pathlib import Path

from .codeserver import REPOSITORY
from .conftest import Start
from .steps import answer, bug, click_lens, fix_is_ready, known_green, lightbulb, regreen_is_up, told
from .workbench import Workbench

PICTURES = REPOSITORY / "docs" / "pictures"
SIZE = {"width": 1120, "height": 600}


def shot(code: Workbench, name: str) -> None:
    """Take a picture, once no hover is in the way."""
    code.page.mouse.move(SIZE["width"] / 2, SIZE["height"] - 60)
    code.until(lambda: code.page.locator(".monaco-hover:visible").count() == 0)
    code.page.wait_for_timeout(500)  # what fades, or blinks
    code.page.screenshot(path=PICTURES / f"{name}.png")


def test_the_way_from_red_to_green(project: Path, start: Start) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    code = start(project, project / "cart.py", settings={"editor.fontSize": 15, "breadcrumbs.enabled": False})
    code.page.set_viewport_size({"width": SIZE["width"], "height": SIZE["height"]})
    known_green(code)
    bug(code)
    code.show(project / "test_cart.py")
    fix_is_ready(code)
    code.until(lambda: any("Fix ready" in lens for lens in code.lenses()))
    code.go(1, 1)
    shot(code, "red")
    code.go(6, 5)
    lightbulb(code)
    shot(code, "lightbulb")
    code.press("Escape", "Control+b")
    click_lens(code, "Preview")
    code.until(lambda: code.diff()[1])
    code.until(lambda: any(label.startswith("Apply This Fix") for label in code.title_buttons()))
    shot(code, "preview")
    code.press("Alt+Backspace", "Control+b")
    code.until(lambda: code.active_tab() == "test_cart.py")
    code.command("Regreen: Show Menu")
    code.until(code.items)
    shot(code, "menu")


def test_the_example(start: Start, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    code = start(
        empty, settings={"editor.fontSize": 15, "breadcrumbs.enabled": False, "regreen.interpreter": ""}
    )
    code.until(lambda: any("Try an Example" in item for item in code.palette("Regreen: Try")))
    with code.page.context.expect_page() as opened:
        code.command("Regreen: Try an Example")
    code.page = opened.value
    code.page.set_viewport_size({"width": SIZE["width"], "height": SIZE["height"]})
    regreen_is_up(code)
    answer(code, "This is a small shop", "Find the Fix")
    told(code, "verified in a private copy")
    shot(code, "try-an-example")
