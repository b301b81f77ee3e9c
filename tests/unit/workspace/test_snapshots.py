"""A snapshot is what was on disk at that moment, however little of it was read again."""

from __future__ import annotations

import asyncio
import hashlib
import io
import os
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regreen.values import Project
from regreen.workspace import blobs as blobs_module
from regreen.workspace.blobs import CHUNK, Blobs, Index, Known, digest_of, read_file
from regreen.workspace.mirror import ProjectMirror
from regreen.workspace.scan import stamp

NAMES = ("a.py", "b.txt", "pkg/c.py", "pkg/d/e.py", "pkg")
changes = st.lists(
    st.tuples(
        st.sampled_from(("write", "same size and time", "remove", "rename", "chmod", "touch")),
        st.sampled_from(NAMES),
        st.sampled_from(NAMES),
        st.binary(min_size=1, max_size=3),
    ),
    max_size=5,
)


def change(root: Path, kind: str, name: str, other: str, data: bytes) -> None:
    path = root / name
    try:
        if kind == "write":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        elif kind == "same size and time":
            status = path.stat()
            path.write_bytes(data[:1] * status.st_size)
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        elif kind == "remove":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        elif kind == "rename":
            path.rename(root / other)
        elif kind == "chmod":
            path.chmod(0o700 | data[0])
        else:
            os.utime(path)
    except OSError:
        return


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rounds=st.lists(changes, min_size=1, max_size=5))
def test_every_sync_equals_what_is_on_disk(
    rounds: list[list[tuple[str, str, str, bytes]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    top = tmp_path_factory.mktemp("sync")
    root = top / "proj"
    (root / "pkg").mkdir(parents=True)

    async def check() -> None:
        mirror = ProjectMirror(Project(root, root), cache=top / "cache")
        generations = [0]
        for batch in rounds:
            for step in batch:
                change(root, *step)
            snapshot = await mirror.sync({})
            files = {path for path in root.rglob("*") if path.is_file()}
            assert set(snapshot.files) == files
            for path in files:
                entry = snapshot.files[path]
                assert entry.digest == hashlib.sha256(path.read_bytes()).hexdigest()
                assert (entry.size, entry.mode) == (path.stat().st_size, path.stat().st_mode & 0o777)
                assert await mirror.read(snapshot, path) == path.read_bytes()
            assert set(snapshot.folders) == {root, *(path for path in root.rglob("*") if path.is_dir())}
            assert snapshot.generation >= generations[-1]
            generations.append(snapshot.generation)
        await mirror.close()

    asyncio.run(check())
    shutil.rmtree(top)


async def test_unchanged_files_are_not_read_again_even_after_a_restart(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def spy(path: str, blobs: Blobs) -> Known:
        read.append(Path(path).name)
        return read_file(path, blobs)

    monkeypatch.setattr(blobs_module, "read_file", spy)
    monkeypatch.setattr(blobs_module, "RACY_NS", -(10**18))  # nothing here changes twice within a tick
    mirror = ProjectMirror(Project(root, root), cache=tmp_path / "cache")
    first = await mirror.sync({})
    assert sorted(read) == ["__init__.py", "cart.py", "test_cart.py"]
    read.clear()
    assert await mirror.sync({}) is first
    await mirror.close()
    mirror = ProjectMirror(Project(root, root), cache=tmp_path / "cache")
    assert (await mirror.sync({})).files == first.files
    assert read == []
    (root / "shop" / "cart.py").write_bytes(b"new")
    await mirror.sync({})
    assert read == ["cart.py"]
    await mirror.close()


def test_a_file_changed_a_moment_ago_is_read_again_until_two_seconds_have_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blobs, index = Blobs(tmp_path / "blobs"), Index(tmp_path / "index.json")
    path = tmp_path / "a.py"
    path.write_bytes(b"1")
    os.utime(path, ns=(0, 0))  # as unpacking an archive does
    now = stamp(path.stat())
    assert index.digest(str(path), now, blobs) == digest_of(b"1")
    assert index.known[str(path)].racy
    index.known[str(path)] = Known(now, digest_of(b"wrong"), racy=True)
    assert index.digest(str(path), now, blobs) == digest_of(b"1")
    later = time.time_ns() + 3 * 10**9
    monkeypatch.setattr(time, "time_ns", lambda: later)
    assert index.digest(str(path), now, blobs) == digest_of(b"1")
    assert not index.known[str(path)].racy


def test_a_file_from_the_future_is_always_read_again(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"1")
    os.utime(path, ns=(0, time.time_ns() + 10**15))
    assert read_file(str(path), Blobs(tmp_path / "blobs")).racy


def test_a_file_that_grows_while_it_is_read_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"1")

    class Growing(Blobs):
        reads = 0

        def put_stream(self, stream: io.BufferedReader) -> str:  # type: ignore[override]
            digest = super().put_stream(stream)
            self.reads += 1
            if self.reads == 1:
                path.write_bytes(b"22")
            return digest

    blobs = Growing(tmp_path / "blobs")
    assert read_file(str(path), blobs).digest == digest_of(b"22")
    assert blobs.reads == 2


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK])
def test_contents_are_kept_once_whatever_their_size(tmp_path: Path, size: int) -> None:
    blobs = Blobs(tmp_path / "blobs")
    data = os.urandom(size)
    digest = digest_of(data)
    assert not blobs.has(digest)
    for _ in range(2):
        assert blobs.put_stream(io.BytesIO(data)) == digest
        assert blobs.put(data) == digest
    assert blobs.read(digest) == data
    assert [path.name for path in (tmp_path / "blobs").rglob("*") if path.is_file()] == [digest]


def test_an_index_forgets_files_that_are_gone_and_saves_only_news(tmp_path: Path) -> None:
    blobs, index = Blobs(tmp_path / "blobs"), Index(tmp_path / "index.json")
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
        index.digest(str(tmp_path / name), stamp((tmp_path / name).stat()), blobs)
    index.save()
    written = index.file.stat().st_ino
    index.forget({str(tmp_path / "a"), str(tmp_path / "b")})
    index.save()
    assert index.file.stat().st_ino == written
    index.forget({str(tmp_path / "a")})
    index.save()
    again = Index(index.file)
    again.load()
    assert again.known == index.known
    assert list(again.known) == [str(tmp_path / "a")]
