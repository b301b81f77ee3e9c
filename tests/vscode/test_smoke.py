"""The packaged extension is installed, and the workbench shows a project with it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.editors.conftest import CART

from .codeserver import MANIFEST
from .conftest import Start


def test_a_python_file_is_shown_and_the_palette_has_every_command(project: Path, start: Start) -> None:
    workbench = start(project, project / "cart.py")
    assert workbench.text() == CART
    workbench.until(lambda: any(entry.text == "Python" for entry in workbench.status()))
    contributed = json.loads(MANIFEST.read_text("utf-8"))["contributes"]
    sometimes = {entry["command"] for entry in contributed["menus"]["commandPalette"]}
    titles = {
        f"Regreen: {command['title']}"
        for command in contributed["commands"]
        if command["command"] not in sometimes
    }
    offered = workbench.palette("Regreen: ")
    assert {title for title in titles if not any(item.startswith(title) for item in offered)} == set(), (
        offered
    )
