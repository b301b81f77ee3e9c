"""Before the user trusts a folder nothing of it runs and Regreen does not even start."""

from __future__ import annotations

from pathlib import Path

from .codeserver import CodeServer
from .conftest import Start
from .steps import bug, heals, regreen, servers, stays
from .window import texts
from .workbench import Workbench

PROOF = "import pathlib\n\npathlib.Path({path!r}).write_text('ran')\n"
QUIET_SECONDS = 4.0
"""Several times as long as a save takes to have its tests run in a folder that is trusted."""


def banner(code: Workbench) -> str:
    """What the banner above the workbench says."""
    return " ".join(texts(code.page.locator(".part.banner")))


def activated(server: CodeServer) -> bool:
    """Whether VS Code ever started the extension."""
    files = (server.user_data / "logs").rglob("remoteexthost.log")
    return any("_doActivateExtension regreen.regreen" in file.read_text("utf-8") for file in files)


def nothing_runs(code: Workbench, proof: Path) -> bool:
    """Whether neither the extension, nor the server, nor the project's code ran."""
    return not activated(code.server) and not servers(code) and not proof.exists() and regreen(code) == ""


def test_nothing_of_a_folder_runs_before_it_is_trusted_and_trust_starts_it_all(
    project: Path, start: Start, tmp_path: Path
) -> None:
    proof = tmp_path / "proof"
    (project / "conftest.py").write_text(PROOF.format(path=str(proof)), "utf-8")
    settings = {"regreen.isolation.level": "none"}  # so that the project's code could leave its proof
    code = start(project, project / "cart.py", workspace_trust=True, settings=settings)
    code.until(lambda: "Restricted Mode is intended for safe code browsing." in banner(code))
    bug(code)
    stays(code, lambda: nothing_runs(code, proof), as_it_is=True, seconds=QUIET_SECONDS)
    code.picture("restricted mode")
    code.undo()
    code.save()

    code.command("Workspaces: Manage Workspace Trust")
    code.page.locator(".workspace-trust-editor .monaco-button", has_text="Trust").first.click()
    code.until(lambda: activated(code.server) and servers(code))
    code.show(project / "cart.py")
    heals(code, project)
    assert proof.exists()
