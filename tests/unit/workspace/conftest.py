"""A small project on disk, its mirror, and ways to compare folders."""

from __future__ import annotations

import os
import stat
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path

import pytest
import pytest_asyncio

from regreen.values import Project, Snapshot
from regreen.workspace.mirror import ProjectMirror

Tree = dict[str, tuple[str, object, int]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work" / "shop"
    (folder / "shop" / "empty").mkdir(parents=True)
    (folder / "shop" / "cart.py").write_bytes(b"def total():\n    return 1\n")
    (folder / "shop" / "__init__.py").write_bytes(b"")
    (folder / "tests").mkdir()
    (folder / "tests" / "test_cart.py").write_bytes(b"from shop import cart\n")
    return folder


@pytest_asyncio.fixture
async def mirror(root: Path, tmp_path: Path) -> AsyncIterator[ProjectMirror]:
    mirror = ProjectMirror(Project(root, root), cache=tmp_path / "cache")
    yield mirror
    await mirror.close()


def look(folder: Path) -> Tree:
    """Everything below a folder but bytecode: kind, content, permission bits."""
    found: Tree = {}
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in (*folders, *files):
            path = Path(parent, name)
            status = path.lstat()
            key = path.relative_to(folder).as_posix()
            mode = stat.S_IMODE(status.st_mode)
            if path.is_symlink():
                found[key] = ("link", os.fspath(path.readlink()), 0)
            elif path.is_dir():
                found[key] = ("folder", None, mode)
            else:
                found[key] = ("file", path.read_bytes(), mode)
    return found


def ask(folder: Path) -> dict[Path, tuple[int, ...]]:
    """Everything the file system tells about every entry, but the times of reading."""
    found: dict[Path, tuple[int, ...]] = {}
    for parent, folders, files in os.walk(folder):
        for path in (Path(parent), *(Path(parent, name) for name in (*folders, *files))):
            status = path.lstat()
            found[path] = (
                status.st_mode,
                status.st_ino,
                status.st_nlink,
                status.st_uid,
                status.st_size,
                status.st_mtime_ns,
                status.st_ctime_ns,
            )
    return found


@pytest.fixture
def tree() -> Callable[[Path], Tree]:
    return look


@pytest.fixture
def full_status() -> Callable[[Path], Mapping[Path, tuple[int, ...]]]:
    return ask


@pytest.fixture
def copy_of(mirror: ProjectMirror) -> Callable[[Snapshot], Awaitable[Tree]]:
    async def lease_and_look(snapshot: Snapshot) -> Tree:
        async with mirror.lease(snapshot, {}) as copy:
            return look(copy.copy_root)

    return lease_and_look
