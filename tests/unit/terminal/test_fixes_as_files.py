"""Do fixes reach the files and the patch byte for byte, or not at all?"""

from __future__ import annotations

import shlex
import stat
import subprocess
from pathlib import Path

import pytest
from tests.unit.terminal import made

from regreen import edits
from regreen.errors import EnvironmentProblem, StaleFix
from regreen.platform.files import write_atomic
from regreen.terminal import patches, writing
from regreen.values import FileEdit, Outcome, TextEdit

CRLF = made.BEFORE.replace("\n", "\r\n")


def written(path: Path, text: str = made.BEFORE) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def change(path: Path, text: str = made.BEFORE) -> patches.FileChange:
    [part] = patches.changes([made.fix(path, "-=", "+=", before=text)])
    return part


def test_two_fixes_of_one_file_become_one_change(tmp_path: Path) -> None:
    path = written(tmp_path / "cart.py")
    fixes = [made.fix(path, "-=", "+="), made.fix(path, "result = 0", "result = 1")]
    taken, left = patches.combine(fixes)
    [part] = patches.changes(taken)
    assert not left
    assert part.new.decode() == made.BEFORE.replace("-=", "+=").replace("result = 0", "result = 1")


def test_fixes_of_the_same_text_are_not_mixed(tmp_path: Path) -> None:
    path = written(tmp_path / "cart.py")
    fixes = [made.fix(path, "-=", "+="), made.fix(path, "result -= price", "result = price")]
    assert patches.combine(fixes) == ((fixes[0],), (fixes[1],))


def test_only_the_best_fix_of_verified_results_is_taken_and_each_once(tmp_path: Path) -> None:
    path = written(tmp_path / "cart.py")
    best, other = made.fix(path, "-=", "+="), made.fix(path, "result = 0", "result = 1")
    results = [
        made.result(tmp_path, best, other),
        made.result(tmp_path, best, nodeid="x"),
        made.result(tmp_path, other, outcome=Outcome.VERIFIED_TARGET_ONLY),
        made.result(tmp_path, outcome=Outcome.NO_FIX),
    ]
    assert patches.best_fixes(results) == (best,)


def test_a_file_that_changed_since_is_left_alone(tmp_path: Path) -> None:
    path = written(tmp_path / "cart.py")
    fix = made.fix(path, "-=", "+=")
    path.write_text(made.BEFORE + "\n")
    with pytest.raises(StaleFix):
        patches.changes([fix])


def test_a_file_that_changes_at_the_last_moment_is_left_alone(tmp_path: Path) -> None:
    one, two = written(tmp_path / "a.py"), written(tmp_path / "b.py")
    parts = [change(one), change(two)]
    two.write_text("changed")
    with pytest.raises(StaleFix):
        writing.write_changes(parts)
    assert (one.read_text(), two.read_text()) == (made.BEFORE, "changed")


@pytest.mark.parametrize(
    "text", [made.BEFORE, CRLF, "\ufeff" + made.BEFORE, made.BEFORE.rstrip("\n"), "\f" + CRLF]
)
def test_writing_changes_only_the_fixed_characters(tmp_path: Path, text: str) -> None:
    path = written(tmp_path / "cart.py", text)
    plain = text.removeprefix("\ufeff")
    start = plain.index("-=")
    [part] = [
        patches.FileChange(
            path,
            text.encode(),
            edits.apply_to_bytes(
                text.encode(),
                FileEdit(path, edits.digest(text.encode()), (TextEdit(start, start + 2, "+="),)),
            ),
        )
    ]
    writing.write_changes([part])
    assert path.read_bytes() == text.replace("-=", "+=").encode()


def test_mode_and_link_stay(tmp_path: Path) -> None:
    path = written(tmp_path / "real/cart.py")
    path.chmod(0o754)
    link = tmp_path / "cart.py"
    link.symlink_to(path)
    writing.write_changes([change(link)])
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o754
    assert "+=" in path.read_text()


def test_a_read_only_file_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    one, two = written(tmp_path / "a.py"), written(tmp_path / "b.py")
    parts = [change(one), change(two)]
    two.chmod(0o444)
    with pytest.raises(EnvironmentProblem, match="read-only"):
        writing.write_changes(parts)
    assert one.read_text() == made.BEFORE


def test_when_a_later_file_cannot_be_written_the_earlier_get_their_text_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = written(tmp_path / "a.py"), written(tmp_path / "b.py")
    real = write_atomic

    def full_disk(path: Path, data: bytes) -> None:
        if path == two:
            raise OSError(28, "No space left on device")
        real(path, data)

    monkeypatch.setattr(writing, "write_atomic", full_disk)
    with pytest.raises(EnvironmentProblem, match=r"b\.py cannot be written: No space left"):
        writing.write_changes([change(one), change(two)])
    assert one.read_text() == made.BEFORE


@pytest.mark.parametrize(
    "text", [made.BEFORE, CRLF, "\ufeff" + made.BEFORE, "# é\n" + made.BEFORE.rstrip("\n")]
)
@pytest.mark.parametrize("git", [True, False])
def test_the_undo_command_gives_back_every_byte(tmp_path: Path, text: str, git: bool) -> None:
    top = tmp_path / "with blank"
    path = written(top / "src" / "cart.py", text)
    part = patches.FileChange(path, text.encode(), text.replace("-=", "+=").encode())
    kept = writing.keep_undo(patches.git_patch([part], top), tmp_path / "state", "1.patch")
    writing.write_changes([part])
    assert "+=" in path.read_text()
    command = writing.undo_command(kept, top, git=git)
    subprocess.run(
        command if not git else shlex.split(command), shell=not git, check=True, capture_output=True
    )
    assert path.read_bytes() == text.encode()


def test_the_patch_is_what_git_apply_takes(tmp_path: Path) -> None:
    top = tmp_path / "repo"
    path = written(top / "sub dir" / "cart.py", CRLF)
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    part = patches.FileChange(path, CRLF.encode(), CRLF.replace("-=", "+=").encode())
    (tmp_path / "fix.patch").write_bytes(patches.git_patch([part], top))
    subprocess.run(["git", "-C", str(top), "apply", str(tmp_path / "fix.patch")], check=True)
    assert path.read_bytes() == part.new


def test_the_kept_patch_is_private_and_never_overwritten(tmp_path: Path) -> None:
    kept = writing.keep_undo(b"x", tmp_path / "state", "1.patch")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    with pytest.raises(FileExistsError):
        writing.keep_undo(b"y", tmp_path / "state", "1.patch")
