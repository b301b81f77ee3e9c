"""Changes of sources are told once their content is new, whatever way of watching is in force."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from watchdog.events import FileClosedEvent, FileModifiedEvent
from watchdog.observers import Observer

from regreen.workspace import watch_plan
from regreen.workspace import watcher as watcher_module
from regreen.workspace.watcher import FolderWatcher, watched_events

PATIENCE = 20.0
NINE_P = "36 35 98:0 / / rw,noatime - 9p none rw\n"


class Told:
    """Collects what a watcher tells, and waits for it."""

    def __init__(self) -> None:
        self.paths: list[Path] = []
        self.arrived = threading.Condition()

    def __call__(self, path: Path) -> None:
        with self.arrived:
            self.paths.append(path)
            self.arrived.notify_all()

    def wait_for(self, *wanted: Path) -> None:
        with self.arrived:
            done = self.arrived.wait_for(lambda: set(wanted) <= set(self.paths), PATIENCE)
        assert done, f"{wanted} not in {self.paths}"


Start = Callable[..., tuple[FolderWatcher, Told]]


@pytest.fixture
def top(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    for name in ("shop/cart.py", "tests/test_cart.py", "setup.cfg", "web/node_modules/x/setup.py"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a = 1\n")
    return folder


@pytest.fixture(params=["native", "polling"])
def start(top: Path, request: pytest.FixtureRequest) -> Iterator[Start]:
    """Start a watcher, by the system's events or by looking around."""
    open_ones: list[FolderWatcher] = []

    def begin(**options: Any) -> tuple[FolderWatcher, Told]:
        told = Told()
        if request.param == "polling":
            options |= {"mounts": NINE_P, "poll_seconds": 0.02, "notice": lambda _: None}
        watcher = FolderWatcher(top, told, **options)
        open_ones.append(watcher)
        return watcher, told

    yield begin
    for watcher in open_ones:
        watcher.close()


def settle(top: Path, told: Told) -> list[Path]:
    """Everything told until a change made now is told, without that one."""
    sentinel = top / "shop" / f"sentinel{time.monotonic_ns()}.py"
    sentinel.write_text("s")
    told.wait_for(sentinel)
    return [path for path in told.paths if not path.name.startswith("sentinel")]


def in_place(path: Path) -> None:
    path.write_text("b = 2\n")


def aside_and_renamed(path: Path) -> None:
    aside = path.with_name(f".{path.name}.tmp")
    aside.write_text("b = 2\n")
    aside.replace(path)


def renamed_away_and_new(path: Path) -> None:
    path.rename(path.with_name(path.name + "~"))
    path.write_text("b = 2\n")
    path.with_name(path.name + "~").unlink()


def removed_and_new(path: Path) -> None:
    path.unlink()
    path.write_text("b = 2\n")


@pytest.mark.parametrize("save", [in_place, aside_and_renamed, renamed_away_and_new, removed_and_new])
def test_every_way_of_saving_is_told_and_nothing_else(
    top: Path, start: Start, save: Callable[[Path], None]
) -> None:
    _, told = start()
    save(top / "shop" / "cart.py")
    told.wait_for(top / "shop" / "cart.py")
    assert set(settle(top, told)) == {top / "shop" / "cart.py"}


def test_a_file_in_the_middle_of_being_saved_is_not_told_as_empty_or_gone(
    top: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watcher_module, "GONE_SECONDS", 1.0)
    _, told = start()
    path = top / "shop" / "cart.py"
    path.unlink()
    time.sleep(0.1)
    with path.open("w") as stream:
        time.sleep(0.1)
        stream.write("b = 2\n")
    told.wait_for(path)
    assert settle(top, told) == [path]


def test_a_folder_replaced_by_another_of_its_name_is_still_watched(top: Path, start: Start) -> None:
    _, told = start()
    for number in range(3):
        shutil.rmtree(top / "tests")
        (top / "tests").mkdir()
        (top / "tests" / "first.py").write_text(f"first{number}")
        told.wait_for(top / "tests" / "first.py")
        settle(top, told)
        told.paths.clear()
        (top / "tests" / "second.py").write_text(f"second{number}")
        told.wait_for(top / "tests" / "second.py")
        told.paths.clear()


