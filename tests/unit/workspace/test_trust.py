"""Trust is given by a person, kept outside of the repository, and tied to real paths."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from regreen.errors import EnvironmentProblem
from regreen.workspace.trust import TrustStore


@pytest.fixture
def store(tmp_path: Path) -> TrustStore:
    return TrustStore(tmp_path / "state" / "trust.json")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "code" / "shop"
    (path / "inner").mkdir(parents=True)
    return path


def test_nothing_is_trusted_at_first_and_asking_writes_nothing(store: TrustStore, folder: Path) -> None:
    answer = store.explain(folder)
    assert not answer.trusted
    assert "regreen trust" in answer.explanation
    assert not store.file.parent.exists()
    assert store.trusted() == ()


def test_a_trusted_folder_trusts_what_is_inside_and_nothing_else(store: TrustStore, folder: Path) -> None:
    store.trust(folder)
    assert store.is_trusted(folder)
    assert store.is_trusted(folder / "inner")
    assert store.explain(folder / "inner").by == folder
    assert str(folder) in store.explain(folder / "inner").explanation
    assert not store.is_trusted(folder.parent)
    assert not store.is_trusted(folder.with_name("shop2"))
    assert not store.is_trusted(folder / ".." / "other")


def test_trust_can_be_taken_back(store: TrustStore, folder: Path) -> None:
    store.trust(folder)
    assert not store.revoke(folder / "inner")
    assert store.revoke(folder)
    assert not store.revoke(folder)
    assert not store.is_trusted(folder)


def test_another_store_object_sees_it_and_the_first_date_stays(store: TrustStore, folder: Path) -> None:
    store.trust(folder)
    (before,) = store.trusted()
    data = json.loads(store.file.read_text())
    data["trusted"][str(folder)] = "2020-01-01T00:00:00+00:00"
    store.file.write_text(json.dumps(data))
    store.trust(folder)
    again = TrustStore(store.file)
    assert again.trusted() == ((before[0], "2020-01-01T00:00:00+00:00"),)
    assert "2020-01-01" in again.explain(folder).explanation


def test_a_link_lends_no_trust(store: TrustStore, folder: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    bad.mkdir()
    store.trust(folder)
    (folder / "link").symlink_to(bad)
    (tmp_path / "alias").symlink_to(folder)
    assert not store.is_trusted(folder / "link")
    assert store.is_trusted(tmp_path / "alias")
    (tmp_path / "alias").unlink()
    (tmp_path / "alias").symlink_to(bad)
    assert not store.is_trusted(tmp_path / "alias")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"trusted": ["/"]}', '{"trusted": {"/": 1}}', "\udcff"])
def test_a_damaged_store_trusts_nothing_and_is_not_overwritten(
    store: TrustStore, folder: Path, text: str
) -> None:
    store.file.parent.mkdir()
    store.file.write_bytes(text.encode(errors="surrogateescape"))
    assert not store.is_trusted(folder)
    assert "damaged" in store.explain(folder).explanation
    for change in (store.trust, store.revoke):
        with pytest.raises(EnvironmentProblem, match="damaged"):
            change(folder)
    with pytest.raises(EnvironmentProblem, match="damaged"):
        store.trusted()
    assert store.file.read_bytes() == text.encode(errors="surrogateescape")


def test_only_folders_can_be_trusted(store: TrustStore, folder: Path) -> None:
    with pytest.raises(EnvironmentProblem, match="not a folder"):
        store.trust(folder / "nothing")


def test_an_unwritable_store_is_said(store: TrustStore, folder: Path) -> None:
    store.file.parent.write_text("a file where the folder should be")
    with pytest.raises(EnvironmentProblem, match="cannot be written"):
        store.trust(folder)


def test_the_store_is_private_and_in_the_users_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGREEN_STATE_DIR", str(tmp_path / "mine"))
    store = TrustStore()
    store.trust(tmp_path)
    assert store.file == tmp_path / "mine" / "trust.json"
    assert store.file.stat().st_mode & 0o077 == 0


MANY = """
import sys
from pathlib import Path
from regreen.workspace.trust import TrustStore
print(flush=True)
sys.stdin.readline()
for folder in sys.argv[2:]:
    TrustStore(Path(sys.argv[1])).trust(Path(folder))
"""


def test_processes_that_trust_at_once_lose_nothing(store: TrustStore, tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(40)]
    for folder in folders:
        folder.mkdir()
    commands = [
        [sys.executable, "-c", MANY, str(store.file), *map(str, folders[start::2])] for start in (0, 1)
    ]
    pipe = subprocess.PIPE
    workers = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for command in commands]
    for worker in workers:
        assert worker.stdout
        worker.stdout.readline()
    for worker in workers:
        assert worker.stdin
        worker.stdin.write("\n")
        worker.stdin.flush()
    assert [worker.communicate()[0] for worker in workers] == ["", ""]
    assert [worker.returncode for worker in workers] == [0, 0]
    assert all(store.is_trusted(folder) for folder in folders)
