"""What a person does again and again in VS Code, and the questions that are asked of its screen."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
from playwright.sync_api import FrameLocator
from tests.editors.conftest import CART
from tests.processes import marked

from .codeserver import CodeServer
from .window import texts
from .workbench import Workbench

ROWS = ".action-widget .monaco-list-row.action"


def known_green(code: Workbench) -> None:
    """Run every test, and wait until all are known to be green."""
    regreen_is_up(code)
    code.command("Regreen: Run Tests")
    is_green(code)


def regreen_is_up(code: Workbench) -> None:
    """Wait until the server serves."""
    code.until(lambda: regreen(code) and not regreen(code).startswith(("Regreen starts", "Regreen stopped")))


def regreen(code: Workbench) -> str:
    """The text of Regreen's entry in the status bar; empty when there is none."""
    labels = [entry.label for entry in code.status() if entry.label.startswith("Regreen")]
    return labels[0].partition(": ")[2] if labels else ""


def is_green(code: Workbench) -> None:
    """Wait until nothing is red."""
    code.until(lambda: regreen(code).startswith("All green"))


def bug(code: Workbench) -> None:
    """Make a mistake in cart.py, which is open, and save it."""
    code.replace("+=", "-=")
    code.save()


def fix_is_ready(code: Workbench) -> None:
    """Wait until a fix is offered and nothing is being looked for any more."""
    code.until(lambda: "fixable" in regreen(code) and "looking" not in regreen(code))


def problems(code: Workbench) -> list[str]:
    """What the problems panel lists, row by row; it is closed again."""
    code.press("Control+Shift+m")
    rows = code.page.locator(".markers-panel .monaco-list-row")
    code.until(lambda: rows.count() > 0)
    found = texts(rows)
    code.press("Control+Shift+m")
    return found


def lightbulb(code: Workbench, beginning: str = "Fix ") -> list[str]:
    """Open the menu of quick fixes at the cursor until it has one that begins so; what it offers, top down.

    A menu that opens while diagnostics are being redrawn is closed by them, and is opened anew.
    """

    def open_menu() -> list[str]:
        code.press("Escape", "Control+.")
        rows = code.page.locator(ROWS)
        rows.first.wait_for(timeout=3000)
        found = texts(rows)
        return found if any(row.startswith(beginning) for row in found) else []

    return code.until(open_menu, 30)


def pick(code: Workbench, beginning: str) -> None:
    """Take a quick fix at the cursor."""
    lightbulb(code, beginning)
    code.page.locator(ROWS, has_text=beginning).first.click()


def click_lens(code: Workbench, words: str) -> None:
    """Click the first code lens that says so."""
    code.page.locator(".editor-group-container.active .codelens-decoration a", has_text=words).first.click()


def told(code: Workbench, words: str) -> str:
    """Wait for a notification that says so; the whole of it."""
    return code.until(lambda: next((text for text in code.notifications() if words in text), ""))


def answer(code: Workbench, words: str, button: str) -> None:
    """Click a button of the notification that says so."""
    told(code, words)
    toast = code.page.locator(".notifications-toasts .notification-list-item", has_text=words).first
    toast.locator(".monaco-button", has_text=button).first.click()


def squiggles(code: Workbench, severity: str = "error") -> int:
    """How many places of the active editor are underlined so: error, warning, info."""
    return code.page.locator(f".editor-group-container.active .squiggly-{severity}").count()


def tab(code: Workbench, beginning: str) -> None:
    """Go to an open tab by the beginning of its name."""
    at = next(at for at, name in enumerate(code.tabs()) if name.startswith(beginning))
    code.page.locator(".tabs-container .tab").nth(at).click()


def stays(code: Workbench, look: Callable[[], object], as_it_is: object, seconds: float) -> None:
    """Look for some time at what must not change: where that nothing happens has to be shown."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert look() == as_it_is
        code.page.wait_for_timeout(100)


def our_log(code: Workbench) -> str:
    """All that is in the extension's log, of every extension host that ran."""
    return logged(code.server)


def logged(server: CodeServer) -> str:
    """The same of a server whose window is not driven."""
    files = (server.user_data / "logs").rglob("*Regreen.log")
    return "\n".join(file.read_text("utf-8", "replace") for file in sorted(files))


def tooltip(code: Workbench) -> list[str]:
    """The paragraphs of the tooltip of Regreen's entry in the status bar.

    One that is redrawn just as the mouse comes shows none, until the mouse comes again.
    """
    shown = code.page.locator(".monaco-hover:visible")

    def hovered() -> list[str]:
        code.page.mouse.move(800, 300)
        code.until(lambda: shown.count() == 0)
        code.page.locator('.statusbar-item[aria-label^="Regreen"]:visible').first.hover()
        shown.locator("p").first.wait_for(timeout=3000)
        return texts(shown.locator("p"))

    return code.until(hovered)


def servers(code: Workbench) -> list[psutil.Process]:
    """The processes of Regreen's server."""
    found = []
    for process in marked(code.server.mark):
        with suppress(psutil.NoSuchProcess):
            command = process.cmdline()
            if command[-1:] == ["--stdio"] and any("regreen" in part for part in command):
                found.append(process)
    return found


def heals(code: Workbench, project: Path) -> None:
    """From green to a bug and back: what only a server that works can do."""
    known_green(code)
    bug(code)
    fix_is_ready(code)
    code.go(4, 8)
    pick(code, "Fix test_")
    code.until(code.modified)
    code.save()
    is_green(code)
    assert (project / "cart.py").read_text() == CART


def report(code: Workbench, name: str) -> FrameLocator:
    """Open the report of a red test; the page in it."""
    code.command("Regreen: Show Report")
    code.choose(name)
    return code.page.frame_locator("iframe.webview").frame_locator("iframe#active-frame")
