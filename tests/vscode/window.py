"""A window of a real Chromium with VS Code in it: waiting for what it shows, pressing keys, the palette and its like."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

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
QUICK_INPUT = ".quick-input-widget:visible"
ROWS = f"{QUICK_INPUT} .quick-input-list .monaco-list-row"

PARTS = {
    "tabs": ".tabs-container .tab",
    "lenses": ".codelens-decoration:visible",
    "quick input": QUICK_INPUT,
    "menu": ".action-widget .monaco-list-row, .context-view .action-menu-item",
    "hover": ".monaco-hover:visible",
    "dialog": ".monaco-dialog-box",
    "notifications": ".notifications-toasts .notification-list-item",
    "side bar": ".part.sidebar .monaco-list-row:visible",
    "panel": ".part.panel .content .monaco-list-row:visible",
    "status": ".statusbar-item:visible",
}
"""What is told of the screen besides the texts of the editors."""

T = TypeVar("T")


class Window:
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
        """What the screen says, part by part."""
        parts = {name: texts(self.page.locator(selector)) for name, selector in PARTS.items()}
        for lines in self.page.locator(".editor-instance .view-lines:visible").all():
            parts[f"text {len(parts)}"] = code_of(lines).splitlines()
        return "\n".join("\n".join([f"--- {name}", *seen]) for name, seen in parts.items() if seen)

    def picture(self, name: str) -> Path:
        """Take a picture of the window; returns its file."""
        self.pictures.mkdir(parents=True, exist_ok=True)
        path = self.pictures / f"{re.sub(r'[^A-Za-z0-9]+', '-', name).strip('-')}.png"
        self.page.screenshot(path=path)
        return path

    # -------------------------------------------------------------- keys

    def press(self, *keys: str) -> None:
        """Press keys, each as Playwright names them: `Control+s`."""
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, words: str) -> None:
        """Type a text where the cursor is."""
        self.page.keyboard.type(words)

    # -------------------------------------------------------------- the palette and its like

    def prompt(self) -> str:
        """What the quick input says around its box: its title, its message, what stands in the empty box."""
        shown = self.page.locator(QUICK_INPUT)
        around = texts(shown.locator(".quick-input-title, .quick-input-message"))
        placeholder = shown.locator("input.input").first.get_attribute("placeholder") or ""
        return " ".join([*around, placeholder])

    def fill(self, words: str) -> None:
        """Write into the quick input that is or will be open."""
        box = self.page.locator(f"{QUICK_INPUT} input.input")
        box.wait_for()
        box.fill(words)

    def enter(self, words: str) -> None:
        """Write into the quick input that is or will be open, and finish it."""
        self.fill(words)
        self.press("Enter")

    def items(self) -> list[str]:
        """The rows of the quick input that are on the screen, each with its description and detail."""
        return [item for _, item in self._rows()]

    def choose(self, beginning: str) -> None:
        """Choose the first row of the quick input that begins so.

        Rows are drawn again in each other's place while a list is filtered or goes on filling: one is clicked once
        the list has rested.
        """
        looks: list[list[tuple[str, str]]] = []

        def matching() -> list[str]:
            looks.append(self._rows())
            rests = len(looks) > 3 and looks[-4:] == [looks[-1]] * 4
            return [index for index, item in looks[-1] if rests and item.startswith(beginning)]

        index = self.until(matching, 30)[0]
        self.page.locator(f'{ROWS}[data-index="{index}"]').click()

    def _rows(self) -> list[tuple[str, str]]:
        """The index and the text of each row of the quick input."""
        found: list[tuple[str, str]] = self.page.locator(ROWS).evaluate_all(
            """rows => {
                 const seen = (line, parts) => [...line.querySelectorAll(parts)]
                   .filter(part => part.getClientRects().length).map(part => part.textContent).join('');
                 const told = line => [seen(line, '.label-name, .label-suffix'), seen(line, '.label-description')];
                 return rows.sort((a, b) => a.dataset.index - b.dataset.index).map(row => [
                   row.dataset.index,
                   [...row.querySelectorAll('.quick-input-list-row')].flatMap(told).filter(Boolean).join(' ').trim(),
                 ]);
               }"""
        )
        return [(index, item.replace("\u00a0", " ")) for index, item in found]

    def palette(self, words: str) -> list[str]:
        """Open the command palette with these words; returns what it offers."""
        self.press("F1")
        self.fill(f">{words}")
        return self.until(self.items)

    def command(self, title: str) -> None:
        """Run a command by its title in the palette, category included: `Regreen: Show Log`.

        A palette that was opened before an extension came does not get its commands: it is opened anew.
        """

        def offered() -> bool:
            self.palette(title)
            with suppress(AssertionError):
                return self.until(lambda: any(item.startswith(title) for item in self.items()), 3)
            self.press("Escape")
            return False

        self.until(offered)
        self.choose(title)


def texts(found: Locator) -> list[str]:
    """What elements say, each on one line; those that say nothing are left out."""
    return [words for text in found.all_inner_texts() if (words := re.sub(r"\s+", " ", text).strip())]


def labels(found: Locator) -> list[str]:
    """What a screen reader says of elements."""
    said: list[str] = found.evaluate_all("all => all.map(each => each.ariaLabel ?? '')")
    return said


def code_of(lines: Locator) -> str:
    """The lines of an editor that are on the screen; in the document they stand in any order."""
    found: list[str] = lines.evaluate(
        """lines => [...lines.querySelectorAll('.view-line')]
             .sort((a, b) => parseFloat(a.style.top) - parseFloat(b.style.top)).map(line => line.textContent)"""
    )
    return "\n".join(found).replace("\u00a0", " ").replace("\u200c", "")


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
