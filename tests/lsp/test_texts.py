"""Fixes fit the text as the editor holds it, whatever it is made of."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types as t
from pygls.exceptions import JsonRpcException
from tests.lsp.editor import NEOVIM, VS_CODE, Editor
from tests.lsp.projects import BAD, CONFIG, GOOD, Shop, known_green, write

CONTENT_MODIFIED = -32801

VARIANTS: dict[str, bytes] = {
    "crlf": GOOD.replace("\n", "\r\n").encode(),
    "bom": b"\xef\xbb\xbf" + GOOD.encode(),
    "formfeed": ("A = 1\n\x0c\n" + GOOD).encode(),
    "emoji": GOOD.replace("result += price", "'😀漢字é'; result += price").encode(),
    "latin": ("# -*- coding: latin-1 -*-\nNAME = 'é'\n" + GOOD).encode("latin-1"),
}


@pytest.mark.parametrize(
    ("name", "editor"), [*((name, VS_CODE) for name in VARIANTS), ("emoji", NEOVIM)], indirect=["editor"]
)
async def test_a_fix_gives_back_exactly_the_good_text(editor: Editor, tmp_path: Path, name: str) -> None:
    good = VARIANTS[name]
    test = f"from {name} import total\n\n\ndef test_total():\n    assert total([10, 5]) == 15\n"
    root = write(tmp_path / "shop", {"pyproject.toml": CONFIG, f"{name}.py": good, f"test_{name}.py": test})
    known_green(root, f"test_{name}.py::test_total")
    await editor.start(root)
    path = root / f"{name}.py"
    buffer = editor.open(path)
    line = (
        buffer.text.replace("\r\n", "\n")
        .split("\n")
        .index(next(x for x in buffer.text.splitlines() if "+=" in x))
    )
    editor.save(path, buffer.text.replace("+=", "-="))
    action = await editor.fix_at(path, line)
    edit = await editor.resolve(action)
    (change,) = edit.document_changes or ()
    assert isinstance(change, t.TextDocumentEdit)
    assert [getattr(e, "new_text", None) for e in change.edits] == ["+"]  # minimal: cursor and folds stay
    editor.apply(edit)
    editor.save(path)
    assert path.read_bytes() == good
    await editor.until(lambda: not editor.red(root / f"test_{name}.py"))


async def test_a_stale_fix_is_refused_as_content_modified(editor: Editor, cart: Shop) -> None:
    await editor.start(cart.root)
    editor.open(cart.cart)
    editor.save(cart.cart, BAD)
    action = await editor.fix_at(cart.cart, 3)
    editor.type(cart.cart, BAD + "# one more line\n")
    with pytest.raises(JsonRpcException) as refused:
        await editor.client.code_action_resolve_async(action)
    assert refused.value.code == CONTENT_MODIFIED
    assert await editor.fixes(cart.cart, 3) == []


async def test_a_file_that_is_not_open_is_fixed_through_the_editor(editor: Editor, cart: Shop) -> None:
    await editor.start(cart.root)
    cart.cart.write_text(BAD)
    editor.open(cart.tests)
    editor.save(cart.tests, editor.buffers[cart.tests].text + "\n")
    await editor.take(await editor.fix_at(cart.tests, 4))
    assert editor.buffers[cart.cart].text == GOOD
    assert cart.cart.read_text() == BAD  # nobody but the editor writes it


async def test_unsaved_text_is_what_is_run_and_fixed(editor: Editor, cart: Shop) -> None:
    await editor.start(cart.root)
    editor.open(cart.cart)
    editor.open(cart.tests)
    editor.type(cart.cart, BAD)
    editor.save(cart.tests, editor.buffers[cart.tests].text + "\n")
    await editor.take(await editor.fix_at(cart.cart, 3))
    assert editor.buffers[cart.cart].text == GOOD
    assert cart.cart.read_text() == GOOD


async def test_a_read_only_file_is_offered_a_fix_and_left_alone(editor: Editor, cart: Shop) -> None:
    cart.cart.write_text(BAD)
    cart.cart.chmod(0o444)
    await editor.start(cart.root)
    editor.open(cart.tests)
    editor.save(cart.tests, editor.buffers[cart.tests].text + "\n")
    await editor.take(await editor.fix_at(cart.tests, 4))
    assert editor.buffers[cart.cart].text == GOOD
    assert cart.cart.read_text() == BAD


async def test_a_syntax_error_is_shown_where_the_parser_stopped(editor: Editor, cart: Shop) -> None:
    await editor.start(cart.root)
    editor.open(cart.cart)
    editor.save(cart.cart, GOOD.replace("(prices):", "(prices)", 1))
    shown = await editor.until(lambda: editor.red(cart.cart))
    assert shown[0].range.start.line == 0
    assert "SyntaxError" in shown[0].message
