"""A small project, and VS Code with the packaged extension for it, in folders of their own."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from tests.editors.conftest import BRIEF, write_shop

from .codeserver import MANIFEST, REPOSITORY, CodeServer, code_server, install, succeeds
from .window import browser
from .workbench import Workbench

OURS = Path(sys.executable).with_name("regreen")
"""The server under test; without it the extension makes an environment of the packages that come with it."""

PLAIN = REPOSITORY / ".e2e/plain/bin/python"
"""An interpreter that has pytest and none of our own packages."""

Start = Callable[..., Workbench]


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder that all workers of this run share."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "vscode"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def vsix(shared: Path) -> Path:
    """The packaged extension, made once in a run by `npm run package`; REGREEN_VSIX names one made before."""
    if made := os.environ.get("REGREEN_VSIX"):
        return Path(made).resolve()
    version = json.loads(MANIFEST.read_text("utf-8"))["version"]
    packaged = shared / f"regreen-{version}.vsix"
    with FileLock(shared / "vsix.lock"):
        if not packaged.exists():
            npm = shutil.which("npm")
            assert npm, "These tests need npm: run `make deps`."
            succeeds([npm, "run", "package"])
            shutil.copy(REPOSITORY / "dist" / packaged.name, packaged)
    return packaged


@pytest.fixture(scope="session")
def extensions(shared: Path, vsix: Path) -> Path:
    """A folder of extensions with ours in it, installed once in a run; nothing is to be started in it."""
    folder, installing = shared / "extensions", shared / "installing" / "extensions"
    with FileLock(shared / "extensions.lock"):
        if not folder.exists():
            install(vsix, installing)
            installing.rename(folder)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with green tests."""
    return write_shop(tmp_path / "shop")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """All the variables of VS Code."""
    return variables(tmp_path)


def variables(folder: Path) -> dict[str, str]:
    """Variables for VS Code: everything stays in this folder, and PATH has little on it.

    The Python on it is the one that ours was made from, so Regreen is not installed for it.
    """
    home, programs = folder / "home", folder / "bin"
    home.mkdir()
    programs.mkdir()
    (programs / "python3").symlink_to(sys._base_executable)  # type: ignore[attr-defined]
    names = ("CONFIG", "DATA", "STATE", "CACHE")
    environment = {
        **{f"XDG_{name}_HOME": str(home / name.lower()) for name in names},
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "REGREEN_CACHE_DIR": str(home / "regreen-cache"),
        "REGREEN_STATE_DIR": str(home / "regreen-state"),
    }
    have_path(environment, programs, Path("/usr/bin"), Path("/bin"))
    return environment


def have_path(environment: dict[str, str], *folders: Path) -> None:
    """Let VS Code's PATH be these folders: it takes its variables of the user's login shell, which starts with the system's."""
    environment["PATH"] = os.pathsep.join(map(str, folders))
    Path(environment["HOME"], ".profile").write_text(f"export PATH='{environment['PATH']}'\n", "utf-8")


@pytest.fixture
def serve(
    tmp_path: Path, extensions: Path, environment: dict[str, str]
) -> Iterator[Callable[..., CodeServer]]:
    """Start a VS Code with these settings, to be looked at in a browser."""
    with ExitStack() as stack:

        def begin(settings: Mapping[str, Any], *, testing: bool = False) -> CodeServer:
            folder = tmp_path / "vscode"
            folder.mkdir()
            server = code_server(folder, extensions, settings, environment, testing=testing)
            return stack.enter_context(server)

        yield begin


@pytest.fixture
def opened() -> list[Workbench]:
    """The windows that this test has opened."""
    return []


@pytest.fixture
def start(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    serve: Callable[..., CodeServer],
    opened: list[Workbench],
) -> Iterator[Start]:
    """Open a folder, or a `.code-workspace` file, and a file in it.

    The settings are the user's, laid over an interpreter that has pytest. Without `workspace_trust` VS Code trusts
    every folder. When the test has ended there is a picture of its window in REGREEN_PICTURES, else in the test's own
    folder.
    """
    pictures = Path(os.environ.get("REGREEN_PICTURES") or tmp_path / "pictures")
    with ExitStack() as stack:

        def begin(
            target: Path,
            file: Path | None = None,
            *,
            workspace_trust: bool = False,
            theme: str = "Default Dark Modern",
            settings: Mapping[str, Any] | None = None,
        ) -> Workbench:
            chosen = {
                "security.workspace.trust.enabled": workspace_trust,
                "workbench.colorTheme": theme,
                "regreen.path": str(OURS),
                "regreen.interpreter": str(PLAIN),
                **{
                    f"regreen.{section}.{name}": value
                    for section, part in BRIEF.items()
                    for name, value in part.items()
                },
                **(settings or {}),
            }
            server = serve(chosen)
            page = stack.enter_context(browser())()
            workbench = Workbench(page, server, pictures)
            opened.append(workbench)
            stack.callback(workbench.picture, request.node.name)
            workbench.open(target, file)
            return workbench

        yield begin


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show with a failure what the window showed, and what VS Code logged."""
    report = yield
    if report.failed and call.when == "call":
        for workbench in getattr(item, "funcargs", {}).get("opened", ()):
            report.sections.append(("the window", workbench.screen()))
            report.sections.append(("the logs of VS Code", workbench.server.logs()))
    return report
