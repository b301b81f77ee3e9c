"""Several folders in one window: each has its own Python and its own tests, and the status bar tells of all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tests.lsp.projects import environment as virtual_environment
from tests.lsp.projects import write

from .conftest import PLAIN, Start
from .steps import bug, click_lens, fix_is_ready, is_green, known_green, regreen, tooltip
from .workbench import Workbench

MODULE = """\
from {package} import ROUNDING


def total(prices):
    result = 0
    for price in prices:
        result += price
    return round(result, ROUNDING)
"""
TESTS = """\
import sys
from pathlib import Path

from {module} import total


def test_total():
    assert total([4, -5, -6]) == -7


def test_python():
    assert Path(sys.prefix).parent.name == "{name}"
"""
PACKAGES = {"shop": "shop_rates", "bank": "bank_rates"}
MODULES = {"shop": "cart", "bank": "account"}


def project_of(root: Path) -> Path:
    """A project with green tests that are green only with its own `.venv`: the module takes a package of it."""
    name = root.name
    module, package = MODULES[name], PACKAGES[name]
    write(
        root,
        {
            "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
            f"{module}.py": MODULE.format(package=package),
            f"test_{module}.py": TESTS.format(module=module, name=name),
        },
    )
    installed = write(root.with_name(f"packages-of-{name}"), {f"{package}.py": "ROUNDING = 2\n"})
    (pytest_of_plain,) = PLAIN.parents[1].glob("lib/python*/site-packages")
    virtual_environment(root / ".venv", with_pytest=False, paths=(installed, pytest_of_plain))
    return root


def workspace(file: Path, folders: Sequence[Path]) -> Path:
    """Write a `.code-workspace` file."""
    file.write_text(json.dumps({"folders": [{"path": str(folder)} for folder in folders]}), "utf-8")
    return file


def start_with(start: Start, file: Path) -> Workbench:
    """Open a workspace file with interpreters that are found."""
    return start(file, settings={"regreen.interpreter": ""})


def told_of(code: Workbench, folder: str) -> str:
    """What the tooltip of the status bar says of a folder; empty if it does not name it."""
    return next((line for line in tooltip(code) if line.startswith(f"{folder}: ")), "")


def test_each_folder_is_tested_with_its_own_python_and_the_status_bar_adds_them_up(
    tmp_path: Path, start: Start
) -> None:
    shop, bank = (project_of(tmp_path / name) for name in ("shop", "bank"))
    code = start_with(start, workspace(tmp_path / "both.code-workspace", [shop, bank]))
    known_green(code)  # of both, as no file is open
    assert (told_of(code, "shop"), told_of(code, "bank")) == ("shop: all green", "bank: all green")

    code.show(shop / "cart.py")
    bug(code)
    fix_is_ready(code)
    assert regreen(code) == "1 red, 1 fixable"
    assert told_of(code, "shop") == "shop: 1 red, 1 with a fix"
    assert told_of(code, "bank") == "bank: all green"
    code.picture("one folder is red")

    code.show(bank / "account.py")
    bug(code)
    code.until(lambda: regreen(code) == "2 red, 2 fixable")
    assert told_of(code, "bank") == "bank: 1 red, 1 with a fix"
    code.picture("both folders are red")

    for folder, name in ((shop, "shop"), (bank, "bank")):
        module = MODULES[name]
        code.show(folder / f"test_{module}.py")
        code.until(lambda: any("Fix ready" in lens for lens in code.lenses()))
        click_lens(code, "Apply")
        code.show(folder / f"{module}.py")
        code.until(code.modified)
        code.save()
        assert (folder / f"{module}.py").read_text() == MODULE.format(package=PACKAGES[name])
    is_green(code)
    code.until(
        lambda: (told_of(code, "shop"), told_of(code, "bank")) == ("shop: all green", "bank: all green")
    )


def test_a_folder_that_is_added_is_served_and_one_that_is_removed_is_not(
    tmp_path: Path, start: Start
) -> None:
    shop, bank = (project_of(tmp_path / name) for name in ("shop", "bank"))
    file = tmp_path / "growing.code-workspace"
    code = start_with(start, workspace(file, [shop]))
    known_green(code)
    assert told_of(code, "bank") == ""

    workspace(file, [shop, bank])
    code.until(lambda: told_of(code, "bank"))
    code.show(bank / "account.py")
    code.command("Regreen: Run Tests")
    code.until(lambda: told_of(code, "bank") == "bank: all green")
    bug(code)
    fix_is_ready(code)
    assert (told_of(code, "shop"), told_of(code, "bank")) == ("shop: all green", "bank: 1 red, 1 with a fix")

    code.command("Workspaces: Remove Folder from Workspace...")
    code.choose("bank")
    code.until(lambda: told_of(code, "bank") == "")
    code.until(lambda: regreen(code) == "All green")
    assert told_of(code, "shop") == "shop: all green"
