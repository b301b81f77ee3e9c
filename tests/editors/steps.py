"""What the tests do in Neovim over and over, as a person would."""

from __future__ import annotations

import time
from pathlib import Path

from .nvim import Neovim

MENU = """
_G.menu = nil
vim.ui.select = function(items, options, picked)
  _G.menu = { titles = vim.tbl_map(options.format_item, items), items = items, picked = picked }
end
"""


def green(nvim: Neovim) -> None:
    """Wait until the status line says that nothing is red."""
    nvim.until("require('regreen').status():find(': all green', 1, true)")


def known_green(nvim: Neovim, file: Path) -> None:
    """Open a file of a trusted project and run its whole suite."""
    nvim.open(file)
    nvim.command("RegreenRun!")
    green(nvim)


def bug(nvim: Neovim) -> None:
    """Type the bug that turns two tests red into cart.py, and save it."""
    nvim.replace("+=", "-=")
    nvim.save()


def fix_is_offered(nvim: Neovim, red: int = 2) -> None:
    """Wait until the search is over and found something."""
    nvim.until("require('regreen').status():find((...) .. ' red, %d fix')", red)


def menu(nvim: Neovim, line: int) -> list[str]:
    """Open the menu of code actions at a 1-based line; returns its entries as a menu plug-in would draw them."""
    nvim.lua(MENU)
    nvim.lua("vim.api.nvim_win_set_cursor(0, { ..., 0 })", line)
    nvim.type("<Esc>gra")
    nvim.until("_G.menu ~= nil")
    titles: list[str] = nvim.lua("return _G.menu.titles")
    return titles


def pick(nvim: Neovim, beginning: str) -> None:
    """Pick the entry of the open menu that begins so."""
    titles: list[str] = nvim.lua("return _G.menu.titles")
    (at,) = [index for index, title in enumerate(titles) if title.startswith(beginning)]
    nvim.lua("_G.menu.picked(_G.menu.items[... + 1], ... + 1)", at)


def preview(nvim: Neovim, command: str = "RegreenPreview") -> list[str]:
    """Open the preview; returns the screen."""
    nvim.command(command)
    nvim.until("vim.fn.bufexists('regreen://fix') == 1")
    return nvim.screen()


def wait_quietly(nvim: Neovim, seconds: float) -> None:
    """Let time pass in which something must not happen, while the editor goes on working."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        nvim.lua("return 1")
        time.sleep(0.1)
