"""Where the server comes from, and what is said, once, when there is none or it ends."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import OURS, Start, have_path
from .steps import (
    answer,
    heals,
    known_green,
    our_log,
    regreen,
    regreen_is_up,
    servers,
    stays,
    told,
)
from .window import texts
from .workbench import Workbench

ENDED = "Regreen's server ended unexpectedly. Nothing of yours was changed."
QUIET_SECONDS = 3.0
"""Longer than a server takes to start, were it started anew by itself."""


def buttons(code: Workbench, words: str) -> list[str]:
    """The buttons of the notification that says so."""
    toast = code.page.locator(".notifications-toasts .notification-list-item", has_text=words).first
    return texts(toast.locator(".monaco-button"))


def dismiss(code: Workbench, words: str) -> None:
    """Close the notification that says so."""
    toast = code.page.locator(".notifications-toasts .notification-list-item", has_text=words).first
    toast.hover()
    toast.locator(".codicon-notifications-clear").click()
    code.until(lambda: not any(words in text for text in code.notifications()))


def kill(code: Workbench) -> None:
    """Kill the server, and wait until that is told."""
    (server,) = servers(code)
    server.kill()
    told(code, ENDED)


# ------------------------------------------------------------------ the extension's own


@pytest.fixture
def asked(environment: dict[str, str]) -> Iterator[list[str]]:
    """What anything asks of the network: it is all led to a proxy that answers nothing."""
    lines: list[str] = []

    class Proxy(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            lines.append(self.rfile.readline().decode("latin-1").strip())

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Proxy) as server:
        address = f"http://127.0.0.1:{server.server_address[1]}"
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "PIP_PROXY"):
            environment.update({name: address, name.lower(): address})
        environment["PIP_INDEX_URL"] = f"{address}/simple"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield lines
        server.shutdown()


def test_without_any_regreen_the_extension_makes_its_own_of_its_wheels_and_once(
    project: Path, start: Start, tmp_path: Path, environment: dict[str, str], asked: list[str]
) -> None:
    have_path(environment, tmp_path / "bin")
    code = start(project, project / "cart.py", settings={"regreen.path": ""})
    code.until(lambda: "PATH: no regreen" in our_log(code), 120)
    storage = code.server.user_data / "User/globalStorage/regreen.regreen"
    (made,) = [folder for folder in storage.iterdir() if folder.is_dir()]
    code.until(lambda: f"own environment: {made} made with " in our_log(code))
    regreen_is_up(code)
    assert [server.cmdline()[0] for server in servers(code)] == [str(made / "bin/python")]
    heals(code, project)
    code.picture("served by its own")

    built = (made / "pyvenv.cfg").stat()
    code.open(project, project / "cart.py")
    code.until(lambda: f"own environment: {made} taken" in our_log(code), 10)
    regreen_is_up(code)
    assert (made / "pyvenv.cfg").stat() == built
    assert our_log(code).count("Preparing Regreen's own environment") == 1
    assert [line for line in asked if "/simple" in line or "pypi" in line] == []
    assert code.notifications() == []


# ------------------------------------------------------------------ it ends


def test_when_the_server_is_killed_one_message_says_so_and_restart_serves_again(
    project: Path, start: Start
) -> None:
    code = start(project, project / "cart.py")
    known_green(code)
    kill(code)
    code.until(lambda: regreen(code) == "Regreen stopped")
    code.until(lambda: buttons(code, ENDED) == ["Restart", "Show Log"])
    stays(code, lambda: (len(code.notifications()), len(servers(code))), (1, 0), QUIET_SECONDS)
    code.picture("the server was killed")

    answer(code, ENDED, "Restart")
    regreen_is_up(code)
    kill(code)
    stays(code, lambda: (len(code.notifications()), len(servers(code))), (1, 0), QUIET_SECONDS)
    answer(code, ENDED, "Show Log")
    code.until(lambda: ENDED in " ".join(texts(code.page.locator(".part.panel .view-lines"))))
    code.until(lambda: regreen(code) == "Regreen stopped")

    code.command("Regreen: Restart Server")
    regreen_is_up(code)
    assert len(servers(code)) == 1
    code.show(project / "cart.py")
    heals(code, project)
    assert code.notifications() == []


def test_a_server_that_ends_before_it_serves_is_told_once_and_why(
    project: Path, start: Start, tmp_path: Path
) -> None:
    program = tmp_path / "regreen"
    ending(program, "exit 3")
    code = start(project, project / "cart.py", settings={"regreen.path": str(program)})
    says_why(code, "exit code 3")
    code.picture("a server that ends at once")
    ending(program, "read line; echo 'out of order' >&2; exit 3")
    answer(code, "Regreen cannot start", "Try Again")
    said = says_why(code, "exit code 3: out of order")
    program.unlink()
    program.symlink_to(OURS)
    answer(code, said, "Try Again")
    regreen_is_up(code)
    assert code.notifications() == []


def ending(program: Path, how: str) -> None:
    """A regreen that knows its version, and ends so when it is to serve."""
    program.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "regreen 0.1.0" && exit 0\n{how}\n', "utf-8")
    program.chmod(0o755)


def says_why(code: Workbench, why: str) -> str:
    """Wait for the one message with this reason, and until it has stayed the only one; the whole of it."""
    said = f"Regreen cannot start: its server ended before it served ({why}). The log has all that it said."
    code.until(lambda: code.notifications() == [said] and buttons(code, said) == ["Try Again", "Show Log"])
    stays(code, lambda: (code.notifications(), regreen(code)), ([said], "Regreen stopped"), QUIET_SECONDS)
    return said


# ------------------------------------------------------------------ there is none


def test_a_path_that_does_not_exist_is_named_and_emptying_the_setting_starts_the_server(
    project: Path, start: Start, tmp_path: Path, environment: dict[str, str]
) -> None:
    have_path(environment, tmp_path / "bin")
    (tmp_path / "bin" / "regreen").symlink_to(OURS)
    nowhere = tmp_path / "nowhere" / "regreen"
    code = start(project, project / "cart.py", settings={"regreen.path": str(nowhere)})
    said = told(code, "Regreen cannot start")
    assert said.endswith(
        f"The setting regreen.path names {nowhere}, which does not exist. Correct it, or empty it to let Regreen be found."
    )
    code.until(lambda: buttons(code, said) == ["Open Setting", "Try Again", "Show Log"])
    code.until(lambda: regreen(code) == "Regreen stopped")
    code.picture("a path that does not exist")

    answer(code, "Regreen cannot start", "Open Setting")
    box = code.page.locator('.settings-editor .setting-item-contents[data-key="regreen.path"] input')
    code.until(lambda: box.input_value() == str(nowhere))
    code.picture("the setting")
    box.fill("")
    regreen_is_up(code)
    code.until(lambda: f"PATH: {tmp_path / 'bin' / 'regreen'} taken" in our_log(code))
    code.page.locator(".settings-editor").press("Escape")
    code.until(lambda: code.page.locator(".settings-editor").count() == 0)
    code.show(project / "cart.py")
    heals(code, project)


OLD_PYTHON = """#!/bin/sh
echo "$0" >> {calls}
echo '["cpython", "3.8.10", true, "{path}"]'
"""


def test_with_a_python_that_is_too_old_one_message_says_what_is_needed(
    project: Path, start: Start, tmp_path: Path, environment: dict[str, str]
) -> None:
    programs, calls = tmp_path / "old", tmp_path / "calls"
    programs.mkdir()
    python = programs / "python3"
    python.write_text(OLD_PYTHON.format(calls=calls, path=python), "utf-8")
    python.chmod(0o755)
    have_path(environment, programs)
    code = start(project, project / "cart.py", settings={"regreen.path": ""})
    said = told(code, "Regreen cannot start")
    assert "Regreen itself needs Python 3.10 or newer, which need not be your project's." in said
    assert said.endswith(f"Found: 3.8.10 ({python}).")
    code.until(lambda: buttons(code, said) == ["Get Python", "Try Again", "Show Log"])
    code.until(lambda: regreen(code) == "Regreen stopped")
    code.picture("a Python that is too old")
    once = calls.read_text()
    stays(code, lambda: (len(code.notifications()), calls.read_text()), (1, once), QUIET_SECONDS)
