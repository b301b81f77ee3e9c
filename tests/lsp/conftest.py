"""A scripted editor for each client, and the server's folders in a temporary place."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.lsp.editor import NEOVIM, VS_CODE, Editor, environment
from tests.lsp.projects import Shop, shop


@pytest.fixture(params=[VS_CODE, NEOVIM])
async def editor(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Editor]:
    editor = Editor(request.param, environment(tmp_path_factory.mktemp("regreen")))
    yield editor
    await editor.stop()
    # No answer of ours is a pop-up: whoever asks by a command gets its result.
    assert [m.message for m in editor.client.messages] == []


@pytest.fixture
def cart(tmp_path: Path) -> Shop:
    return shop(tmp_path / "shop")
