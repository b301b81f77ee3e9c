"""Which files may a patch never touch?"""

from __future__ import annotations

import fnmatch
import re
from pathlib import Path

from regreen.values import Project

CONFIGURATION = frozenset(
    {
        "pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml", "setup.py", "noxfile.py",
        ".coveragerc", "conftest.py", "sitecustomize.py", "usercustomize.py", "manage.py",
    }
)  # fmt: skip
TEST_FOLDERS = frozenset(
    {"tests", "test", "testing_data", "fixtures", "snapshots", "__snapshots__", "testdata"}
)
VENDORED = frozenset(
    {"vendor", "_vendor", "vendored", "_vendored", "third_party", "site-packages", "node_modules"}
)
GENERATED_NAMES = ("*_pb2.py", "*_pb2_grpc.py", "_version.py", "*.pyc", "*.pth")
_GENERATED_MARK = re.compile(r"@generated|do not edit|do not modify|auto-?generated", re.IGNORECASE)


def is_test(path: Path, project: Project) -> bool:
    """Whether the file is a test, a conftest or lies in a folder of tests, by pytest's conventions."""
    name = path.name
    if name == "conftest.py" or fnmatch.fnmatch(name, "test_*.py") or fnmatch.fnmatch(name, "*_test.py"):
        return True
    if not path.is_relative_to(project.root):
        return False
    return not TEST_FOLDERS.isdisjoint(path.relative_to(project.root).parts[:-1])


def protected(path: Path, project: Project, *, test_files: frozenset[Path], head: str) -> str:
    """Why the file must stay as it is; "" when a patch may change it.

    Args:
        path: the file, absolute.
        project: whose file.
        test_files: files in which collected tests live, whatever they are called.
        head: the first lines of the file, where generated code says so.
    """
    if path in test_files or is_test(path, project):
        return "tests are read-only"
    if path.suffix != ".py":
        return "only Python source is patched"
    if path.name in CONFIGURATION:
        return "configuration is read-only"
    inside = path.relative_to(project.root).parts if path.is_relative_to(project.root) else path.parts
    if not VENDORED.isdisjoint(inside):
        return "vendored code is read-only"
    if "migrations" in inside[:-1]:
        return "migrations are read-only"
    if any(fnmatch.fnmatch(path.name, pattern) for pattern in GENERATED_NAMES) or _GENERATED_MARK.search(
        head
    ):
        return "generated code is read-only"
    return ""
