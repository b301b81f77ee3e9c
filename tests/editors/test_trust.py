"""Before the user trusts a folder nothing of it runs, whatever is opened, saved or asked for."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.processes import marked

from .conftest import Start
from .steps import menu, wait_quietly

WITNESS = """
import pathlib
pathlib.Path({path!r}).write_text("ran")
"""


def test_nothing_of_an_untrusted_project_runs(project: Path, start: Start, tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    (project / "conftest.py").write_text(WITNESS.format(path=str(witness)), encoding="utf-8")
    fake = project / ".venv" / "bin" / "python"
    fake.parent.mkdir(parents=True)
    fake.write_text(f"#!/bin/sh\necho ran > {witness}\n", encoding="utf-8")
    fake.chmod(0o755)
    (project / ".venv" / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).parent}\n", encoding="utf-8")

    nvim = start(interpreter="")
    nvim.open(project / "cart.py")
    nvim.until("require('regreen').status() == 'regreen: not trusted'")
    nvim.replace("+=", "-=")
    nvim.save()
    nvim.until("#vim.diagnostic.get(0) == 1")
    assert menu(nvim, line=1) == ["Trust this folder and run its tests"]
    nvim.command("RegreenRun!")
    nvim.until_said("nothing of this folder runs until you trust it: `:RegreenTrust`")
    nvim.command("RegreenHeal")
    nvim.command("checkhealth regreen")
    nvim.until("vim.bo.filetype == 'checkhealth' and #vim.api.nvim_buf_get_lines(0, 0, -1, false) > 8")
    assert "is not trusted: nothing of it runs" in nvim.text()
    wait_quietly(nvim, 2)

    assert not witness.exists()
    running = [" ".join(process.cmdline()) for process in marked(nvim.mark)]
    assert all("nvim" in line or "-m regreen --stdio" in line for line in running), running


def test_trust_is_remembered_outside_of_the_folder(project: Path, start: Start) -> None:
    before = sorted(project.rglob("*"))
    nvim = start()
    nvim.open(project / "cart.py")
    nvim.command("RegreenTrust")
    nvim.until("require('regreen').status() == 'regreen'")
    assert "shop is trusted: its tests run when you save" in nvim.messages()
    assert sorted(project.rglob("*")) == before

    again = start()
    again.open(project / "cart.py")
    again.until("require('regreen').status() == 'regreen'")
