"""An edit reaches the buffers whole and as one undo step, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .conftest import CART, TESTS, Start
from .nvim import Neovim

APPLY = """
local edit = ...
local client = vim.lsp.get_clients({ name = 'regreen' })[1]
return client.handlers['workspace/applyEdit'](nil, { label = 'a fix', edit = edit }, { client_id = client.id })
"""


def version(nvim: Neovim, path: Path) -> int:
    found: int = nvim.lua("return vim.lsp.util.buf_versions[vim.uri_to_bufnr(...)]", path.as_uri())
    return found


def change(path: Path, version: int | None, line: int, old: str, new: str) -> dict[str, Any]:
    span = {"start": {"line": line, "character": 0}, "end": {"line": line, "character": len(old)}}
    document = {"uri": path.as_uri(), **({"version": version} if version is not None else {})}
    return {"textDocument": document, "edits": [{"range": span, "newText": new}]}


def test_an_edit_for_older_text_changes_no_file_and_is_reported(project: Path, start: Start) -> None:
    nvim = start(options="trusted = true")
    cart, tests = project / "cart.py", project / "test_cart.py"
    nvim.open(tests)
    nvim.open(cart)
    old = version(nvim, cart)
    nvim.replace("result = 0", "result = 1")
    edit = {
        "documentChanges": [
            change(tests, version(nvim, tests), 0, "from", "FROM"),
            change(cart, old, 0, "def", "DEF"),
        ]
    }

    answer = nvim.lua(APPLY, edit)

    assert answer == {"applied": False, "failureReason": "cart.py changed since this fix was verified"}
    assert nvim.text() == CART.replace("result = 0", "result = 1")
    nvim.open(tests)
    assert nvim.text() == TESTS


def test_an_edit_is_an_undo_step_of_its_own_even_between_changes_of_scripts(
    project: Path, start: Start
) -> None:
    nvim = start(options="trusted = true")
    cart = project / "cart.py"
    nvim.open(cart)
    answer = nvim.lua(
        """
        vim.api.nvim_buf_set_lines(0, 0, 0, false, { '# before' })
        local edit = ...
        edit.documentChanges[1].textDocument.version = vim.lsp.util.buf_versions[vim.api.nvim_get_current_buf()]
        local client = vim.lsp.get_clients({ name = 'regreen' })[1]
        local answer = client.handlers['workspace/applyEdit'](nil, { edit = edit }, { client_id = client.id })
        vim.api.nvim_buf_set_lines(0, 0, 0, false, { '# after' })
        return answer
        """,
        {"documentChanges": [change(cart, None, 0, "# before", "# fixed")]},
    )
    assert answer == {"applied": True}
    assert nvim.text() == "# after\n# fixed\n" + CART

    nvim.type("u")
    assert nvim.text() == "# fixed\n" + CART
    nvim.type("u")
    assert nvim.text() == "# before\n" + CART
    nvim.type("u")
    assert nvim.text() == CART


def test_a_file_that_is_not_open_is_changed_in_a_buffer_and_not_on_disk(project: Path, start: Start) -> None:
    nvim = start(options="trusted = true")
    nvim.open(project / "test_cart.py")
    cart = project / "cart.py"
    assert nvim.lua(APPLY, {"documentChanges": [change(cart, None, 0, "def", "DEF")]}) == {"applied": True}
    assert cart.read_text() == CART
    nvim.open(cart)
    assert nvim.text() == CART.replace("def", "DEF", 1)
    assert nvim.lua("return vim.bo.modified and vim.bo.buflisted")


def test_a_buffer_that_cannot_be_changed_is_left_alone(project: Path, start: Start) -> None:
    nvim = start(options="trusted = true")
    cart = project / "cart.py"
    nvim.open(cart)
    nvim.command("setlocal nomodifiable")
    answer = nvim.lua(APPLY, {"documentChanges": [change(cart, version(nvim, cart), 0, "def", "DEF")]})
    assert answer == {"applied": False, "failureReason": "cart.py cannot be changed here ('nomodifiable')"}
    assert nvim.text() == CART
