"""What the extension does with VS Code's API, seen from inside of the extension host, and beside other extensions."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from tests.lsp.projects import CONFIG
from tests.lsp.projects import environment as make_environment

from .codeserver import REPOSITORY, CodeServer, run_in_extension_host, succeeds
from .conftest import OURS, PLAIN, Start
from .standins import ENVIRONMENTS, PYTHON, SWITCHED_OFF, add, chosen, write
from .steps import bug, fix_is_ready, known_green, logged, our_log, regreen_is_up
from .window import browser, texts

RunInside = Callable[..., str]

ODD = "def odd(x):\n    y = x + x\n    return y\n"
TEST_ODD = "from odd import odd\n\n\ndef test_odd():\n    assert odd(1) == 'no edit gives this'\n"
WHICH = "import which\n\n\ndef test_which():\n    assert which.NAME == 'nobody'\n"


@pytest.fixture
def extensions(extensions: Path, tmp_path: Path) -> Path:
    """The installed extensions in a folder of this test's own."""
    return shutil.copytree(extensions, tmp_path / "extensions")


@pytest.fixture(scope="session")
def bundles(shared: Path) -> Path:
    """The folder of the tests that run inside, bundled once in a run."""
    folder = shared / "host-tests"
    with FileLock(shared / "host-tests.lock"):
        if not folder.exists():
            script = REPOSITORY / "client-vscode" / "scripts" / "host-tests.mjs"
            succeeds(["node", str(script), str(folder)])
    return folder


@pytest.fixture
def run_inside(serve: Callable[..., CodeServer], bundles: Path) -> RunInside:
    """Run the tests of one file in the extension host of a fresh window; tells what was logged."""

    def begin(name: str, workspace: Path, settings: Mapping[str, Any] | None = None) -> str:
        quiet = {"security.workspace.trust.enabled": False, "regreen.path": str(OURS)}
        brief = {"regreen.heal.maxCandidates": 12, "regreen.heal.offers": 1}
        server = serve({**quiet, **brief, **(settings or {})}, testing=True)
        (installed,) = server.user_data.with_name("extensions").glob("regreen.regreen-*")
        with browser() as window:
            status, said = run_in_extension_host(
                server, window(), workspace, installed, bundles / f"{name}.test.js"
            )
        assert status == 0, f"{said}\n{server.logs()}"
        assert "passed: " in said
        return logged(server)

    return begin


def test_the_api_of_vs_code_has_all_of_a_red_test_and_its_verified_fix(
    project: Path, run_inside: RunInside
) -> None:
    write(project, {"odd.py": ODD, "test_odd.py": TEST_ODD})
    (project / "pyproject.toml").unlink()  # it would wake the extension before a Python file is opened
    log = run_inside("red", project, {"regreen.interpreter": str(PLAIN)})
    assert "Traceback" not in log


# --------------------------------------------------------------------------- which Python


@pytest.fixture
def pythons(tmp_path: Path) -> Callable[[str], Path]:
    """Makes an interpreter with pytest that knows its own name; `own` goes to the project's `.venv`."""
    packages = next((PLAIN.parents[1] / "lib").glob("python3.*/site-packages"))

    def make(name: str, folder: Path | None = None) -> Path:
        marks = tmp_path / "marks" / name
        write(marks, {"which.py": f"NAME = {name!r}\n"})
        return make_environment(
            folder or tmp_path / "pythons" / name, with_pytest=False, paths=(marks, packages)
        )

    return make


def test_the_interpreter_of_the_python_extension_runs_the_tests_and_so_does_the_one_chosen_next(
    tmp_path: Path, extensions: Path, run_inside: RunInside, pythons: Callable[[str], Path]
) -> None:
    first, second = pythons("first"), pythons("second")
    add(extensions, "ms-python.python", chosen(PYTHON, {"": "first"}, {"first": first, "second": second}))
    add(extensions, "ms-python.vscode-python-envs", SWITCHED_OFF)
    shop = tmp_path / "shop"
    write(shop, {"pyproject.toml": CONFIG, "test_which.py": WHICH})
    log = run_inside("python", shop)
    assert "ignored" not in log