def test_a_workspace_reached_through_a_link_is_told_by_the_name_it_was_opened_with(
    top: Path, tmp_path: Path
) -> None:
    (tmp_path / "named").symlink_to(top)
    told = Told()
    watcher = FolderWatcher(tmp_path / "named", told)
    watcher.expect(tmp_path / "named" / "setup.cfg", hashlib.sha256(b"fixed").hexdigest())
    for name, text in (("setup.cfg", "fixed"), ("shop/cart.py", "b")):
        (tmp_path / "aside").write_text(text)
        (tmp_path / "aside").replace(top / name)
    told.wait_for(tmp_path / "named" / "shop" / "cart.py")
    watcher.close()
    assert told.paths == [tmp_path / "named" / "shop" / "cart.py"]


def test_the_same_content_again_is_no_news(top: Path, start: Start) -> None:
    _, told = start()
    path = top / "shop" / "cart.py"
    aside_and_renamed(path)
    told.wait_for(path)
    os.utime(path)
    aside_and_renamed(path)
    with path.open("r+") as stream:
        stream.write("b")
    assert settle(top, told) == [path]


def test_what_we_write_ourselves_is_no_news_but_what_follows_is(top: Path, start: Start) -> None:
    watcher, told = start()
    path = top / "shop" / "cart.py"
    watcher.expect(path, hashlib.sha256(b"fixed").hexdigest())
    path.with_name("aside").write_bytes(b"fixed")
    path.with_name("aside").replace(path)
    assert settle(top, told) == []
    path.write_bytes(b"typed")
    told.wait_for(path)


def test_new_removed_and_renamed_files_are_told(top: Path, start: Start) -> None:
    _, told = start()
    new, old, renamed = top / "tests" / "test_new.py", top / "shop" / "cart.py", top / "shop" / "basket.py"
    new.write_text("n")
    told.wait_for(new)
    old.rename(renamed)
    told.wait_for(old, renamed)
    (top / "tests" / "test_cart.py").unlink()
    told.wait_for(top / "tests" / "test_cart.py")


def test_new_folders_are_watched_with_what_is_in_them_and_so_are_their_successors(
    top: Path, start: Start
) -> None:
    _, told = start()
    for round_ in range(2):
        deep = top / "fresh" / "deep"
        deep.mkdir(parents=True)
        (deep / "a.py").write_text(f"a{round_}")
        told.wait_for(deep / "a.py")
        (deep / "b.py").write_text(f"b{round_}")
        told.wait_for(deep / "b.py")
        (top / "fresh").rename(top / "moved")
        told.wait_for(top / "moved" / "deep" / "b.py")
        (top / "moved" / "deep" / "c.py").write_text(f"c{round_}")
        told.wait_for(top / "moved" / "deep" / "c.py")
        (top / "moved" / "deep").joinpath("a.py").unlink()
        (top / "moved" / "deep").joinpath("b.py").unlink()
        (top / "moved" / "deep").joinpath("c.py").unlink()
        (top / "moved" / "deep").rmdir()
        (top / "moved").rmdir()
        settle(top, told)
        told.paths.clear()


def test_only_sources_and_configuration_of_folders_that_count_are_told(top: Path, start: Start) -> None:
    _, told = start()
    (top / "web" / "node_modules" / "x" / "setup.py").write_text("changed")
    for name in ("data.json", ".#cart.py", "cart.py~", "4913", "cart.py.swp", "app.log"):
        (top / "shop" / name).write_text("x")
    for name in (".git", "shop/__pycache__", ".pytest_cache"):
        (top / name).mkdir(parents=True)
        (top / name / "x.py").write_text("x")
    (top / "setup.cfg").write_text("changed")
    told.wait_for(top / "setup.cfg")
    assert set(settle(top, told)) == {top / "setup.cfg"}


def test_after_closing_nothing_is_told_and_no_thread_remains(top: Path, start: Start) -> None:
    before = set(threading.enumerate())
    watcher, told = start()
    watcher.close()
    watcher.close()
    (top / "shop" / "cart.py").write_text("late")
    watcher._judge(str(top / "shop" / "cart.py"), doubt=False)  # as a thread that is late would
    for thread in set(threading.enumerate()) - before:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert told.paths == []


