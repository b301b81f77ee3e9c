"""A small project, and Neovim with Regreen for it, in folders of their own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from .nvim import CLIENT, SERVER, Neovim, lua_value, neovim

CART = """\
def total(prices):
    result = 0
    for price in prices:
        result += price
    return result


def cheapest(prices):
    return min(prices)
"""
# Signs are mixed so that `abs` is no fix of either test.
TESTS = """\
from cart import cheapest, total


def test_total():
    prices = [4, -5, -6]
    assert total(prices) == -7


def test_refund():
    assert total([-10, 7]) == -3


def test_cheapest():
    assert cheapest([3, 1, 2]) == 1
"""

BRIEF = {"heal": {"maxCandidates": 12, "offers": 1}}
"""Ends each search soon after its fix: how long it goes on looking for rivals is not what these tests ask."""

Start = Callable[..., Neovim]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with green tests."""
    return write_shop(tmp_path / "shop")


def write_shop(root: Path) -> Path:
    """Write the project into a new folder, and return that."""
    root.mkdir(parents=True)
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n', encoding="utf-8")
    (root / "cart.py").write_text(CART, encoding="utf-8")
    (root / "test_cart.py").write_text(TESTS, encoding="utf-8")
    return root


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Variables that keep everything of a test in its own folder, and its runs free of our own plug-ins."""
    home = tmp_path / "home"
    names = ("CONFIG", "DATA", "STATE", "CACHE")
    variables = {f"XDG_{name}_HOME": str(home / name.lower()) for name in names}
    variables["REGREEN_CACHE_DIR"] = str(home / "regreen-cache")
    variables["REGREEN_STATE_DIR"] = str(home / "regreen-state")
    variables["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    return variables


@pytest.fixture
def start(tmp_path: Path, environment: dict[str, str]) -> Iterator[Start]:
    """Start Neovim; the settings are laid over an interpreter that has pytest."""
    with ExitStack() as stack:

        def begin(*, plugin: bool = True, options: str = "", **settings: Any) -> Neovim:
            chosen = {"interpreter": sys.executable, **BRIEF, **settings}
            init = with_plugin(chosen, options) if plugin else without_plugin(chosen)
            return stack.enter_context(neovim(tmp_path, init, environment))

        yield begin


def with_plugin(settings: dict[str, Any], options: str) -> str:
    """The configuration of a user who installed the plug-in."""
    return f"""
vim.opt.runtimepath:prepend({lua_value(str(CLIENT))})
require('regreen').setup({{ cmd = {lua_value(SERVER)}, settings = {lua_value(settings)}, {options} }})
"""


def without_plugin(settings: dict[str, Any]) -> str:
    """The configuration of a user who did not."""
    return f"""
vim.lsp.config('regreen', {{
  cmd = {lua_value(SERVER)},
  filetypes = {{ 'python' }},
  root_markers = {{ 'pyproject.toml' }},
  settings = {{ regreen = {lua_value(settings)} }},
}})
vim.lsp.enable('regreen')
"""
