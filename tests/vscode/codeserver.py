"""A real VS Code as a server: the workbench comes from it, and extensions run in Node processes that it starts."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from playwright.sync_api import Page
from tests.processes import MARK, marked, survivors

REPOSITORY = Path(__file__).parents[2]
INSTALLED = REPOSITORY / ".e2e" / "vscode"
NODE = INSTALLED / "bin" / "node"
SERVER = INSTALLED / "cs/node_modules/code-server/lib/vscode/out/server-main.js"
MANIFEST = REPOSITORY / "package.json"

QUIET: dict[str, Any] = {
    "chat.disableAIFeatures": True,
    "editor.acceptSuggestionOnEnter": "off",
    "editor.autoClosingBrackets": "never",
    "editor.autoClosingQuotes": "never",
    "editor.cursorBlinking": "solid",
    "editor.minimap.enabled": False,
    "editor.quickSuggestions": {"comments": "off", "other": "off", "strings": "off"},
    "editor.renderWhitespace": "none",
    "extensions.autoCheckUpdates": False,
    "extensions.autoUpdate": False,
    "extensions.ignoreRecommendations": True,
    "files.autoSave": "off",
    "git.enabled": False,
    "remote.autoForwardPorts": False,
    "telemetry.telemetryLevel": "off",
    "update.mode": "none",
    "workbench.enableExperiments": False,
    "workbench.reduceMotion": "on",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
}
"""Settings that keep VS Code from doing anything nobody asked for: what is typed arrives as it was typed."""


def installed() -> None:
    """Make sure that there is a VS Code.

    Raises:
        AssertionError: there is none.
    """
    assert NODE.exists() and SERVER.exists(), "These tests need a VS Code server: run `make deps`."  # noqa: PT018


@functools.cache
def chromium() -> str:
    """The browser that shows the workbench.

    Raises:
        AssertionError: there is none.
    """
    for name in filter(None, (os.environ.get("REGREEN_CHROMIUM"), "chromium", "google-chrome")):
        if found := shutil.which(name):
            return found
    raise AssertionError(
        "These tests need Chromium or Chrome: run `make deps`, or name one in REGREEN_CHROMIUM."
    )


def succeeds(command: Sequence[str]) -> None:
    """Run a program in the repository, without any gallery of extensions.

    Raises:
        AssertionError: it failed; tells what it said.
    """
    run = subprocess.run(
        command,
        check=False,
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=200,
        env=_offline(os.environ),
    )
    assert run.returncode == 0, f"{run.stdout}\n{run.stderr}"


def install(vsix: Path, extensions: Path) -> None:
    """Install a packaged extension into a folder of extensions, as a user does from a file."""
    installed()
    command = [*_command(extensions.with_name("user-data"), extensions), "--install-extension", str(vsix)]
    succeeds(command)


@dataclass(frozen=True)
class CodeServer:
    """One running server.

    Args:
        authority: host and port.
        user_data: the folder with its settings, its state and its logs.
        mark: what all its processes have in their environment.
        output: the file that its own output goes to.
    """

    authority: str
    user_data: Path
    mark: str
    output: Path

    def url(self, target: Path, payload: Mapping[str, Path]) -> str:
        """The address of the workbench of a folder or a `.code-workspace` file.

        Args:
            target: what to open.
            payload: what the workbench is to do on top, for example `openFile`.
        """
        kind = "workspace" if target.suffix == ".code-workspace" else "folder"
        pairs = [[name, f"vscode-remote://{self.authority}{path}"] for name, path in payload.items()]
        return f"http://{self.authority}/?{kind}={quote(str(target))}&payload={quote(json.dumps(pairs))}"

    def logs(self) -> str:
        """The ends of the logs of the server, the extension host and the extension, its output channel among them."""
        folder = self.user_data / "logs"
        files = [file for file in folder.rglob("*.log") if not file.parent.name.startswith("vscode.")]
        files = [*sorted(files, key=lambda file: file.stat().st_mtime), self.output]
        texts = [(file.name, file.read_text("utf-8", "replace").strip()) for file in files]
        return "\n".join(f"--- {name}\n{text[-4000:]}" for name, text in texts if text)


@contextmanager
def code_server(
    folder: Path,
    extensions: Path,
    settings: Mapping[str, Any],
    environment: Mapping[str, str],
    *,
    testing: bool = False,
) -> Iterator[CodeServer]:
    """A server with these settings; when it has ended, no process that it or an extension started is left.

    Args:
        folder: a folder of its own, for its data.
        extensions: the installed extensions; it gets a copy.
        settings: the user's.
        environment: the variables of all its processes.
        testing: let `run_in_extension_host` work; notifications then only go to the bell.
    """
    installed()
    shutil.copytree(extensions, folder / "extensions")
    user_data, output = folder / "user-data", folder / "output.log"
    _write_settings(user_data, {**QUIET, **settings})
    mark = uuid.uuid4().hex
    command = [
        *_command(user_data, folder / "extensions"),
        *("--host", "127.0.0.1", "--port", "0", "--without-connection-token"),
        # The last one ends it minutes after a test that was killed.
        *("--disable-telemetry", "--reconnection-grace-time", "1", "--enable-remote-auto-shutdown"),
        *(["--enable-smoke-test-driver"] if testing else []),
    ]
    with output.open("wb") as stream:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            env=_offline({**environment, MARK: mark}),
            start_new_session=True,
        )
    try:
        yield CodeServer(f"127.0.0.1:{_port(process, output)}", user_data, mark, output)
    finally:
        process.terminate()
        process.wait(timeout=30)
        left = survivors(mark)
        for survivor in marked(mark):
            with suppress(OSError):
                survivor.kill()
    assert not left, f"left running: {left}"


def run_in_extension_host(
    server: CodeServer, page: Page, workspace: Path, extension: Path, tests: Path
) -> tuple[int, str]:
    """Run tests that use VS Code's API inside the extension host; the page is a fresh one.

    Args:
        server: the server.
        page: the page that is to show the workbench.
        workspace: the folder that is open.
        extension: the folder of the extension under development.
        tests: a module that exports `run()`, which throws, or whose promise is rejected, when a test fails.

    Returns:
        The exit status, 0 if all passed, and what the tests wrote to the console.
    """
    lines: list[str] = []
    ended: list[int] = []
    page.expose_function("codeAutomationLog", lambda _, words: lines.append(" ".join(map(str, words))))
    page.expose_function("codeAutomationExit", lambda status, *_: ended.append(status))
    payload = {"extensionDevelopmentPath": extension, "extensionTestsPath": tests}
    page.goto(server.url(workspace, payload), wait_until="commit")
    deadline = time.monotonic() + 120
    while not ended and time.monotonic() < deadline:
        page.wait_for_timeout(50)
    said = "\n".join(lines)
    assert ended, f"the tests never ended\n{said}\n{server.logs()}"
    return ended[0], said


def _command(user_data: Path, extensions: Path) -> list[str]:
    folders = ["--user-data-dir", str(user_data), "--extensions-dir", str(extensions)]
    data = ["--server-data-dir", str(user_data.with_name("server-data"))]
    return [str(NODE), str(SERVER), "--accept-server-license-terms", *folders, *data]


def _offline(environment: Mapping[str, str]) -> dict[str, str]:
    return {**environment, "EXTENSIONS_GALLERY": "{}"}


def _write_settings(user_data: Path, settings: Mapping[str, Any]) -> None:
    """The user's settings; those of the machine's scope are read from a file of their own where there is a server."""
    sections = json.loads(MANIFEST.read_text("utf-8"))["contributes"]["configuration"]
    scopes = {
        name: each.get("scope", "") for section in sections for name, each in section["properties"].items()
    }
    machine = {name: value for name, value in settings.items() if scopes.get(name, "").startswith("machine")}
    for name, chosen in (("User", settings), ("Machine", machine)):
        (user_data / name).mkdir(parents=True)
        (user_data / name / "settings.json").write_text(json.dumps(chosen, indent=2), "utf-8")


def _port(process: subprocess.Popen[bytes], output: Path, seconds: float = 60) -> int:
    """The port that the server chose."""
    deadline = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < deadline:
        said = output.read_text("utf-8", "replace")
        if found := re.search(r"Extension host agent listening on (\d+)", said):
            return int(found[1])
        time.sleep(0.02)
    raise AssertionError(f"VS Code did not start:\n{output.read_text('utf-8', 'replace')}")
