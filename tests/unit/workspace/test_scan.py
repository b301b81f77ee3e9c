"""What belongs into the copy, and what becomes of links."""

from __future__ import annotations

import os
import socket
import venv
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regreen.values import Project
from regreen.workspace import scan
from regreen.workspace.mirror import ProjectMirror

Tree = dict[str, tuple[str, object, int]]
Look = Callable[[Path], Tree]


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.fsencode(name))


async def names_in_copy(mirror: ProjectMirror) -> set[str]:
    snapshot = await mirror.sync({})
    async with mirror.lease(snapshot, {}) as copy:
        return {
            path.relative_to(copy.copy_root).as_posix()
            for path in copy.copy_root.rglob("*")
            if path.is_symlink() or not path.is_dir()
        }


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    folder = tmp_path / "work" / "bare"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def bare_mirror(bare: Path, tmp_path: Path) -> ProjectMirror:
    return ProjectMirror(Project(bare, bare.parent), cache=tmp_path / "cache", max_file_bytes=5000)


async def test_git_caches_and_foreign_packages_are_left_out(bare: Path, bare_mirror: ProjectMirror) -> None:
    write(
        bare,
        *(".git/config", "sub/.git", "a/__pycache__/a.pyc", ".pytest_cache/v", ".mypy_cache/x", ".tox/py/x"),
        *(".nox/x", ".ruff_cache/x", ".hypothesis/x", "web/node_modules/left/index.js", "kept.py"),
    )
    assert await names_in_copy(bare_mirror) == {"kept.py"}


async def test_what_git_ignores_is_copied(bare: Path, bare_mirror: ProjectMirror) -> None:
    inputs = {".env", "settings_local.py", "build/lib/fast.cpython-311-x86_64-linux-gnu.so", "dist/data.json"}
    inputs |= {
        "env/prod.ini",
        "venv/notes.txt",
        "bin/run",
        "lib/python3.11/x.py",
        "cache/data",
        "_version.py",
    }
    write(bare, ".gitignore", *inputs)
    (bare / ".gitignore").write_text("*\n")
    assert await names_in_copy(bare_mirror) == {".gitignore", *inputs}


async def test_environments_are_known_by_what_they_hold(
    bare: Path, bare_mirror: ProjectMirror, tmp_path: Path
) -> None:
    write(bare, "odd name/pyvenv.cfg", "odd name/lib/x.py", "tools/conda/conda-meta/history", "kept.py")
    venv.create(tmp_path / "elsewhere", with_pip=False)
    (bare / ".venv").symlink_to(tmp_path / "elsewhere")
    (bare / "inner").symlink_to("odd name")
    assert await names_in_copy(bare_mirror) == {"kept.py"}


async def test_an_environment_made_in_the_root_itself_hides_only_its_installed_part(
    bare: Path, bare_mirror: ProjectMirror
) -> None:
    venv.create(bare, with_pip=False)
    write(bare, "shop/lib/python3/kept.py", "lib/own.py", "tests/test_a.py")
    assert await names_in_copy(bare_mirror) == {
        "pyvenv.cfg",
        "shop/lib/python3/kept.py",
        "lib/own.py",
        "tests/test_a.py",
    }


async def test_folders_tagged_as_caches_are_left_out(bare: Path, bare_mirror: ProjectMirror) -> None:
    write(bare, "target/huge.o", "data/CACHEDIR.TAG", "data/kept")
    (bare / "target" / "CACHEDIR.TAG").write_bytes(b"Signature: 8a477f597d28d172789f06886806bc55\n# cargo")
    assert await names_in_copy(bare_mirror) == {"data/CACHEDIR.TAG", "data/kept"}


