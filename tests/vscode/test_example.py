"""The example: from nothing at all to the first fix, in a folder that may be thrown away."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .codeserver import REPOSITORY, CodeServer
from .conftest import Start
from .steps import answer, fix_is_ready, is_green, our_log, regreen_is_up, stays, told
from .workbench import Workbench

EXAMPLE = REPOSITORY / "client-vscode/media/example"
FOUND_PYTHON = {"regreen.interpreter": "", "regreen.heal.maxCandidates": 3000}
FIRST = "This is a small shop. Three of its tests are red"
SECOND = "Found, and verified in a private copy: "
THIRD = "Left is the code as it is, right with the fix."
LAST = "Green. In a project of your own: save a file, and Regreen runs what it affects."
QUIET_SECONDS = 2.0


@pytest.fixture
def temporary(tmp_path: Path, environment: dict[str, str]) -> Path:
    """The folder that VS Code takes for the system's temporary one."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    environment["TMPDIR"] = str(folder)
    return folder


def ready(server: CodeServer) -> set[Path]:
    """The logs of the extension hosts, one for each window, that have extensions by now: the palette has theirs then."""
    files = (server.user_data / "logs").rglob("remoteexthost.log")
    return {file for file in files if "Eager extensions activated" in file.read_text("utf-8")}


@pytest.fixture
def empty_window(start: Start, tmp_path: Path) -> Callable[[], Workbench]:
    """Open a window without any folder."""

    def begin() -> Workbench:
        folder = tmp_path / "left-again"
        folder.mkdir()
        code = start(folder, settings=FOUND_PYTHON)
        code.until(lambda: ready(code.server))
        code.page.goto(f"http://{code.server.authority}/?ew=true", wait_until="commit")
        code.until(lambda: len(ready(code.server)) == 2)
        return code

    return begin


def example_in(temporary: Path) -> Path:
    """The only copy of the example."""
    (folder,) = temporary.glob("regreen-example-*/shop")
    return folder


def walk(code: Workbench, folder: Path) -> None:
    """Go the whole way, each step by its button."""
    told(code, FIRST)
    assert code.active_tab() == "test_shop.py"
    code.picture("the first message")
    answer(code, FIRST, "Find the Fix")
    said = told(code, SECOND)
    assert "in shop.py:" in said
    assert said.endswith("No file has changed.")
    code.until(lambda: sum("Fix ready" in lens for lens in code.lenses()) == 3)
    code.picture("the second message")
    answer(code, SECOND, "Preview It")
    told(code, THIRD)
    code.until(lambda: code.diff()[1])
    left, right = code.diff()
    assert ("result -= price" in left, "result += price" in right) == (True, True)
    code.picture("the third message")
    answer(code, THIRD, "Apply")
    told(code, LAST)
    code.until(lambda: code.active_tab() == "shop.py" and not code.modified())
    assert "result += price" in (folder / "shop.py").read_text()
    is_green(code)
    assert code.notifications() == [LAST]
    code.picture("the last message")


def test_from_an_empty_window_the_example_leads_to_the_first_fix(
    temporary: Path, empty_window: Callable[[], Workbench]
) -> None:
    code = empty_window()
    code.command("Regreen: Try an Example")
    told(code, FIRST)
    folder = example_in(temporary)
    assert {path.name: path.read_text() for path in folder.iterdir() if path.is_file()} == {
        path.name: path.read_text() for path in EXAMPLE.iterdir()
    }
    walk(code, folder)


def test_from_a_window_with_a_folder_the_example_opens_beside_it(
    project: Path, start: Start, temporary: Path
) -> None:
    code = start(project, project / "cart.py", settings=FOUND_PYTHON)
    regreen_is_up(code)
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    with code.page.context.expect_page() as second:
        code.command("Regreen: Try an Example")
    beside = Workbench(second.value, code.server, code.pictures)
    walk(beside, example_in(temporary))
    assert code.active_tab() == "cart.py"
    assert code.notifications() == []
    assert {path: path.read_bytes() for path in project.rglob("*") if path.is_file()} == before


def test_who_closes_a_message_of_the_example_is_left_alone(
    temporary: Path, empty_window: Callable[[], Workbench]
) -> None:
    code = empty_window()
    code.command("Regreen: Try an Example")
    answer(code, FIRST, "Find the Fix")
    told(code, SECOND)
    code.command("Notifications: Clear All Notifications")
    shop = example_in(temporary) / "shop.py"
    untouched = (EXAMPLE / "shop.py").read_text()
    stays(
        code,
        lambda: (code.notifications(), shop.read_text(), code.diff()),
        ([], untouched, ("", "")),
        QUIET_SECONDS,
    )
    assert code.tabs() == ["test_shop.py"]
    fix_is_ready(code)  # still

    code.page.reload()
    regreen_is_up(code)
    stays(code, code.notifications, [], QUIET_SECONDS)
    assert "[error]" not in our_log(code)
