"""The workbench of a real VS Code: its editors, typed into as a person does, and what is around them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Locator

from .window import QUICK_INPUT, Window, code_of, labels, texts

GROUP = ".editor-group-container.active"
EDITOR = f"{GROUP} .editor-instance"
TAB = f"{GROUP} .tab.active"


class Status(NamedTuple):
    """An entry of the status bar."""

    text: str
    label: str
    """What a screen reader says of it."""


class Workbench(Window):
    """One window with a workbench. With several groups of editors side by side, the active one is meant."""

    # -------------------------------------------------------------- files and tabs

    def open(self, target: Path, file: Path | None = None) -> None:
        """Open a folder or a `.code-workspace` file in this window, and a file in its editor."""
        self.page.goto(self.server.url(target, {"openFile": file} if file else {}), wait_until="commit")
        self.page.locator(".monaco-workbench .statusbar-item").first.wait_for(timeout=60_000)
        if file:
            self.until(lambda: self.active_tab() == file.name and self.text())

    def show(self, file: Path) -> None:
        """Go to a file of the folder by its name."""
        self.press("Control+p")
        self.fill(file.name)
        self.choose(file.name)
        self.until(lambda: self.active_tab() == file.name and self.text())

    def tabs(self) -> list[str]:
        """The names of all tabs."""
        return _names(self.page.locator(".tabs-container .tab"))

    def active_tab(self) -> str:
        """The name of the tab that is shown; empty if none is."""
        return "".join(_names(self.page.locator(TAB)))

    def modified(self) -> bool:
        """Whether the shown tab has changes that are not saved."""
        return self.page.locator(f"{TAB}.dirty").count() > 0

    def title_buttons(self) -> list[str]:
        """The buttons above the active editor, by their labels."""
        return labels(self.page.locator(f"{GROUP} .editor-actions .action-label:visible"))

    def click_title_button(self, beginning: str) -> None:
        """Click the button above the active editor whose label begins so."""
        self.page.locator(f'{GROUP} .editor-actions .action-label[aria-label^="{beginning}"]').click()

    # -------------------------------------------------------------- what an editor shows

    def text(self) -> str:
        """The lines of the active editor that are on the screen; empty where a diff is shown."""
        lines = self.page.locator(f"{EDITOR} .view-lines").all()
        return code_of(lines[0]) if len(lines) == 1 else ""

    def diff(self) -> tuple[str, str]:
        """The two sides of the diff that is shown; empty where none is."""
        sides = self.page.locator(f"{EDITOR} .monaco-diff-editor")
        lines = [sides.locator(f".{side} .view-lines") for side in ("editor.original", "editor.modified")]
        if not all(side.count() == 1 for side in lines):
            return "", ""
        return code_of(lines[0]), code_of(lines[1])

    def lenses(self) -> list[str]:
        """The code lenses of the active editor, from top to bottom and left to right."""
        parts = " > :is(a, span)"  # one that does something is a link
        return [
            text for text in texts(self.page.locator(f"{EDITOR} .codelens-decoration{parts}")) if text != "|"
        ]

    def hover(self) -> str:
        """What is shown of the place of the cursor."""
        self.press("Control+k", "Control+i")
        shown = self.page.locator(".monaco-hover:visible .monaco-hover-content")
        return self.until(lambda: " ".join(texts(shown)))

    # -------------------------------------------------------------- typing

    def focus(self) -> None:
        """Give the keys to the first group of editors."""
        self.press("Control+1")

    def go(self, line: int, column: int = 1) -> None:
        """Put the cursor of the first group's editor at a place, 1-based, in units of UTF-16."""
        self.focus()
        self.press("Control+g")
        self.enter(f":{line}:{column}")
        self.page.locator(QUICK_INPUT).wait_for(state="hidden")
        self.until(lambda: any(entry.text.startswith(f"Ln {line},") for entry in self.status()))

    def replace(self, old: str, new: str) -> None:
        """Select the first place of a text on one line, and type another over it; undo takes it back by words."""
        before = self.text()
        self.go(*place_of(before, old))
        self.press(*["Shift+ArrowRight"] * len(old))
        self.type(new)
        self.until(lambda: self.text() == before.replace(old, new, 1) and self.modified())

    def save(self) -> None:
        """Save the active editor."""
        self.press("Control+s")
        self.until(lambda: not self.modified())

    def undo(self) -> None:
        """Undo the last change of the first group's editor."""
        self.focus()
        self.press("Control+z")

    # -------------------------------------------------------------- around the editors

    def status(self) -> list[Status]:
        """The entries of the status bar."""
        entries = self.page.locator(".statusbar-item:visible")
        pairs: list[tuple[str, str]] = entries.evaluate_all(
            "all => all.map(each => [each.innerText.trim(), each.ariaLabel ?? ''])"
        )
        return [Status(*pair) for pair in pairs]

    def click_status(self, beginning: str) -> None:
        """Click the entry of the status bar whose label begins so."""
        self.page.locator(f'.statusbar-item[aria-label^="{beginning}"]:visible').first.click()

    def notifications(self) -> list[str]:
        """The notifications on the screen, their buttons left out."""
        return texts(self.page.locator(".notifications-toasts .notification-list-item-message"))

    def dialog(self) -> str:
        """What the dialog over the window says, its buttons left out; empty if there is none."""
        return " ".join(texts(self.page.locator(".monaco-dialog-box .dialog-message-container")))


def place_of(text: str, part: str) -> tuple[int, int]:
    """The 1-based line and column of the first place of a part of a text, as VS Code counts."""
    *lines, start = text[: text.index(part)].split("\n")
    return len(lines) + 1, len(start.encode("utf-16-le")) // 2 + 1


def _names(tabs: Locator) -> list[str]:
    found: list[str] = tabs.evaluate_all(
        """tabs => tabs.map(tab => [...tab.querySelectorAll('.label-name, .label-suffix')]
             .map(part => part.textContent).join(''))"""
    )
    return found