async def test_the_link_zoo(bare: Path, bare_mirror: ProjectMirror, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    write(outside, "file.txt", "folder/deep.txt", "other.txt")
    write(outside, "big.bin")
    (outside / "big.bin").write_bytes(b"x" * 6000)
    write(bare, "real.txt", "pkg/mod.py", "node_modules/m/i.js")
    (bare / "big.bin").write_bytes(b"x" * 6000)
    links = {
        "pkg/up.txt": "../real.txt",
        "absolute.txt": str(bare / "real.txt"),
        "folder": "pkg",
        "pkg/self": "../pkg",
        "chain": "pkg/up.txt",
        "out.txt": "../../outside/file.txt",
        "out_absolute.txt": str(outside / "other.txt"),
        "out_folder": "../../outside/folder",
        "out_chain": "out_folder/deep.txt",
        "out_big": str(outside / "big.bin"),
        "in_big": "big.bin",
        "module": "node_modules/m",
        "loop_a": "loop_b",
        "loop_b": "loop_a",
        "broken": "nowhere",
        "broken_outside": "../nowhere",
    }
    for name, target in links.items():
        (bare / name).symlink_to(target)
    snapshot = await bare_mirror.sync({})
    async with bare_mirror.lease(snapshot, {}) as copy:
        found = {name: copy.copy_root / name for name in links}
        texts = {name: os.readlink(path) for name, path in found.items() if path.is_symlink()}  # noqa: PTH115
        assert texts == {
            "pkg/up.txt": "../real.txt",
            "absolute.txt": "real.txt",
            "folder": "pkg",
            "pkg/self": ".",
            "chain": "pkg/up.txt",
            "out_folder": str(outside / "folder"),
            "module": str(bare / "node_modules" / "m"),
            "loop_a": "loop_b",
            "loop_b": "loop_a",
            "broken": "nowhere",
            "broken_outside": str(bare.parent / "nowhere"),
        }
        assert found["out.txt"].read_bytes() == b"file.txt"  # a copy: writing to it harms nobody
        assert found["out_absolute.txt"].read_bytes() == b"other.txt"
        assert found["out_chain"].read_bytes() == b"folder/deep.txt"
        for name, path in found.items():
            if name not in texts:
                assert path.exists() == (name not in {"out_big", "in_big"})
    assert {out.path.name for out in bare_mirror.left_out} == {"big.bin", "out_big"}


async def test_a_change_behind_a_link_that_leaves_the_tree_is_seen(
    bare: Path, bare_mirror: ProjectMirror, tmp_path: Path
) -> None:
    write(tmp_path, "shared.py")
    (bare / "shared.py").symlink_to(tmp_path / "shared.py")
    await bare_mirror.sync({})
    (tmp_path / "shared.py").write_bytes(b"new")
    assert await bare_mirror.read(await bare_mirror.sync({}), bare / "shared.py") == b"new"


async def test_a_patch_through_a_link_lands_in_the_copy_of_what_it_names(
    bare: Path, bare_mirror: ProjectMirror, tmp_path: Path
) -> None:
    write(bare, "src/pkg/mod.py")
    write(tmp_path, "outside/far.py")
    (bare / "pkg").symlink_to("src/pkg")
    (bare / "out").symlink_to(tmp_path / "outside")
    snapshot = await bare_mirror.sync({bare / "pkg" / "mod.py": b"typed"})
    assert await bare_mirror.read(snapshot, bare / "src" / "pkg" / "mod.py") == b"typed"
    async with bare_mirror.lease(snapshot, {bare / "pkg" / "mod.py": b"patched"}) as copy:
        assert (copy.copy_root / "src" / "pkg" / "mod.py").read_bytes() == b"patched"
    with pytest.raises(ValueError, match="outside"):
        async with bare_mirror.lease(snapshot, {bare / "out" / "far.py": b"patched"}):
            pass
    assert (tmp_path / "outside" / "far.py").read_bytes() == b"outside/far.py"


async def test_unsaved_text_of_what_is_not_copied_is_not_part_of_the_snapshot(
    bare: Path, bare_mirror: ProjectMirror, tmp_path: Path
) -> None:
    write(bare, "a.py", "envdir/pyvenv.cfg", "envdir/lib/x.py")
    unsaved = {
        bare / "envdir" / "lib" / "x.py": b"1",
        bare / ".git" / "config": b"2",
        bare / "new" / "node_modules" / "x.js": b"3",
        tmp_path / "else.py": b"4",
        bare / "new" / "deep" / "fresh.py": b"5",
    }
    snapshot = await bare_mirror.sync(unsaved)
    assert set(snapshot.files) == {bare / "a.py", bare / "new" / "deep" / "fresh.py"}
    async with bare_mirror.lease(snapshot, {}) as copy:
        assert (copy.copy_root / "new" / "deep" / "fresh.py").read_bytes() == b"5"


async def test_special_files_are_left_out_and_said(bare: Path, bare_mirror: ProjectMirror) -> None:
    write(bare, "kept.py")
    os.mkfifo(bare / "pipe")
    (bare / "to_pipe").symlink_to("pipe")
    (bare / "null").symlink_to("/dev/null")
    with socket.socket(socket.AF_UNIX) as server:
        here = os.open(bare, os.O_RDONLY)
        server.bind(f"/proc/self/fd/{here}/socket")
        os.close(here)
        assert await names_in_copy(bare_mirror) == {"kept.py", "to_pipe"}
    assert {(out.path.name, out.reason) for out in bare_mirror.left_out} == {
        ("pipe", "not a file"),
        ("socket", "not a file"),
        ("null", "not a file"),
    }


async def test_regreens_own_cache_inside_the_project_is_not_copied(bare: Path) -> None:
    write(bare, "a.py")
    mirror = ProjectMirror(Project(bare, bare), cache=bare / ".cache" / "regreen")
    assert await names_in_copy(mirror) == {"a.py"}
    assert await names_in_copy(mirror) == {"a.py"}
    await mirror.close()


async def test_names_that_are_not_utf8_survive(bare: Path, bare_mirror: ProjectMirror, tree: Look) -> None:
    write(bare, os.fsdecode(b"caf\xe9.txt"))
    for _ in range(2):
        snapshot = await bare_mirror.sync({})
        async with bare_mirror.lease(snapshot, {}) as copy:
            assert tree(copy.copy_root) == tree(bare)
        await bare_mirror.close()


async def test_very_deep_folders_are_no_problem(bare: Path, bare_mirror: ProjectMirror, tree: Look) -> None:
    here = bare
    for _ in range(150):
        here /= "deep"
    write(here, "end.py")
    snapshot = await bare_mirror.sync({})
    async with bare_mirror.lease(snapshot, {}) as copy:
        assert tree(copy.copy_root) == tree(bare)


@given(st.lists(st.lists(st.sampled_from(["a", "b", "ab"]), max_size=3), min_size=1, max_size=5))
def test_tops_cover_every_root_and_none_contains_another(parts: list[list[str]]) -> None:
    roots = [str(Path(os.sep, *part)) for part in parts]
    tops = scan.tops(roots)
    assert all(any(scan.is_below(root, top) for top in tops) for root in roots)
    assert not any(scan.is_below(one, other) for one in tops for other in tops if one is not other)


@pytest.mark.parametrize(
    ("size", "text"), [(12, "12 bytes"), (2000, "2 kB"), (50e6, "50 MB"), (2.345e9, "2.35 GB")]
)
def test_sizes_read_well(size: float, text: str) -> None:
    assert scan.readable(size) == text
