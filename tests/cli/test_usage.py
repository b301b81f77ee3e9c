"""Does every misuse end with a sentence that helps and status 2, and every small command with its answer?"""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.commands import Regreen

from regreen import __version__
from regreen.errors import UsageError
from regreen.terminal.address import parse_address


def test_version(regreen: Regreen) -> None:
    assert regreen("--version").stdout == f"regreen {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["heal", "nowhere"], "nowhere: there is no such file"),
        (["heal", "--apply", "--check"], "not allowed with"),
        (["heal", "--last-failed", "--junit", "x"], "not allowed with"),
        (["heal", "--junit", "missing.xml"], "missing.xml cannot be read"),
        (["heal", "--last-failed"], "has no pytest cache"),
        (["heal", "--max-seconds", "0"], "must be at least 1"),
        (["heal", "--patch", "no/such/folder/x.patch"], "There is no folder"),
        (["heal", "--interpreter", "./no-python"], "no-python"),
        (["heal", "--unknown"], "unrecognized arguments"),
        (["heal", "--app"], "unrecognized arguments"),
        (["cache"], "required"),
        (["serve", "--tcp", "8765"], "is no address"),
        (["serve", "--tcp", "0.0.0.0:8765"], "can be reached from other machines"),
        (["trust", "nowhere"], "is not a folder"),
        (["--log-file", "no/such/folder/log", "cache", "list"], "cannot be written"),
    ],
)
def test_misuse_is_explained(regreen: Regreen, arguments: list[str], words: str) -> None:
    (regreen.cwd / "test_a.py").write_text("def test_a(): pass\n")
    run = regreen(*arguments)
    assert (run.returncode, run.stdout) == (2, "")
    assert words in run.stderr
    assert "Traceback" not in run.stderr


def test_clients_may_tell_their_process_id(regreen: Regreen) -> None:
    run = regreen("--stdio", "--clientProcessId=4711")
    assert (run.stdout, "Traceback" in run.stderr) == ("", False)


def test_a_folder_is_trusted_listed_and_revoked(regreen: Regreen) -> None:
    folder = regreen.cwd / "shop"
    folder.mkdir()
    assert "No folder is trusted" in regreen("trust", "--list").stdout
    assert regreen("trust", folder).returncode == 0
    assert str(folder) in regreen("trust", "--list").stdout
    assert regreen("trust", "--revoke", cwd=folder).returncode == 0
    assert "No folder is trusted" in regreen("trust", "--list").stdout
    again = regreen("trust", "--revoke", folder)
    assert (again.returncode, "was not trusted" in again.stderr) == (1, True)
    assert stat.S_IMODE((regreen.home / "state").stat().st_mode) == 0o700


def test_an_empty_cache_is_said_to_be_empty(regreen: Regreen) -> None:
    assert "no private copies" in regreen("cache", "list").stdout
    assert "Removed 0 copies" in regreen("cache", "clear").stdout


@pytest.mark.parametrize(
    ("text", "address"),
    [("127.0.0.1:0", ("127.0.0.1", 0)), ("[::1]:8765", ("::1", 8765)), ("localhost:1", ("localhost", 1))],
)
def test_the_own_machine_may_be_listened_on(text: str, address: tuple[str, int]) -> None:
    assert parse_address(text, allow_remote=False) == address


@pytest.mark.parametrize("text", ["0.0.0.0:1", "[::]:1", "192.168.0.7:1", "example.org:1"])
def test_other_addresses_only_when_asked_for_and_warned_of(
    text: str, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(UsageError):
        parse_address(text, allow_remote=False)
    parse_address(text, allow_remote=True)
    assert "can run code as you" in caplog.text


@pytest.mark.parametrize(
    "text", ["", ":", "localhost", "localhost:", ":80", "localhost:65536", "localhost:-1", "a:b"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no address"):
        parse_address(text, allow_remote=False)


def test_the_server_serves_over_tcp(regreen: Regreen) -> None:
    import socket

    server = regreen.start("serve", "--tcp", "127.0.0.1:0")
    try:
        assert server.stderr is not None
        line = server.stderr.readline()
        port = int(line.rsplit(":", 1)[1])
        with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
            body = json.dumps(
                {
                    "jsonrpc": "2.0",
                    "id": 1,
                    "method": "initialize",
                    "params": {"processId": None, "rootUri": None, "capabilities": {}},
                }
            )
            client.sendall(f"Content-Length: {len(body)}\r\n\r\n{body}".encode())
            assert b'"capabilities"' in client.recv(65536)
    finally:
        server.kill()
        server.communicate()


@pytest.mark.parametrize(
    ("imports", "absent"),
    [
        ("import regreen.cli", {"rich", "pygls", "tree_sitter"}),
        ("import regreen.terminal.housekeeping", {"pygls", "tree_sitter", "sqlite3"}),
        ("import regreen.composition, regreen.terminal.heal", {"pygls", "lsprotocol", "watchdog", "litellm"}),
        (
            "import regreen.serving",
            {"regreen.composition", "regreen.pipeline", "watchdog", "rich", "sqlite3", "litellm"},
        ),
    ],
)
def test_a_command_imports_only_what_it_needs(imports: str, absent: set[str]) -> None:
    program = f"import sys; {imports}; print(sorted({absent!r} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True)
    assert run.stdout == "[]\n"


def test_a_terminal_without_our_characters_shows_others(regreen: Regreen) -> None:
    environment = regreen.environment() | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    run = subprocess.run(
        regreen.command("trust", regreen.cwd / "Zoë"), env=environment, capture_output=True, check=False
    )
    assert b"Zo? is not a folder" in run.stderr or b"Zo\\xeb is not a folder" in run.stderr
    (regreen.cwd / "Zoë").mkdir()
    run = subprocess.run(
        regreen.command("trust", regreen.cwd / "Zoë"), env=environment, capture_output=True, check=False
    )
    assert (run.returncode, b"Zo? and all that is in it" in run.stdout) == (0, True), run.stderr


def test_python_m_regreen_and_the_script_are_the_same(regreen: Regreen) -> None:
    script = Path(regreen.command()[0]).with_name("regreen")
    run = subprocess.run([script, "--version"], capture_output=True, encoding="utf-8", check=True)
    assert run.stdout == regreen("--version").stdout
