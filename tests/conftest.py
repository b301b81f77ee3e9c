"""What tests of every area share."""

from __future__ import annotations

import importlib.metadata
import sys
import venv
from pathlib import Path

import pytest

LENT = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")


@pytest.fixture(scope="session")
def user_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment as a user has it: pytest and no plug-ins, none of our own packages."""
    folder = tmp_path_factory.mktemp("user-environment") / "venv"
    venv.create(folder, symlinks=sys.platform != "win32")
    site = (
        next(folder.glob("lib/python*/site-packages"))
        if sys.platform != "win32"
        else folder / "Lib/site-packages"
    )
    for name in LENT:
        for file in importlib.metadata.files(name) or ():
            source = Path(str(file.locate()))
            target = site / file
            if ".." not in file.parts and "__pycache__" not in file.parts and source.is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                target.symlink_to(source)
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
