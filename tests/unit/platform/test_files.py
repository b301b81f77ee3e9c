from __future__ import annotations

import ctypes
import errno
import importlib
import os
import shutil
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from regreen.platform import files


@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600, 0o664])
def test_an_atomic_write_keeps_the_mode(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "a.py"
    path.write_text("old")
    path.chmod(mode)
    files.write_atomic(path, b"new\r\n")
    assert path.read_bytes() == b"new\r\n"
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_gets_what_the_umask_leaves(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        files.write_atomic(tmp_path / "a", b"")
        assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)


def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "sub" / "real.py"
    target.parent.mkdir()
    target.write_text("old")
    link = tmp_path / "link.py"
    link.symlink_to("sub/real.py")
    files.write_atomic(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_read_only_file_is_refused_and_untouched(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match="read-only"):
        files.write_atomic(path, b"new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_reader_never_sees_half_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with path.open("rb") as reader:
        files.write_atomic(path, b"new and longer")
        assert reader.read() == b"old"
    assert path.read_bytes() == b"new and longer"


def test_a_failed_write_leaves_the_old_file_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def full(fd: int) -> None:
        raise OSError(errno.ENOSPC, "disk full")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="disk full"):
        files.write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("refusals", [2, 100])
def test_windows_tries_again_while_someone_looks_at_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusals: int
) -> None:
    real, asked = Path.replace, []

    def replace(self: Path, target: Path) -> Path:
        asked.append(target)
        if len(asked) <= refusals:
            raise PermissionError(13, "in use")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    monkeypatch.setattr(files, "WINDOWS", True)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    path = tmp_path / "a"
    if refusals < 10:
        files.write_atomic(path, b"new")
        assert path.read_bytes() == b"new"
    else:
        with pytest.raises(PermissionError):
            files.write_atomic(path, b"new")
        assert list(tmp_path.iterdir()) == []


def make_source(tmp_path: Path) -> Path:
    source = tmp_path / "source"
    source.write_bytes(os.urandom(3_000_000))
    source.chmod(0o750)
    os.utime(source, ns=(1_000_000_000, 1_234_567_890_123_456_789))
    return source


def pretend_linux(monkeypatch: pytest.MonkeyPatch, ioctl: Callable[[int, int, int], int]) -> None:
    modules = {"fcntl": SimpleNamespace(ioctl=ioctl)}
    monkeypatch.setattr(files, "LINUX", True)
    monkeypatch.setattr(importlib, "import_module", modules.__getitem__)


def assert_same(source: Path, target: Path) -> None:
    assert target.read_bytes() == source.read_bytes()
    assert stat.S_IMODE(target.stat().st_mode) == 0o750
    assert target.stat().st_mtime_ns == source.stat().st_mtime_ns
    assert target.stat().st_ino != source.stat().st_ino


def test_a_clone_has_the_bytes_the_bits_and_the_times_and_is_no_hard_link(tmp_path: Path) -> None:
    source = make_source(tmp_path)
    files.clone_file(source, tmp_path / "target")
    assert_same(source, tmp_path / "target")
    with (tmp_path / "target").open("r+b") as stream:
        stream.write(b"changed")
    assert source.read_bytes()[:7] != b"changed"


@pytest.mark.parametrize("code", sorted(files.CANNOT_CLONE))
def test_linux_copies_where_blocks_cannot_be_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def ioctl(target: int, request: int, source: int) -> int:
        assert request == 0x40049409
        raise OSError(code, "no")

    pretend_linux(monkeypatch, ioctl)
    source = make_source(tmp_path)
    assert files.clone_file(source, tmp_path / "target") is False
    assert_same(source, tmp_path / "target")


def test_linux_shares_blocks_where_it_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def ioctl(target: int, request: int, source: int) -> int:
        os.write(target, os.read(source, 10_000_000))  # what the kernel does, without the work
        return 0

    pretend_linux(monkeypatch, ioctl)
    source = make_source(tmp_path)
    assert files.clone_file(source, tmp_path / "target") is True
    assert_same(source, tmp_path / "target")


def test_a_real_error_is_raised_and_leaves_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def ioctl(target: int, request: int, source: int) -> int:
        raise OSError(errno.EIO, "broken disk")

    pretend_linux(monkeypatch, ioctl)
    with pytest.raises(OSError, match="broken disk"):
        files.clone_file(make_source(tmp_path), tmp_path / "target")
    assert not (tmp_path / "target").exists()


class LibSystem:
    def __init__(self, code: int = 0) -> None:
        self.code = code

    def clonefile(self, source: bytes, target: bytes, flags: int) -> int:
        assert flags == 0
        if self.code:
            ctypes.set_errno(self.code)
            return -1
        shutil.copy2(source, target)
        return 0


@pytest.mark.parametrize(("code", "shared"), [(0, True), (errno.EXDEV, False), (errno.EOPNOTSUPP, False)])
def test_macos_clones_and_falls_back_to_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, shared: bool
) -> None:
    monkeypatch.setattr(files, "MACOS", True)
    monkeypatch.setattr(files, "LINUX", False)
    monkeypatch.setattr(files, "_libsystem", lambda: LibSystem(code))
    source = make_source(tmp_path)
    assert files.clone_file(source, tmp_path / "target") is shared
    assert_same(source, tmp_path / "target")


def test_macos_says_what_went_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MACOS", True)
    monkeypatch.setattr(files, "_libsystem", lambda: LibSystem(errno.ENOSPC))
    with pytest.raises(OSError, match="No space"):
        files.clone_file(make_source(tmp_path), tmp_path / "target")


def test_windows_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LINUX", False)
    monkeypatch.setattr(files, "MACOS", False)
    source = make_source(tmp_path)
    assert files.clone_file(source, tmp_path / "target") is False
    assert_same(source, tmp_path / "target")


def test_an_existing_target_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("mine")
    with pytest.raises(FileExistsError):
        files.clone_file(make_source(tmp_path), tmp_path / "target")
    assert (tmp_path / "target").read_text() == "mine"


def test_the_file_of_a_link_is_copied_not_the_link(tmp_path: Path) -> None:
    source = make_source(tmp_path)
    link: Any = tmp_path / "link"
    link.symlink_to(source)
    files.clone_file(link, tmp_path / "target")
    assert not (tmp_path / "target").is_symlink()
    assert_same(source, tmp_path / "target")


def test_the_systems_are_told_apart() -> None:
    assert sum((files.LINUX, files.MACOS, files.WINDOWS)) == (sys.platform in ("linux", "darwin", "win32"))
