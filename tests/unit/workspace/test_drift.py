"""Whatever a run did to its copy, the next lease holds the snapshot again, byte for byte."""

from __future__ import annotations

import asyncio
import os
import py_compile
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regreen.values import Project, Snapshot
from regreen.workspace.mirror import ProjectMirror
from regreen.workspace.places import disk_size

Tree = dict[str, tuple[str, object, int]]
Look = Callable[[Path], Tree]
CopyOf = Callable[[Snapshot], Awaitable[Tree]]

PATHS = (
    "a.py",
    "b.txt",
    "pkg",
    "pkg/c.py",
    "pkg/deep",
    "pkg/deep/d.py",
    "link",
    "ghost",
    "pkg/ghost/x",
    "..up",
)
PATCHES: tuple[dict[str, bytes], ...] = (
    {},
    {"a.py": b"patched"},
    {"new/far/e.py": b"e"},
    {"pkg/ghost": b"file"},
    {"link": b"through"},
)

actions = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(PATHS), st.binary(max_size=4)),
    st.tuples(st.just("same size"), st.sampled_from(PATHS), st.none()),
    st.tuples(st.just("append"), st.sampled_from(PATHS), st.binary(max_size=4)),
    st.tuples(st.just("remove"), st.sampled_from(PATHS), st.none()),
    st.tuples(st.just("rename"), st.sampled_from(PATHS), st.sampled_from(PATHS)),
    st.tuples(st.just("chmod"), st.sampled_from(PATHS), st.sampled_from((0o000, 0o400, 0o555, 0o777))),
    st.tuples(st.just("folder"), st.sampled_from(PATHS), st.none()),
    st.tuples(st.just("link"), st.sampled_from(PATHS), st.sampled_from((*PATHS, "/etc", "loop"))),
    st.tuples(st.just("hard link"), st.sampled_from(PATHS), st.sampled_from(PATHS)),
)


def do(copy: Path, kind: str, name: str, more: object) -> None:
    """What a badly behaved test may do; what the system refuses is no harm done."""
    path = copy / name
    try:
        if kind == "write":
            path.write_bytes(bytes(more))  # type: ignore[call-overload]
        elif kind == "same size":
            status = path.stat()
            path.write_bytes(b"?" * status.st_size)
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        elif kind == "append":
            with path.open("ab") as stream:
                stream.write(bytes(more))  # type: ignore[call-overload]
        elif kind == "remove":
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        elif kind == "rename":
            path.rename(copy / str(more))
        elif kind == "chmod":
            path.chmod(int(str(more)))
        elif kind == "folder":
            path.mkdir(parents=True)
        elif kind == "link":
            path.symlink_to(str(more))
        else:
            path.hardlink_to(copy / str(more))
    except OSError:
        return


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rounds=st.lists(
        st.tuples(st.sampled_from(PATCHES), st.lists(actions, max_size=8)), min_size=1, max_size=3
    )
)
def test_after_any_damage_the_next_lease_equals_the_snapshot(
    rounds: list[tuple[dict[str, bytes], list[tuple[str, str, object]]]],
    tmp_path_factory: pytest.TempPathFactory,
    tree: Look,
) -> None:
    top = tmp_path_factory.mktemp("drift")
    root = top / "proj"
    (root / "pkg" / "deep").mkdir(parents=True)
    for name in ("a.py", "b.txt", "pkg/c.py", "pkg/deep/d.py"):
        (root / name).write_bytes(name.encode())
    (root / "link").symlink_to("pkg/c.py")

    async def check() -> None:
        mirror = ProjectMirror(Project(root, root), cache=top / "cache")
        snapshot = await mirror.sync({})
        for patch, damage in rounds:
            async with mirror.lease(snapshot, {root / name: data for name, data in patch.items()}) as copy:
                for name, data in patch.items():
                    assert (copy.copy_root / name).read_bytes() == data
                for kind, path, more in damage:
                    do(copy.copy_root, kind, path, more)
        async with mirror.lease(snapshot, {}) as copy:
            assert tree(copy.copy_root) == tree(root)
            assert {entry.name for entry in copy.copy_root.parent.iterdir()} == {"proj"}
        await mirror.close()

    asyncio.run(check())
    shutil.rmtree(top)


