from __future__ import annotations

import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from tests.cli.commands import PLAIN, Regreen


@pytest.fixture
def regreen(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Regreen:
    return Regreen(tmp_path_factory.mktemp("home"), tmp_path)


@pytest.fixture
def editable(tmp_path: Path) -> Path:
    """The interpreter of an environment in which the project of `tmp_path` is installed in editable mode.

    What an installer writes for that is a .pth file that names the source folder; pytest comes from another environment.
    """
    folder = tmp_path / "environment"
    venv.create(folder, symlinks=sys.platform != "win32", with_pip=False)
    scheme = {"base": str(folder), "platbase": str(folder)}
    packages = Path(sysconfig.get_path("purelib", vars=scheme))
    source = tmp_path / "editable_install" / "src"
    (packages / "__editable__.queueing-1.0.pth").write_text(f"{source}\n")
    [others] = (PLAIN.parent.parent / "lib").glob("python*/site-packages")
    (packages / "pytest_of_another.pth").write_text(f"{others}\n")
    return Path(sysconfig.get_path("scripts", vars=scheme)) / Path(sys.executable).name