def test_the_environments_extension_outranks_it_for_each_project_of_a_folder(
    tmp_path: Path, extensions: Path, run_inside: RunInside, pythons: Callable[[str], Path]
) -> None:
    interpreters = {name: pythons(name) for name in ("first", "second", "third")}
    add(extensions, "ms-python.python", chosen(PYTHON, {"": "third"}, interpreters))
    environments = chosen(ENVIRONMENTS, {"one": "first", "two": "second"}, interpreters)
    add(extensions, "ms-python.vscode-python-envs", environments)
    shop = tmp_path / "shop"
    for name in ("one", "two", "three"):
        write(shop / name, {"pyproject.toml": CONFIG, f"test_{name}.py": WHICH})
    run_inside("environments", shop)


def test_without_another_extension_the_projects_own_environment_is_found(
    tmp_path: Path, run_inside: RunInside, pythons: Callable[..., Path]
) -> None:
    shop = tmp_path / "shop"
    write(shop, {"pyproject.toml": CONFIG, "test_which.py": WHICH})
    pythons("own", shop / ".venv")
    run_inside("found", shop)


# --------------------------------------------------------------------------- on the screen

RECORDING = """\
#!/bin/sh
if [ "$1" = --version ]; then exec '{ours}' --version; fi
tee -a '{record}' | '{ours}' "$@"
"""


def test_a_key_from_the_secret_store_reaches_the_server_by_its_name_and_no_log(
    project: Path, start: Start, tmp_path: Path
) -> None:
    record, recording = tmp_path / "record", tmp_path / "bin" / "recording"
    code = start(project, project / "cart.py", settings=recorded(recording, record))
    regreen_is_up(code)
    assert '"keys":{}' in record.read_text("utf-8")
    code.command("Developer: Set Log Level...")
    code.choose("Regreen")
    code.choose("Trace")
    code.command("Regreen: Set API Key")
    code.choose("OpenAI")
    code.until(lambda: "The key for OPENAI_API_KEY" in code.prompt())
    code.picture("asking for a key")
    code.enter("sk-a-very-secret-key")
    code.until(lambda: '"keys":{"OPENAI_API_KEY":"sk-a-very-secret-key"}' in record.read_text("utf-8"))
    regreen_is_up(code)
    known_green(code)
    code.until(lambda: "initialize" in our_log(code))
    for file in [*code.server.user_data.rglob("*.log"), *code.server.user_data.rglob("*.json")]:
        assert "sk-a-very-secret-key" not in file.read_text("utf-8", "replace"), file


def recorded(program: Path, record: Path) -> dict[str, object]:
    """Settings for a server whose input is written to a file, too."""
    write(program.parent, {program.name: RECORDING.format(ours=OURS, record=record)})
    program.chmod(0o755)
    return {"regreen.path": str(program), "regreen.trace.server": "verbose"}


def test_the_test_explorer_lists_red_tests_with_their_fixes_once_the_setting_asks_for_it(
    project: Path, start: Start
) -> None:
    code = start(project, project / "cart.py")
    known_green(code)
    bug(code)
    fix_is_ready(code)
    view = code.page.locator('.activitybar .action-label[aria-label^="Testing"]')
    assert view.count() == 0, "nobody asked for it"
    write(project, {".vscode/settings.json": json.dumps({"regreen.testExplorer": True})})
    view.click()
    rows = code.page.locator(".test-explorer .monaco-list-row")
    code.until(lambda: any("test_total" in row for row in texts(rows)))
    code.picture("test explorer")
    listed = texts(rows)
    assert any("test_total" in row and "`-=` → `+=`" in row for row in listed), listed
    assert any("test_refund" in row for row in listed), listed
    assert not any("test_cheapest" in row for row in listed), listed
