"""Leases, slots and roots: who gets which folder, and where siblings are."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import textwrap
import threading
import time
from asyncio.subprocess import PIPE
from collections.abc import Callable
from pathlib import Path

import pytest

from regreen.errors import UsageError
from regreen.values import FileEntry, Project
from regreen.workspace import places
from regreen.workspace.mirror import ProjectMirror
from regreen.workspace.pool import Claim, SlotPool
from regreen.workspace.slots import Layout, Slot

Tree = dict[str, tuple[str, object, int]]
Look = Callable[[Path], Tree]


async def test_leases_at_once_have_folders_of_their_own_and_one_too_many_waits(
    root: Path, tmp_path: Path
) -> None:
    mirror = ProjectMirror(Project(root, root), cache=tmp_path / "cache", leases=2)
    snapshot = await mirror.sync({})
    third_has_it = asyncio.Event()

    async def third() -> Path:
        async with mirror.lease(snapshot, {}) as copy:
            third_has_it.set()
            return copy.copy_root

    async with mirror.lease(snapshot, {}) as one:
        async with mirror.lease(snapshot, {root / "shop" / "cart.py": b"two"}) as two:
            assert one.copy_root != two.copy_root
            assert (one.copy_root / "shop" / "cart.py").read_bytes() != b"two"
            waiting = asyncio.create_task(third())
            for _ in range(20):
                await asyncio.sleep(0)
            assert not third_has_it.is_set()
        assert await waiting == two.copy_root
    await mirror.close()


async def test_a_cancelled_lease_leaves_a_slot_that_is_right_the_next_time(
    mirror: ProjectMirror, root: Path, tree: Look
) -> None:
    for number in range(300):
        (root / f"data{number}.txt").write_bytes(b"x" * number)
    snapshot = await mirror.sync({})
    for steps in range(12):
        fresh = steps % 2 == 1

        async def hold(fresh: bool) -> None:
            async with mirror.lease(snapshot, {root / "shop" / "cart.py": b"patched"}, fresh=fresh):
                await asyncio.sleep(60)

        task = asyncio.create_task(hold(fresh))
        await asyncio.sleep(0.002 * steps)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    async with mirror.lease(snapshot, {}) as one, mirror.lease(snapshot, {}) as two:
        assert tree(one.copy_root) == tree(two.copy_root) == tree(root)
    await mirror.close()
    assert {path.name for path in mirror.folder.iterdir() if path.name.startswith(("fresh", "3"))} == set()


OTHER = """
import asyncio, sys
from pathlib import Path
from regreen.values import Project
from regreen.workspace.mirror import ProjectMirror

async def main(root, cache):
    mirror = ProjectMirror(Project(root, root), cache=cache)
    snapshot = await mirror.sync({})
    async with mirror.lease(snapshot, {root / "shop" / "cart.py": b"other"}) as copy:
        print(copy.copy_root, flush=True)
        sys.stdin.readline()
        assert (copy.copy_root / "shop" / "cart.py").read_bytes() == b"other"
    await mirror.close()

asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
"""


async def test_another_process_takes_other_slots_and_a_killed_one_gives_them_back(
    mirror: ProjectMirror, root: Path, tmp_path: Path, tree: Look
) -> None:
    command = [sys.executable, "-c", textwrap.dedent(OTHER), str(root), str(tmp_path / "cache")]
    snapshot = await mirror.sync({})
    async with mirror.lease(snapshot, {}) as copy:
        other = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
        killed = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
        assert other.stdout
        assert killed.stdout
        theirs = Path((await other.stdout.readline()).decode().strip())
        killeds = Path((await killed.stdout.readline()).decode().strip())
        assert len({copy.copy_root, theirs, killeds}) == 3
        assert tree(copy.copy_root) == tree(root)
        killed.kill()
        await killed.wait()
        await other.communicate(b"\n")
        assert other.returncode == 0
        async with mirror.lease(snapshot, {}) as second:
            assert second.copy_root in {theirs, killeds}
            assert tree(second.copy_root) == tree(root)


FRESH = OTHER.replace(', {root / "shop" / "cart.py": b"other"}', ", {}, fresh=True")


async def test_the_fresh_copy_of_a_killed_process_is_removed_when_the_mirror_opens(
    mirror: ProjectMirror, root: Path, tmp_path: Path
) -> None:
    killed = await asyncio.create_subprocess_exec(
        sys.executable, "-c", FRESH, str(root), str(tmp_path / "cache"), stdin=PIPE, stdout=PIPE
    )
    assert killed.stdout
    left = Path((await killed.stdout.readline()).decode().strip())
    assert left.parent.name.startswith("fresh-")
    await mirror.sync({})
    assert left.parent in mirror.folder.glob("fresh-*")  # its owner lives
    await mirror.close()
    killed.kill()
    await killed.wait()
    await mirror.sync({})
    assert list(mirror.folder.glob("fresh-*")) == []


async def test_temporary_files_of_a_killed_process_are_removed_when_the_mirror_opens(
    mirror: ProjectMirror, root: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", textwrap.dedent(OTHER), str(root), str(tmp_path / "cache")]
    killed = [await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE) for _ in range(2)]
    for process in killed:
        assert process.stdout
        left = Path((await process.stdout.readline()).decode().strip())
        temp = left.parent.with_suffix(".temp")
        (temp / "regreen-0").mkdir()
    await mirror.sync({})
    assert (temp / "regreen-0").exists()  # its owner lives
    await mirror.close()
    for process in killed:
        process.kill()
        await process.wait()
    await mirror.sync({})
    assert list(mirror.folder.glob("*.temp/*")) == []


def test_a_claim_that_is_given_back_before_a_slot_was_found_keeps_none(tmp_path: Path) -> None:
    pool = SlotPool(tmp_path / "mirror")
    for fresh in (False, True):
        claim = Claim(fresh)
        pool.give_back(claim, unpatched=True)
        slot = pool.take(claim)
        assert claim.slot is None
        assert fresh == (not slot.lock.path.exists())
    first, second = Claim(fresh=False), Claim(fresh=False)
    assert pool.take(first).folder.name == "1"
    assert pool.take(second).folder.name == "2"
    pool.close()


def test_a_slot_that_a_cancelled_lease_still_fills_is_waited_for(tmp_path: Path) -> None:
    (tmp_path / "blob").write_bytes(b"x")
    entry = FileEntry("0" * 64, 1, 0o644)
    inside, go_on = threading.Event(), threading.Event()

    def slowly(digest: str, source: Path) -> Path:
        inside.set()
        go_on.wait(20)
        return tmp_path / "blob"

    def layout(name: str, blob: Callable[[str, Path], Path]) -> Layout:
        return Layout({name: entry}, {}, {"p": 0o755}, {name: Path(name)}, blob)

    slot = Slot(tmp_path / "1")
    cancelled = threading.Thread(target=slot.bring_up, args=(layout("p/old", slowly), {}))
    cancelled.start()
    assert inside.wait(20)
    following = threading.Thread(
        target=slot.bring_up, args=(layout("p/new", lambda _digest, _source: tmp_path / "blob"), {})
    )
    following.start()
    following.join(0.3)
    go_on.set()
    cancelled.join(20)
    following.join(20)
    assert [path.name for path in (tmp_path / "1" / "p").iterdir()] == ["new"]


async def test_siblings_are_mirrored_so_that_relative_paths_between_them_hold(tmp_path: Path) -> None:
    work = tmp_path / "work"
    web, core, elsewhere = work / "apps" / "web", work / "libs" / "core" / "src", tmp_path / "elsewhere"
    for folder in (web, core, elsewhere):
        folder.mkdir(parents=True)
        (folder / "mod.py").write_text(folder.name)
    (web / "core.py").symlink_to("../../libs/core/src/mod.py")
    mirror = ProjectMirror(
        Project(web, work), extra_roots=[core, elsewhere, web / "inner"], cache=tmp_path / "cache"
    )
    snapshot = await mirror.sync({core / "mod.py": b"typed"})
    assert snapshot.roots == (web, core)
    assert set(snapshot.files) == {web / "mod.py", core / "mod.py"}
    async with mirror.lease(snapshot, {core / "new.py": b""}) as copy:
        assert (copy.copy_root / ".." / ".." / "libs" / "core" / "src" / "mod.py").read_text() == "typed"
        assert (copy.copy_root / "core.py").read_text() == "typed"
        assert os.readlink(copy.copy_root / "core.py") == "../../libs/core/src/mod.py"  # noqa: PTH115
        assert [user for user, _ in copy.roots] == sorted(snapshot.roots, key=lambda p: -len(p.parts))
        assert all((folder / "mod.py").exists() for _, folder in copy.roots)
        assert copy.copy_root == dict(copy.roots)[web]
        assert sorted(path.name for path in dict(copy.roots)[core].iterdir()) == ["mod.py", "new.py"]
    await mirror.close()


async def test_siblings_with_one_parent_are_side_by_side_and_may_come_later(
    tmp_path: Path, tree: Look
) -> None:
    work = tmp_path / "work"
    for name in ("a", "b"):
        (work / name).mkdir(parents=True)
        (work / name / "mod.py").write_text(name)
    mirror = ProjectMirror(Project(work / "a", work), cache=tmp_path / "cache")
    first = await mirror.sync({})
    async with mirror.lease(first, {}) as copy:
        assert {path.name for path in copy.copy_root.parent.iterdir()} == {"a"}
    assert mirror.add_roots([work / "b"])
    assert not mirror.add_roots([work / "b", work / "a", tmp_path])
    second = await mirror.sync({})
    assert second.generation > first.generation
    async with mirror.lease(second, {}) as copy:
        assert tree(copy.copy_root.parent) == tree(work)
    async with mirror.lease(first, {}) as copy:
        assert {path.name for path in copy.copy_root.parent.iterdir()} == {"a"}
    await mirror.close()


async def test_a_root_that_holds_the_project_is_mirrored_as_a_whole(tmp_path: Path, tree: Look) -> None:
    work = tmp_path / "work"
    (work / "pkg" / "tests").mkdir(parents=True)
    (work / "helper.py").write_text("1")
    (work / "pkg" / "mod.py").write_text("2")
    mirror = ProjectMirror(Project(work / "pkg", work), extra_roots=[work], cache=tmp_path / "cache")
    snapshot = await mirror.sync({})
    async with mirror.lease(snapshot, {}) as copy:
        assert copy.roots == ((work / "pkg", copy.copy_root), (work, copy.copy_root.parent))
        assert tree(copy.copy_root.parent) == tree(work)
    await mirror.close()


def test_a_whole_disk_is_not_a_project() -> None:
    with pytest.raises(UsageError):
        ProjectMirror(Project(Path(os.sep), Path(os.sep)))


async def test_mirrors_are_listed_and_cleared_but_not_while_in_use(
    mirror: ProjectMirror, root: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    async with mirror.lease(await mirror.sync({}), {}):
        pass
    (info,) = places.list_mirrors(cache)
    assert (info.folder, info.project, info.in_use) == (mirror.folder, root, True)
    assert info.size > 2 * sum(entry.size for entry in (await mirror.sync({})).files.values())
    assert places.clear_mirrors(cache) == ()
    await mirror.close()
    assert not places.list_mirrors(cache)[0].in_use
    assert places.clear_mirrors(cache, project=tmp_path / "other") == ()
    assert [removed.folder for removed in places.clear_mirrors(cache, project=root)] == [mirror.folder]
    assert not mirror.folder.exists()


async def test_mirrors_unused_for_thirty_days_are_removed_when_another_opens(
    mirror: ProjectMirror, tmp_path: Path
) -> None:
    folders = {}
    for days in (29, 31):
        old = tmp_path / f"old{days}"
        old.mkdir()
        (old / "a.py").touch()
        other = ProjectMirror(Project(old, old), cache=tmp_path / "cache")
        await other.sync({})
        await other.close()
        used = time.time() - days * 24 * 3600
        os.utime(other.folder / places.ABOUT, (used, used))
        folders[days] = other.folder
    await mirror.sync({})
    assert folders[29].exists()
    assert not folders[31].exists()
    assert json.loads((mirror.folder / places.ABOUT).read_text())["project"]


async def test_everything_in_the_cache_is_private_to_the_user(mirror: ProjectMirror) -> None:
    async with mirror.lease(await mirror.sync({}), {}) as copy:
        for folder in (mirror.folder, mirror.folder / "blobs", copy.copy_root.parent, copy.copy_temp):
            assert folder.stat().st_mode & 0o077 == 0


async def test_contents_that_nothing_names_go_after_a_week(
    mirror: ProjectMirror, root: Path, tmp_path: Path
) -> None:
    path = root / "shop" / "cart.py"
    for text in (b"one", b"two", b"three"):
        path.write_bytes(text)
        snapshot = await mirror.sync({})
    await mirror.close()
    for blob in (mirror.folder / "blobs").rglob("*"):
        os.utime(blob, (0, 0))
    (mirror.folder / "tidied").unlink()
    again = ProjectMirror(Project(root, root), cache=tmp_path / "cache")
    await again.sync({})
    left = {blob.name for blob in (mirror.folder / "blobs").rglob("*") if blob.is_file()}
    assert left == {entry.digest for entry in snapshot.files.values()}
    await again.close()
