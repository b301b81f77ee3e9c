"""Git's answers are right, and asking runs nothing of the repository."""

from __future__ import annotations

import os
import subprocess
from datetime import datetime, timezone
from pathlib import Path

import pytest

from regreen.workspace.git import GitCommand


def git(folder: Path, *words: str, **environment: str) -> None:
    identity = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a"}
    identity |= {
        "GIT_COMMITTER_EMAIL": "a@b",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
    }
    kept = {key: text for key, text in os.environ.items() if not key.startswith("GIT_")}
    subprocess.run(
        ["git", *words], cwd=folder, check=True, capture_output=True, env=kept | identity | environment
    )


def spring(folder: Path) -> None:
    """Ask git as everybody does."""
    subprocess.run(["git", "status"], cwd=folder, check=False, capture_output=True)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    (folder / "pkg").mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    (folder / "pkg" / "a.py").write_text("a = 1\n")
    (folder / "b é.py").write_text("b = 1\n")
    (folder / ".gitignore").write_text("*.log\n/secret\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "x", GIT_COMMITTER_DATE="2024-05-06T07:08:09+02:00")
    return folder


async def test_the_toplevel_is_named_as_the_user_names_it(repo: Path, tmp_path: Path) -> None:
    asked = GitCommand()
    assert await asked.toplevel(repo / "pkg") == repo
    assert await asked.toplevel(repo) == repo
    assert await asked.toplevel(tmp_path) is None
    assert await asked.toplevel(tmp_path / "nowhere") is None
    (tmp_path / "named").symlink_to(repo)
    assert await asked.toplevel(tmp_path / "named" / "pkg") == tmp_path / "named"
    (tmp_path / "inner").symlink_to(repo / "pkg")
    assert await asked.toplevel(tmp_path / "inner") == repo


async def test_changed_files_are_those_that_differ_from_the_last_commit(repo: Path, tmp_path: Path) -> None:
    asked = GitCommand()
    assert await asked.changed_files(repo) == frozenset()
    (repo / "pkg" / "a.py").write_text("a = 2\n")
    (repo / "b é.py").unlink()
    (repo / "new folder").mkdir()
    (repo / "new folder" / "c\n.py").write_text("")
    (repo / "staged.py").write_text("")
    git(repo, "add", "staged.py")
    (repo / "x.log").write_text("")
    everything = {repo / "pkg" / "a.py", repo / "b é.py", repo / "new folder" / "c\n.py", repo / "staged.py"}
    assert await asked.changed_files(repo) == everything
    assert await asked.changed_files(repo / "pkg") == {repo / "pkg" / "a.py"}
    assert await asked.changed_files(tmp_path) == frozenset()


async def test_before_the_first_commit_everything_is_changed(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a.py").write_text("")
    assert await GitCommand().changed_files(tmp_path) == {tmp_path / "a.py"}
    assert await GitCommand().last_change(tmp_path / "a.py") is None


async def test_ignored_files_are_told_from_others(repo: Path, tmp_path: Path) -> None:
    asked = GitCommand()
    paths = [
        repo / "x.log",
        repo / "pkg" / "y é.log",
        repo / "secret",
        repo / "pkg" / "a.py",
        tmp_path / "z.log",
    ]
    assert await asked.ignored(repo / "pkg", paths) == set(paths[:3])
    assert await asked.ignored(repo, [repo / "pkg" / "a.py"]) == frozenset()
    assert await asked.ignored(repo, []) == frozenset()
    assert await asked.ignored(tmp_path, paths) == frozenset()


async def test_the_last_change_is_the_date_of_the_last_commit(repo: Path, tmp_path: Path) -> None:
    asked = GitCommand()
    when = datetime(2024, 5, 6, 5, 8, 9, tzinfo=timezone.utc)
    assert await asked.last_change(repo / "pkg" / "a.py") == when
    assert await asked.last_change(repo / "b é.py") == when
    (repo / "new.py").write_text("")
    assert await asked.last_change(repo / "new.py") is None
    assert await asked.last_change(tmp_path / "x.py") is None
    assert await asked.last_change(tmp_path / "no folder" / "x.py") is None


async def test_without_git_every_folder_is_outside_of_git(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo / "pkg" / "a.py").write_text("a = 2\n")
    fake = repo / "git"
    fake.write_text("#!/bin/sh\ntouch ran; echo .\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join(("", ".", "empty")))
    monkeypatch.chdir(repo)
    for asked in (GitCommand(), GitCommand("no-such-git"), GitCommand("/nowhere/git")):
        assert await asked.toplevel(repo) is None
        assert await asked.changed_files(repo) == frozenset()
        assert await asked.ignored(repo, [repo / "x.log"]) == frozenset()
        assert await asked.last_change(repo / "pkg" / "a.py") is None
    assert not (repo / "ran").exists()


async def test_variables_of_a_hook_that_started_us_do_not_lead_astray(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q", "other")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "other"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    assert await GitCommand().toplevel(repo) == repo
    assert await GitCommand().changed_files(repo) == frozenset()


@pytest.mark.parametrize("name", ["evil", "e.v i'l", "a=b"])
@pytest.mark.parametrize("place", ["config", "included"])
async def test_nothing_that_the_repository_configures_runs(
    repo: Path, tmp_path: Path, name: str, place: str
) -> None:
    ran = tmp_path / "ran"
    program = tmp_path / "evil.sh"
    program.write_text(f'#!/bin/sh\necho "$0 $@" >> {ran}\ncat\n')
    program.chmod(0o755)
    (repo / ".gitattributes").write_text(
        f'*.py "filter={name}" diff=evil\n' if " " in name else f"*.py filter={name} diff=evil\n"
    )
    target = repo / ".git" / "config"
    if place == "included":
        with target.open("a") as stream:
            stream.write("[include]\n\tpath = more\n")
        target = repo / ".git" / "more"
    with target.open("a") as stream:
        stream.write(
            f'[filter "{name}"]\n\tclean = {program}\n\tprocess = {program}\n\trequired = true\n'
            f'[diff "evil"]\n\ttextconv = {program}\n\tcommand = {program}\n[diff]\n\texternal = {program}\n'
            f"[core]\n\tfsmonitor = {program}\n\tpager = {program}\n\thooksPath = {tmp_path}\n"
            f"\tsshCommand = {program}\n\teditor = {program}\n"
            f"[gpg]\n\tprogram = {program}\n[log]\n\tshowSignature = true\n"
        )
    for hook in ("post-index-change", "pre-auto-gc", "fsmonitor-watchman"):
        (tmp_path / hook).write_text(program.read_text())
        (tmp_path / hook).chmod(0o755)
    os.utime(repo / "pkg" / "a.py", (1, 1))  # git must now look at the content, which is what a filter is for
    before = (repo / ".git" / "index").read_bytes()
    asked = GitCommand()
    assert await asked.toplevel(repo) == repo
    changed = await asked.changed_files(repo)
    assert repo / "pkg" / "a.py" not in changed
    assert changed <= {repo / ".gitattributes"}
    assert await asked.ignored(repo, [repo / "x.log"]) == {repo / "x.log"}
    assert await asked.last_change(repo / "pkg" / "a.py") is not None
    assert not ran.exists()
    assert (repo / ".git" / "index").read_bytes() == before
    spring(repo)
    assert ran.exists(), "the trap works: plain git runs it"


async def test_a_repository_that_claims_another_work_tree_is_no_repository(
    repo: Path, tmp_path: Path
) -> None:
    git(repo, "config", "core.worktree", str(tmp_path))
    assert await GitCommand().toplevel(repo) is None
    assert await GitCommand().changed_files(repo) == frozenset()