class Refusing:
    """An observer of a system whose watches are used up once so many folders are watched."""

    def __init__(self, allowed: int, code: int) -> None:
        self.inner = Observer()
        self.allowed = allowed
        self.code = code

    def schedule(self, handler: Any, folder: str, **options: Any) -> Any:
        if self.allowed == 0:
            raise OSError(self.code, os.strerror(self.code))
        self.allowed -= 1
        return self.inner.schedule(handler, folder, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EMFILE, errno.EACCES])
@pytest.mark.parametrize("allowed", [0, 2])
def test_when_watches_are_used_up_polling_takes_over_and_says_so_once(
    top: Path, code: int, allowed: int
) -> None:
    said: list[str] = []
    told = Told()
    watcher = FolderWatcher(
        top, told, notice=said.append, observer=lambda: Refusing(allowed, code), poll_seconds=0.02
    )
    aside_and_renamed(top / "shop" / "cart.py")
    told.wait_for(top / "shop" / "cart.py")
    assert settle(top, told) == [top / "shop" / "cart.py"]
    watcher.close()
    assert len(said) == 1
    assert str(top) in said[0]
    assert watcher.strategy.startswith("looking every 0.02 s")
    if code == errno.ENOSPC:
        assert "max_user_watches" in watcher.strategy


def test_an_observer_that_cannot_even_be_made_leads_to_polling(top: Path) -> None:
    def refuse() -> Any:
        raise OSError(errno.EMFILE, "no instance")

    watcher = FolderWatcher(top, lambda _: None, notice=lambda _: None, observer=refuse)
    watcher.close()
    assert "max_user_instances" in watcher.strategy


MOUNTS = (
    "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
    "30 22 0:1 / /mnt/c rw shared:1 - 9p C: rw\n"
    "31 22 0:2 / /srv/my\\040share rw - nfs4 host:/x rw\n"
    "32 22 0:3 / /remote rw - fuse.sshfs me@host: rw\n"
    "33 30 8:2 / /mnt/c/real rw - btrfs /dev/sdb rw\n"
    "broken line\n"
)


@pytest.mark.parametrize(
    ("path", "kind", "silent"),
    [
        ("/home/me", "ext4", False),
        ("/mnt/c/code", "9p", True),
        ("/mnt/cc", "ext4", False),
        ("/mnt/c/real/code", "btrfs", False),
        ("/srv/my share/x", "nfs4", True),
        ("/remote", "fuse.sshfs", True),
    ],
)
def test_file_systems_that_tell_nothing_are_known(path: str, kind: str, silent: bool) -> None:
    assert watch_plan.file_system(path, MOUNTS) == kind
    assert bool(watch_plan.silent_place(Path(path), MOUNTS)) == silent
    assert watch_plan.silent_place(Path(path), "") == ""


def test_the_plan_watches_nothing_that_is_left_out_in_as_few_pieces_as_possible(top: Path) -> None:
    for name in ("shop/deep/er", "shop/__pycache__", ".venv/lib", "envs/my env/lib", "envs/tools"):
        (top / name).mkdir(parents=True)
    (top / ".venv" / "pyvenv.cfg").touch()
    (top / "envs" / "my env" / "pyvenv.cfg").touch()
    (top / "loop").symlink_to(top)
    plan = watch_plan.plan(str(top))
    assert sorted(plan.alone) == [str(top), str(top / "envs"), str(top / "web")]
    assert sorted(plan.whole) == [str(top / name) for name in ("envs/tools", "shop", "tests")]
    assert plan.folders == 8
    watcher = FolderWatcher(top, lambda _: None)
    watcher.close()
    assert watcher.strategy == f"{watch_plan.native_name()}, 8 folders"


def test_the_workspace_itself_is_never_watched_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    assert watch_plan.plan(str(tmp_path)) == watch_plan.Plan((str(tmp_path),), (), 1)


def test_too_many_pieces_are_polled(tmp_path: Path) -> None:
    for number in range(watch_plan.MOST_SCHEDULES):
        (tmp_path / f"p{number}" / "node_modules").mkdir(parents=True)
    assert "too many" in watch_plan.reason_to_poll(tmp_path, watch_plan.plan(str(tmp_path)), MOUNTS)


def test_each_system_is_asked_for_the_event_that_ends_a_save() -> None:
    assert FileClosedEvent in watched_events("linux")
    assert FileModifiedEvent not in watched_events("linux")
    for platform in ("darwin", "win32"):
        assert FileModifiedEvent in watched_events(platform)
