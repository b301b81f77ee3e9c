"""Healing on save, as an editor sees it."""

from __future__ import annotations

import pytest
from lsprotocol import types as t
from tests.lsp.editor import Editor
from tests.lsp.projects import BAD, GOOD, Shop


async def test_a_saved_bug_is_healed_once_and_one_undo_takes_it_back_for_good(
    editor: Editor, cart: Shop
) -> None:
    await editor.start(cart.root, settings={"autoHeal.onSave": True})
    editor.open(cart.cart)
    editor.save(cart.cart, BAD)
    await editor.until(lambda: editor.buffers[cart.cart].text == GOOD)
    (asked,) = editor.applied
    assert asked.label is not None
    (change,) = asked.edit.document_changes or ()
    assert isinstance(change, t.TextDocumentEdit)
    assert change.text_document.version == editor.buffers[cart.cart].version - 1
    assert cart.cart.read_text() == BAD  # the user saves, nobody else
    await editor.until(lambda: not editor.red(cart.tests))
    editor.undo(cart.cart)
    await editor.until(lambda: editor.red(cart.tests))
    waiting = await editor.fixes(cart.cart, 3)
    assert waiting
    assert not any(fix.is_preferred for fix in waiting)
    editor.save(cart.cart, BAD + "\n")
    await editor.fix_at(cart.cart, 3)
    await editor.all_quiet()
    assert len(editor.applied) == 1
    assert editor.buffers[cart.cart].text == BAD + "\n"


@pytest.mark.parametrize("reason", [t.TextDocumentSaveReason.AfterDelay, t.TextDocumentSaveReason.FocusOut])
async def test_nothing_is_applied_after_a_save_that_nobody_made(
    editor: Editor, cart: Shop, reason: t.TextDocumentSaveReason
) -> None:
    await editor.start(cart.root, settings={"autoHeal.onSave": True})
    editor.open(cart.cart)
    editor.save(cart.cart, BAD, reason)
    await editor.fix_at(cart.cart, 3)
    await editor.all_quiet()
    assert editor.applied == []


async def test_the_toggle_works_for_the_session_and_a_stubborn_editor_keeps_the_quick_fix(
    editor: Editor, cart: Shop
) -> None:
    editor.takes_edits = False
    await editor.start(cart.root)
    assert (await editor.command("toggleAutoHeal", uri=cart.root.as_uri()))["autoHeal"] is True
    editor.open(cart.cart)
    editor.save(cart.cart, BAD)
    await editor.until(lambda: editor.applied)
    assert editor.buffers[cart.cart].text == BAD
    await editor.fix_at(cart.cart, 3)
    await editor.until(lambda: "did not take the fix over" in editor.log)
