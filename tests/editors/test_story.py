"""From red to green in a real Neovim: what a person does, and what the screen shows."""

from __future__ import annotations

import re
from pathlib import Path

from .conftest import CART, Start
from .steps import bug, fix_is_offered, green, known_green, menu, pick, preview


def test_a_saved_bug_is_shown_previewed_fixed_and_undone(project: Path, start: Start) -> None:
    nvim = start()
    nvim.open(project / "cart.py")
    nvim.command("RegreenTrust")
    nvim.until("not require('regreen').status():find('not trusted')")
    known_green(nvim, project / "cart.py")

    bug(nvim)
    fix_is_offered(nvim)
    nvim.open(project / "test_cart.py")
    (red,) = [d for d in nvim.diagnostics() if d["lnum"] == 5]
    assert red["code"] == "test-failed"
    assert red["message"].startswith("test_total: Expected -7, got 7\n")
    assert re.search(r"\d verified fix(es)?, see the quick fixes$", red["message"])

    nvim.open(project / "cart.py")
    nvim.type("4G")
    screen = preview(nvim)
    assert "`-=` → `+=` in cart.py:4" in screen[1], screen
    assert "a apply" in screen[2], screen
    assert any("now: cart.py" in row and "with the fix: cart.py" in row for row in screen), screen
    assert any("result -= price" in row and "result += price" in row for row in screen), screen

    nvim.type("a")
    nvim.until("vim.bo.modified and vim.fn.bufexists('regreen://fix') == 0")
    assert nvim.text() == CART
    assert "changed cart.py; save to see the tests run" in nvim.messages()
    assert (project / "cart.py").read_text() != CART, "the file is the user's to save"

    nvim.save()
    green(nvim)
    nvim.until("#vim.diagnostic.get() == 0")
    nvim.type("u")
    assert nvim.text() == CART.replace("+=", "-=")
    nvim.type("u")
    assert nvim.text() == CART, "the bug was typed as a step of its own"


def test_the_standard_menu_does_it_all_without_the_plugin(project: Path, start: Start) -> None:
    (project / "cart.py").write_text(CART.replace("+=", "-="), encoding="utf-8")
    nvim = start(plugin=False)
    nvim.open(project / "test_cart.py")
    nvim.command("write")
    nvim.until("#vim.diagnostic.get(0) > 0")
    assert menu(nvim, line=1) == ["Trust this folder and run its tests"]
    pick(nvim, "Trust")
    nvim.until("vim.diagnostic.get(0)[1] and vim.diagnostic.get(0)[1].code == 'test-failed'")
    assert menu(nvim, line=6)[0] == "Find a fix for test_total"
    pick(nvim, "Find a fix")
    nvim.until("vim.diagnostic.get(0)[1].message:find('verified fix')")

    titles = menu(nvim, line=6)
    assert titles[0].startswith("Fix test_total: `-=` → `+=` in cart.py:4 (2 affected tests green, thin)")
    assert [title for title in titles if not title.startswith(("Fix ", "Show the diff"))] == [
        "Explain test_total",
        "Don't suggest fixes for test_total",
    ]
    pick(nvim, titles[0])
    nvim.until("vim.fn.getbufinfo({ bufmodified = 1 })[1]")
    nvim.open(project / "cart.py")
    assert nvim.text() == CART
    nvim.save()
    nvim.until("#vim.diagnostic.get() == 0")


def test_the_menu_of_neovim_itself_can_be_read_and_answered(project: Path, start: Start) -> None:
    nvim = start(options="trusted = true")
    known_green(nvim, project / "cart.py")
    bug(nvim)
    fix_is_offered(nvim)
    assert any("Verified fix: `-=` → `+=`" in d["message"] for d in nvim.diagnostics())
    nvim.type("4Ggra")
    nvim.until("vim.api.nvim_get_mode().mode ~= 'n'")
    screen = nvim.screen()
    assert any(
        re.match(r"1: Fix test_\w+: `-=` → `\+=` in cart\.py:4 \(2 affected tests green, thin\)$", row)
        for row in screen
    ), screen
    nvim.type("1<CR>")
    nvim.until("vim.bo.modified")
    assert nvim.text() == CART
