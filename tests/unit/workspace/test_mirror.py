"""The private copy holds exactly the snapshot, and the user's tree is only ever read."""

from __future__ import annotations

import os
import shutil
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import pytest

from regreen.errors import StaleFix, UserError
from regreen.values import Project, Snapshot
from regreen.workspace.mirror import ProjectMirror

Tree = dict[str, tuple[str, object, int]]
Look = Callable[[Path], Tree]
Status = Callable[[Path], Mapping[Path, tuple[int, ...]]]
CopyOf = Callable[[Snapshot], Awaitable[Tree]]


async def test_a_lease_holds_the_project_and_an_empty_temporary_folder(
    mirror: ProjectMirror, root: Path, tree: Look
) -> None:
    snapshot = await mirror.sync({})
    async with mirror.lease(snapshot, {}) as copy:
        assert tree(copy.copy_root) == tree(root)
        assert copy.copy_root.name == root.name
        assert copy.roots == ((root, copy.copy_root),)
        assert list(copy.copy_temp.iterdir()) == []
        (copy.copy_temp / "left.txt").touch()
    async with mirror.lease(snapshot, {}) as copy:
        assert list(copy.copy_temp.iterdir()) == []


async def test_the_overlay_is_in_this_lease_only(
    mirror: ProjectMirror, root: Path, tree: Look, copy_of: CopyOf
) -> None:
    snapshot = await mirror.sync({})
    path = root / "shop" / "cart.py"
    async with mirror.lease(snapshot, {path: b"patched", root / "shop" / "deep" / "new.py": b"new"}) as copy:
        assert (copy.copy_root / "shop" / "cart.py").read_bytes() == b"patched"
        assert (copy.copy_root / "shop" / "deep" / "new.py").read_bytes() == b"new"
    assert await copy_of(snapshot) == tree(root)
    assert path.read_bytes() == b"def total():\n    return 1\n"


async def test_unsaved_text_is_part_of_the_snapshot_and_old_snapshots_stay(
    mirror: ProjectMirror, root: Path
) -> None:
    path = root / "shop" / "cart.py"
    first = await mirror.sync({})
    second = await mirror.sync({path: b"typed"})
    assert second.generation > first.generation
    assert await mirror.read(second, path) == b"typed"
    path.write_bytes(b"saved later")
    third = await mirror.sync({})
    texts = {}
    for snapshot in (first, second, third):
        async with mirror.lease(snapshot, {}) as copy:
            texts[snapshot.generation] = (copy.copy_root / "shop" / "cart.py").read_bytes()
    assert list(texts.values()) == [b"def total():\n    return 1\n", b"typed", b"saved later"]
    with pytest.raises(KeyError):
        await mirror.read(third, root / "nothing.py")


async def test_a_sync_that_finds_no_change_gives_the_same_snapshot(mirror: ProjectMirror, root: Path) -> None:
    first = await mirror.sync({})
    os.utime(root / "shop" / "cart.py")
    assert await mirror.sync({}) is first


async def test_a_project_over_the_limit_is_refused_with_its_size_and_the_setting(
    root: Path, tmp_path: Path
) -> None:
    (root / "big.bin").write_bytes(b"x" * 3_000_000)
    mirror = ProjectMirror(Project(root, root), cache=tmp_path / "cache", max_bytes=2e6)
    with pytest.raises(UserError, match=r"3 MB.*2 MB.*regreen\.mirror\.maxGigabytes"):
        await mirror.sync({})
    mirror.max_bytes = 4e6
    assert root / "big.bin" in (await mirror.sync({})).files
    await mirror.close()


async def test_large_files_are_left_out_and_said(root: Path, tmp_path: Path) -> None:
    (root / "model.bin").write_bytes(b"x" * 3000)
    mirror = ProjectMirror(Project(root, root), cache=tmp_path / "cache", max_file_bytes=2000)
    snapshot = await mirror.sync({})
    assert root / "model.bin" not in snapshot.files
    assert [(out.path, out.reason, out.size) for out in mirror.left_out] == [
        (root / "model.bin", "larger than 2 kB", 3000)
    ]
    await mirror.close()


async def test_the_users_tree_is_never_written(
    mirror: ProjectMirror, root: Path, full_status: Status
) -> None:
    (root / "readonly.py").write_bytes(b"a = 1")
    (root / "readonly.py").chmod(0o444)
    (root / "link.py").symlink_to("readonly.py")
    before = full_status(root)
    snapshot = await mirror.sync({root / "shop" / "cart.py": b"typed"})
    async with mirror.lease(snapshot, {root / "link.py": b"patched"}) as copy:
        (copy.copy_root / "readonly.py").unlink()
        (copy.copy_root / "shop" / "cart.py").write_bytes(b"x")
    async with mirror.lease(snapshot, {}, fresh=True):
        pass
    await mirror.sync({})
    assert full_status(root) == before


async def test_bytes_and_modes_are_kept_whatever_they_are(
    mirror: ProjectMirror, root: Path, tree: Look
) -> None:
    texts = {
        "crlf.py": b"a = 1\r\nb = 2\r\n",
        "bom.py": b"\xef\xbb\xbfa = 1\n",
        "latin.py": b"# -*- coding: latin-1 -*-\nname = '\xe9'\n",
        "nul.bin": bytes(range(256)) * 10_000,
        ".env": b"SECRET=1",
        "form\x0cfeed.py": b"\x0c\n",
    }
    for name, data in texts.items():
        (root / name).write_bytes(data)
    (root / "run.sh").write_bytes(b"#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    (root / "locked.cfg").write_bytes(b"")
    (root / "locked.cfg").chmod(0o440)
    (root / "tests").chmod(0o750)
    os.utime(root / "crlf.py", ns=(10**18, 10**18 + 7))
    snapshot = await mirror.sync({})
    async with mirror.lease(snapshot, {}) as copy:
        assert tree(copy.copy_root) == tree(root)
        assert (copy.copy_root / "crlf.py").stat().st_mtime_ns == 10**18 + 7


async def test_when_the_cache_is_emptied_meanwhile_everything_is_laid_again_or_refused(
    mirror: ProjectMirror, root: Path, tree: Look, copy_of: CopyOf
) -> None:
    old = await mirror.sync({})
    async with mirror.lease(old, {}):
        pass
    shutil.rmtree(mirror.folder)
    assert await copy_of(old) == tree(root)
    shutil.rmtree(mirror.folder)
    (root / "shop" / "cart.py").write_bytes(b"changed")
    with pytest.raises(StaleFix):
        await copy_of(old)
    assert await copy_of(await mirror.sync({})) == tree(root)
