"""The workbench of a real VS Code in a real Chromium: typed into as a person does, and what its screen shows."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar

from playwright.sync_api import Error, Locator, Page, sync_playwright

from .codeserver import CodeServer, chromium

WIDTH, HEIGHT = 1600, 900
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
EDITOR = ".editor-group-container.active .editor-instance"
QUICK_INPUT = ".quick-input-widget:visible"

T = TypeVar("T")


class Status(NamedTuple):
    """An entry of the status bar."""

    text: str
    label: str
    """What a screen reader says of it: the text without its icons, and the tooltip."""


class Workbench:
    """One window.

    Args:
        page: the page that shows it.
        server: where it comes from.
        pictures: the folder for its pictures.
    """

    def __init__(self, page: Page, server: CodeServer, pictures: Path) -> None:
        self.page = page
        self.server = server
        self.pictures = pictures

    # -------------------------------------------------------------- waiting and looking

    def until(self, condition: Callable[[], T], seconds: float = 60) -> T:
        """Wait until a condition is true, and return its value.

        A condition that cannot be told yet, as a part of the screen is being redrawn, is asked again.

        Raises:
            AssertionError: it did not become true; tells what the screen shows.
        """
        deadline = time.monotonic() + seconds
        while True:
            why = ""
            try:
                if value := condition():
                    return value
            except Error as error:
                why = str(error)
            if time.monotonic() > deadline:
                raise AssertionError(f"not true within {seconds} s. {why}\n{self.screen()}")
            self.page.wait_for_timeout(50)

    def screen(self) -> str:
        """Everything the screen says, part by part."""
        parts: dict[str, Callable[[], Iterable[object]]] = {
            "tabs": self.tabs,
            "lenses": self.lenses,
            "text": lambda: self.text().splitlines(),
            "quick input": lambda: texts(self.page.locator(QUICK_INPUT)),
            "menu": lambda: texts(self.page.locator(".action-widget .monaco-list-row")),
            "hover": lambda: texts(self.page.locator(".monaco-hover:visible")),
            "dialog": lambda: texts(self.page.locator(".monaco-dialog-box")),
            "notifications": self.notifications,
            "side bar": lambda: texts(self.page.locator(".part.sidebar .pane-body:visible")),
            "panel": lambda: texts(self.page.locator(".part.panel:visible .content")),
            "status": self.status,
        }
        lines = []
        for name, look in parts.items():
            try:
                seen = list(look())
            except Error as error:
                seen = [str(error)]
            lines += [f"--- {name}", *map(str, seen)] if seen else []
        return "\n".join(lines)

    def picture(self, name: str) -> Path:
        """Take a picture of the window; returns its file."""
        self.pictures.mkdir(parents=True, exist_ok=True)
        path = self.pictures / f"{re.sub(r'[^A-Za-z0-9-]+', '-', name)}.png"
        self.page.screenshot(path=path)
        return path

    # -------------------------------------------------------------- files and editors

    def open(self, target: Path, file: Path | None = None) -> None:
        """Open a folder or a `.code-workspace` file in this window, and a file in its editor."""
        self.page.goto(self.server.url(target, {"openFile": file} if file else {}), wait_until="commit")
        self.page.wait_for_selector(".monaco-workbench .part.statusbar", timeout=60_000)
        if file:
            self.until(lambda: self.active_tab() == file.name and self.text())

    def show(self, file: Path) -> None:
        """Go to a file of the folder by its name."""
        self.press("Control+p")
        self.fill(file.name)
        self.choose(file.name)
        self.until(lambda: self.active_tab() == file.name and self.text())

    def tabs(self) -> list[str]:
        """The names of all tabs, one that is not saved with a `*`."""
        tabs = self.page.locator(".tabs-container .tab").all()
        return [_tab_name(tab) + "*" * ("dirty" in (tab.get_attribute("class") or "")) for tab in tabs]

    def active_tab(self) -> str:
        """The name of the tab that is shown; empty if none is."""
        active = self.page.locator(".editor-group-container.active .tab.active")
        return _tab_name(active.first) if active.count() else ""

    def modified(self) -> bool:
        """Whether the shown tab has changes that are not saved."""
        return self.page.locator(".editor-group-container.active .tab.active.dirty").count() > 0

    def text(self) -> str:
        """The lines of the active editor that are on the screen."""
        return _code(self.page.locator(f"{EDITOR} .monaco-editor:not(.monaco-diff-editor *) .view-lines"))

    def diff(self) -> tuple[str, str]:
        """The two sides of the diff that is shown."""
        left, right = (
            _code(self.page.locator(f"{EDITOR} .monaco-diff-editor .editor.{side} .view-lines"))
            for side in ("original", "modified")
        )
        return left, right

    def lenses(self) -> list[str]:
        """The code lenses of the active editor, from top to bottom."""
        return texts(self.page.locator(f"{EDITOR} .codelens-decoration a"))

    def title_buttons(self) -> list[str]:
        """The buttons above the active editor, by their labels."""
        buttons = self.page.locator(".editor-group-container.active .editor-actions .action-label:visible")
        return [button.get_attribute("aria-label") or "" for button in buttons.all()]

    # -------------------------------------------------------------- keys

    def press(self, *keys: str) -> None:
        """Press keys, each as Playwright names them: `Control+s`."""
        for key in keys:
            self.page.keyboard.press(key)

    def focus(self) -> None:
        """Give the keys to the first group of editors."""
        self.press("Control+1")

    def go(self, line: int, column: int = 1) -> None:
        """Put the cursor of the active editor at a place, 1-based."""
        self.focus()
        self.press("Control+g")
        self.fill(f":{line}:{column}")
        self.press("Enter")
        place = f"Ln {line}, Col {column}"
        self.until(lambda: any(entry.text.startswith(place) for entry in self.status()))

    def replace(self, old: str, new: str) -> None:
        """Select the first place of a text on one line of the active editor, and type another over it."""
        before = self.text()
        line, column = place_of(before, old)
        self.go(line, column)
        self.press(*["Shift+ArrowRight"] * len(old))
        self.page.keyboard.type(new)
        self.until(lambda: self.text() == before.replace(old, new, 1))

    def save(self) -> None:
        """Save the active editor."""
        self.press("Control+s")
        self.until(lambda: not self.modified())

    def undo(self) -> None:
        """Undo the last change of the active editor."""
        self.focus()
        self.press("Control+z")

    def redo(self) -> None:
        """Do again what was undone."""
        self.focus()
        self.press("Control+Shift+z")

    # -------------------------------------------------------------- the palette and its like

    def fill(self, words: str) -> None:
        """Type into the quick input that is or will be open."""
        box = self.page.locator(f"{QUICK_INPUT} input.input")
        box.wait_for()
        box.fill(words)

    def items(self) -> list[str]:
        """What the quick input offers: name and description of each row on the screen."""
        rows = self.page.locator(f"{QUICK_INPUT} .quick-input-list .monaco-list-row")
        return [(row.get_attribute("aria-label") or "").strip() for row in rows.all()]

    def choose(self, beginning: str) -> None:
        """Choose the first row of the quick input that begins so."""
        at = self.until(
            lambda: [index for index, item in enumerate(self.items()) if item.startswith(beginning)], 20
        )[0]
        self.page.locator(f"{QUICK_INPUT} .quick-input-list .monaco-list-row").nth(at).click()

    def palette(self, words: str) -> list[str]:
        """Open the command palette with these words; returns what it offers."""
        self.press("F1")
        self.fill(f">{words}")
        return self.until(self.items)

    def command(self, title: str) -> None:
        """Run a command by its title in the palette, category included: `Regreen: Stop`."""
        self.palette(title)
        self.choose(title)

    # -------------------------------------------------------------- around the editors

    def status(self) -> list[Status]:
        """The entries of the status bar."""
        entries = self.page.locator(".statusbar-item:visible").all()
        return [
            Status(_plain(entry.text_content()), entry.get_attribute("aria-label") or "") for entry in entries
        ]

    def notifications(self) -> list[str]:
        """The notifications on the screen, their buttons left out."""
        return texts(self.page.locator(".notifications-toasts .notification-list-item-message"))


def texts(found: Locator) -> list[str]:
    """What elements say, each without its line breaks; those that say nothing are left out."""
    return [words for text in found.all_inner_texts() if (words := re.sub(r"\s+", " ", text).strip())]


def place_of(text: str, part: str) -> tuple[int, int]:
    """The 1-based line and column of the first place of a part of a text."""
    before = text[: text.index(part)]
    return before.count("\n") + 1, len(before) - before.rfind("\n")


@contextmanager
def browser() -> Iterator[Callable[[], Page]]:
    """A Chromium; what is returned opens a window with a profile of its own.

    Playwright runs an event loop in this thread for as long as it lasts, so it ends with each test: others have loops
    of their own.
    """
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        try:
            yield lambda: running.new_context(viewport={"width": WIDTH, "height": HEIGHT}).new_page()
        finally:
            for context in running.contexts:
                context.close()
            running.close()


def _plain(text: str | None) -> str:
    return (text or "").replace("\u00a0", " ").strip()


def _tab_name(tab: Locator) -> str:
    return _plain(tab.locator(".monaco-icon-name-container").first.text_content())


def _code(lines: Locator) -> str:
    """The text of an editor: its lines stand in the document in any order."""
    found: list[str] = (
        lines.first.evaluate(
            """lines => [...lines.querySelectorAll('.view-line')]
             .sort((a, b) => parseFloat(a.style.top) - parseFloat(b.style.top)).map(line => line.textContent)"""
        )
        if lines.count()
        else []
    )
    return "\n".join(found).replace("\u00a0", " ").replace("\u200c", "")
