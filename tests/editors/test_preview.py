"""The preview shows what `a` will do, in either view, and leaves nothing behind."""

from __future__ import annotations

import re
from pathlib import Path

from .conftest import CART, Start
from .nvim import Neovim
from .steps import MENU, bug, fix_is_offered, green, known_green, pick, preview


def two_bugs(nvim: Neovim, project: Path) -> None:
    """Two functions of one file have a bug each, and a verified fix each."""
    known_green(nvim, project / "cart.py")
    nvim.replace("min(prices)", "max(prices)")
    bug(nvim)
    fix_is_offered(nvim, red=3)


def test_keys_go_through_the_fixes_switch_the_view_and_discard(project: Path, start: Start) -> None:
    nvim = start(options="trusted = true, preview = 'unified'")
    two_bugs(nvim, project)
    before = nvim.text()
    windows = nvim.lua("return vim.api.nvim_list_wins()")

    nvim.type("4G")
    screen = preview(nvim)
    header = next(row for row in screen if row.startswith("# Fix"))
    assert "`-=` → `+=` in cart.py:4" in header, screen
    keys = r"# fix 1 of \d · a apply · n next · s side by side · q discard"
    assert any(re.match(keys, row) for row in screen), screen
    assert any(row.startswith("-        result -= price") for row in screen), screen
    assert any(row.startswith("+        result += price") for row in screen), screen

    for at in range(2, 9):  # as far as the fix of the other function
        nvim.type("n")
        nvim.until("vim.fn.getline(2):find(('# fix %d of'):format(...), 1, true)", at)
        if "cart.py:9" in nvim.text():
            break
    nvim.type("s")
    nvim.until("vim.wo.diff")
    screen = nvim.screen()
    assert any("return max(prices)" in row and "return min(prices)" in row for row in screen), screen
    assert any(f"fix {at} of" in row and "s as a unified diff" in row for row in screen), screen

    nvim.command("quit")  # one of its windows: the others go, too
    nvim.until("vim.fn.bufexists('regreen://fix') == 0 and #vim.api.nvim_list_tabpages() == 1")
    preview(nvim)
    nvim.type("q")
    nvim.until("vim.fn.bufexists('regreen://fix') == 0")
    assert nvim.lua("return vim.api.nvim_list_wins()") == windows
    assert nvim.text() == before
    assert nvim.lua("return vim.wo.diff") is False


def test_a_fix_for_older_text_is_refused(project: Path, start: Start) -> None:
    nvim = start(options="trusted = true", runTests="manual")
    nvim.open(project / "cart.py")
    nvim.replace("+=", "-=")
    nvim.save()
    nvim.command("RegreenHeal")
    fix_is_offered(nvim)
    preview(nvim)
    nvim.lua(
        "vim.api.nvim_buf_set_lines(vim.fn.bufadd(...), 0, 0, false, { '# typed meanwhile' })",
        str(project / "cart.py"),
    )
    nvim.type("a")
    nvim.until("vim.fn.bufexists('regreen://fix') == 0")
    nvim.until_said("nothing was changed: ")
    assert nvim.text() == "# typed meanwhile\n" + CART.replace("+=", "-=")

    nvim.command("RegreenApply")
    nvim.until_said("there is no verified fix")


def test_a_fix_of_a_file_that_is_not_open_is_applied_from_the_test(project: Path, start: Start) -> None:
    (project / "cart.py").write_text(CART.replace("+=", "-="), encoding="utf-8")
    nvim = start(options="trusted = true")
    nvim.open(project / "test_cart.py")
    nvim.type("6G")
    nvim.command("RegreenHeal")
    fix_is_offered(nvim)
    nvim.lua(MENU)  # asks if there are several
    nvim.command("RegreenApply")
    nvim.until("_G.menu or vim.fn.getbufinfo({ bufmodified = 1 })[1]")
    if nvim.lua("return _G.menu ~= nil"):
        pick(nvim, "Fix test_total: `-=` → `+=`")
    nvim.until("vim.fn.getbufinfo({ bufmodified = 1 })[1]")
    assert (project / "cart.py").read_text() == CART.replace("+=", "-=")
    nvim.command("wall")
    green(nvim)
    assert (project / "cart.py").read_text() == CART


def test_explanations_mutes_and_lenses_speak_of_the_test_at_the_cursor(project: Path, start: Start) -> None:
    nvim = start(options="trusted = true")
    known_green(nvim, project / "cart.py")
    bug(nvim)
    fix_is_offered(nvim)
    nvim.open(project / "test_cart.py")
    nvim.type("9G")  # the definition of the second test, nearer to the assertion of the first
    nvim.command("RegreenExplain")
    nvim.until("vim.api.nvim_buf_get_name(0) == 'regreen://explanation'")
    page = nvim.text()
    assert page.startswith("# test_cart.py::test_refund\n\nExpected -3, got 3")
    assert "+        result += price" in page
    nvim.type("q")

    nvim.lua("vim.lsp.codelens.refresh({ bufnr = 0 })")
    nvim.until("#vim.lsp.codelens.get(0) >= 3")
    screen = nvim.screen()
    lenses = "Expected -7, got 7 · Fix ready: `-=` → `+=` (thin) | Preview | Apply"
    assert any(lenses in row for row in screen), screen

    nvim.command("RegreenMute")
    nvim.until_said("no more fixes for test_refund")
