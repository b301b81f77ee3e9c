"""Real pytest runs in leased copies: what they see is what was asked for, and what they do stays there."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from regreen.values import Project, WorkingCopy
from regreen.workspace.mirror import ProjectMirror

PRICE = b"def price():\n    return 1\n"
FIXED = b"def price():\n    return 2\n"  # the same size: only bytecode that is not stale can tell
TEST = """
import os, pathlib, tempfile
from shop.price import price
HERE = pathlib.Path(__file__).parent
def test_price(): assert price() == 2
def test_writes():
    (HERE / "out").mkdir(exist_ok=True)
    (HERE / "out" / "made.txt").write_text("x")
    (HERE / "data.txt").write_text("spoiled")
    (HERE / "data.txt").chmod(0o400)
    os.chdir(HERE.parent)
    pathlib.Path("shop/price.pyc").write_bytes(b"x")
def test_reads_a_sibling(): assert (HERE / ".." / ".." / "lib" / "lib.txt").read_text() == "lib"
def test_finds_its_data_unspoiled(): assert (HERE / "data.txt").read_text() in {"data", "spoiled"}
"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    texts = {
        "app/shop/__init__.py": b"",
        "app/shop/price.py": PRICE,
        "app/tests/test_price.py": TEST.encode(),
    }
    texts |= {
        "app/tests/data.txt": b"data",
        "app/pytest.ini": b"[pytest]\npythonpath = .\n",
        "lib/lib.txt": b"lib",
    }
    for name, data in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


@pytest_asyncio.fixture
async def mirror(work: Path, tmp_path: Path) -> AsyncIterator[ProjectMirror]:
    mirror = ProjectMirror(Project(work / "app", work), extra_roots=[work / "lib"], cache=tmp_path / "cache")
    yield mirror
    await mirror.close()


def run(copy: WorkingCopy) -> set[str]:
    """Run the copy's tests, bytecode and all; the names of those that failed."""
    environment = {key: text for key, text in os.environ.items() if not key.startswith(("PYTHON", "PYTEST"))}
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "TMPDIR": str(copy.copy_temp)}
    command = [sys.executable, "-m", "pytest", "-q", "-rf"]
    done = subprocess.run(
        command, cwd=copy.copy_root, check=False, capture_output=True, text=True, env=environment
    )
    assert done.returncode in {0, 1}, done.stdout
    return {
        line.split("::")[1].split(" ")[0] for line in done.stdout.splitlines() if line.startswith("FAILED")
    }


def status(folder: Path) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for path in (folder, *folder.rglob("*")):
        s = path.lstat()
        found[str(path)] = (s.st_mode, s.st_ino, s.st_nlink, s.st_size, s.st_mtime_ns, s.st_ctime_ns)
    return found


async def test_patched_and_unpatched_runs_in_one_copy_never_see_each_others_text(
    mirror: ProjectMirror, work: Path
) -> None:
    before = status(work)
    snapshot = await mirror.sync({})
    patch = {work / "app" / "shop" / "price.py": FIXED}
    folders = set()
    for overlay in ({}, patch, {}, {}, patch, patch, {}):
        async with mirror.lease(snapshot, overlay) as copy:
            assert (copy.copy_root / "tests" / "data.txt").read_text() == "data"
            assert not (copy.copy_root / "tests" / "out").exists()
            assert run(copy) == (set() if overlay else {"test_price"})
            folders.add(copy.copy_root)
    assert len(folders) == 1
    assert status(work) == before


async def test_bytecode_of_unpatched_runs_is_used_by_the_next_one(mirror: ProjectMirror) -> None:
    snapshot = await mirror.sync({})
    made: list[dict[str, int]] = []
    for _ in range(3):
        async with mirror.lease(snapshot, {}) as copy:
            run(copy)
            made.append({str(path): path.stat().st_ino for path in copy.copy_root.rglob("__pycache__/*.pyc")})
    assert len(made[0]) == 3
    assert made[0] == made[1] == made[2]


async def test_a_saved_fix_turns_the_copy_green(mirror: ProjectMirror, work: Path) -> None:
    for text, red in ((PRICE, {"test_price"}), (FIXED, set()), (PRICE, {"test_price"})):
        (work / "app" / "shop" / "price.py").write_bytes(text)
        async with mirror.lease(await mirror.sync({}), {}) as copy:
            assert run(copy) == red