def dig(folder: Path, depth: int, name: str) -> None:
    """Make a chain of folders as no path could name it."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=here)
        below = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("bottom", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


async def test_folders_too_deep_for_a_path_or_for_our_stack_are_removed(
    mirror: ProjectMirror, root: Path, tree: Look
) -> None:
    snapshot = await mirror.sync({})
    async with mirror.lease(snapshot, {}) as copy:
        dig(copy.copy_root, 30, "x" * 200)
        (copy.copy_root / "1.raised").mkdir()
        dig(copy.copy_temp, 1050, "d")
        assert disk_size(mirror.folder) > 0
    async with mirror.lease(snapshot, {}) as copy:
        assert tree(copy.copy_root) == tree(root)
        assert list(copy.copy_temp.iterdir()) == []


def python(code: str, folder: Path) -> bytes:
    """Run some code there as a project's tests would run, bytecode included; what it printed."""
    environment = {key: text for key, text in os.environ.items() if not key.startswith("PYTHON")}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=folder, check=True, env=environment, stdout=subprocess.PIPE).stdout


def compiled(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*.pyc"))


async def test_bytecode_of_unpatched_text_is_kept_and_used(mirror: ProjectMirror, root: Path) -> None:
    snapshot = await mirror.sync({})
    async with mirror.lease(snapshot, {}) as copy:
        python("import shop.cart", copy.copy_root)
        made = compiled(copy.copy_root)
        assert len(made) == 2
    async with mirror.lease(snapshot, {}) as copy:
        assert compiled(copy.copy_root) == made


async def test_bytecode_of_a_run_with_a_patch_is_dropped(mirror: ProjectMirror, root: Path) -> None:
    snapshot = await mirror.sync({})
    async with mirror.lease(snapshot, {root / "shop" / "cart.py": b"patched = 1\n"}) as copy:
        python("import shop.cart", copy.copy_root)
        assert len(compiled(copy.copy_root)) == 2
    async with mirror.lease(snapshot, {}) as copy:
        assert compiled(copy.copy_root) == []


async def test_bytecode_of_a_run_that_was_cut_short_is_dropped(mirror: ProjectMirror, root: Path) -> None:
    snapshot = await mirror.sync({})

    async def fail() -> None:
        async with mirror.lease(snapshot, {}) as copy:
            py_compile.compile(str(copy.copy_root / "shop" / "cart.py"))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fail()
    async with mirror.lease(snapshot, {}) as copy:
        assert compiled(copy.copy_root) == []


async def test_bytecode_goes_when_its_source_changes_even_at_the_same_size_and_time(
    mirror: ProjectMirror, root: Path
) -> None:
    path = root / "shop" / "cart.py"
    ask = "from shop.cart import total; print(total())"
    snapshot = await mirror.sync({})
    async with mirror.lease(snapshot, {}) as copy:
        python(ask, copy.copy_root)
    times = path.stat()
    path.write_bytes(path.read_bytes().replace(b"1", b"2"))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    changed = await mirror.sync({})
    for wanted, answer in ((changed, b"2\n"), (snapshot, b"1\n"), (changed, b"2\n")):
        async with mirror.lease(wanted, {}) as copy:
            assert python(ask, copy.copy_root) == answer


@pytest.mark.parametrize("patched", [True, False])
async def test_bytecode_that_was_recorded_and_then_rewritten_is_not_believed(
    mirror: ProjectMirror, root: Path, patched: bool
) -> None:
    snapshot = await mirror.sync({})
    for _ in range(2):
        async with mirror.lease(snapshot, {}) as copy:
            python("import shop.cart", copy.copy_root)
    async with mirror.lease(snapshot, {root / "tests" / "t.py": b""} if patched else {}) as copy:
        (victim,) = copy.copy_root.glob("shop/__pycache__/cart.*.pyc")
        status = victim.stat()
        victim.write_bytes(b"\0" * status.st_size)
        os.utime(victim, ns=(status.st_atime_ns, status.st_mtime_ns))
    async with mirror.lease(snapshot, {}) as copy:
        assert compiled(copy.copy_root) == [name for name in compiled(copy.copy_root) if "__init__" in name]
        assert len(compiled(copy.copy_root)) == 1


async def test_only_bytecode_of_existing_sources_is_kept(mirror: ProjectMirror, root: Path) -> None:
    snapshot = await mirror.sync({})
    async with mirror.lease(snapshot, {}) as copy:
        caches = copy.copy_root / "shop" / "__pycache__"
        caches.mkdir()
        for name in ("ghost.cpython-311.pyc", "cart.pyc", "notes.txt", "cart.cpython-311-pytest-8.3.4.pyc"):
            (caches / name).write_bytes(b"")
        (caches / "folder").mkdir()
        (copy.copy_root / "sourceless.pyc").write_bytes(b"")
    async with mirror.lease(snapshot, {}) as copy:
        assert compiled(copy.copy_root) == ["cart.cpython-311-pytest-8.3.4.pyc"]
        assert sorted(path.name for path in caches.iterdir()) == ["cart.cpython-311-pytest-8.3.4.pyc"]


async def test_a_fresh_copy_is_new_and_gone_afterwards(mirror: ProjectMirror, root: Path, tree: Look) -> None:
    snapshot = await mirror.sync({})
    async with mirror.lease(snapshot, {}) as first:
        py_compile.compile(str(first.copy_root / "shop" / "cart.py"))
    async with mirror.lease(snapshot, {}, fresh=True) as copy:
        assert copy.copy_root != first.copy_root
        assert copy.copy_root.name == root.name
        assert tree(copy.copy_root) == tree(root)
        assert compiled(copy.copy_root) == []
        (copy.copy_root / "shop").chmod(0o000)
    assert not copy.copy_root.parent.exists()
    assert not copy.copy_temp.exists()
    assert list(mirror.folder.glob("fresh-*")) == []


async def test_a_restarted_regreen_finds_the_damage_done_before(
    mirror: ProjectMirror, root: Path, tmp_path: Path, tree: Look
) -> None:
    snapshot = await mirror.sync({})
    async with mirror.lease(snapshot, {}) as copy:
        pass
    await mirror.close()
    status = (copy.copy_root / "shop" / "cart.py").stat()
    (copy.copy_root / "shop" / "cart.py").write_bytes(b"x" * status.st_size)
    os.utime(copy.copy_root / "shop" / "cart.py", ns=(status.st_atime_ns, status.st_mtime_ns))
    kept = (copy.copy_root / "tests" / "test_cart.py").stat().st_ino
    again = ProjectMirror(Project(root, root), cache=tmp_path / "cache")
    async with again.lease(await again.sync({}), {}) as second:
        assert second.copy_root == copy.copy_root
        assert tree(second.copy_root) == tree(root)
        assert (second.copy_root / "tests" / "test_cart.py").stat().st_ino == kept  # what was right stayed
    await again.close()


@pytest.mark.parametrize("file", ["index.json", "1.json"])
@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"files": [], "laid": 1}', '{"files": {"a": 1}, "laid": {"a": []}}']
)
async def test_a_damaged_memory_only_costs_time(
    mirror: ProjectMirror, root: Path, tmp_path: Path, tree: Look, file: str, text: str
) -> None:
    async with mirror.lease(await mirror.sync({}), {}):
        pass
    await mirror.close()
    (mirror.folder / file).write_text(text)
    again = ProjectMirror(Project(root, root), cache=tmp_path / "cache")
    async with again.lease(await again.sync({}), {}) as copy:
        assert tree(copy.copy_root) == tree(root)
    await again.close()
