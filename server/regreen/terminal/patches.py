"""How do verified fixes become new files, and a patch that `git apply` takes?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from regreen import edits
from regreen.errors import StaleFix
from regreen.values import FileEdit, HealResult, Outcome, VerifiedFix


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file before and after, as bytes."""

    path: Path
    old: bytes
    new: bytes


def best_fixes(results: Sequence[HealResult]) -> tuple[VerifiedFix, ...]:
    """The best fix of every VERIFIED result, each different patch once."""
    unique: dict[tuple[FileEdit, ...], VerifiedFix] = {}
    for result in results:
        if result.outcome is Outcome.VERIFIED and result.fixes:
            unique.setdefault(result.fixes[0].candidate.edits, result.fixes[0])
    return tuple(unique.values())


def combine(fixes: Sequence[VerifiedFix]) -> tuple[tuple[VerifiedFix, ...], tuple[VerifiedFix, ...]]:
    """Split fixes into those whose edits can stand together and those that touch the same text as an earlier one."""
    taken: list[VerifiedFix] = []
    left: list[VerifiedFix] = []
    for fix in fixes:
        clash = any(
            _overlap(mine, theirs) for other in taken for mine in _files(fix) for theirs in _files(other)
        )
        (left if clash else taken).append(fix)
    return tuple(taken), tuple(left)


def changes(fixes: Sequence[VerifiedFix]) -> tuple[FileChange, ...]:
    """What the fixes make of the files as they are on disk now. The fixes must not overlap.

    Raises:
        StaleFix: a file is not the one that the fix was verified against.
        OSError: a file cannot be read.
    """
    merged: dict[Path, list[FileEdit]] = {}
    for fix in fixes:
        for file in _files(fix):
            merged.setdefault(file.path, []).append(file)
    return tuple(_change(path, parts) for path, parts in sorted(merged.items()))


def git_patch(parts: Sequence[FileChange], top: Path) -> bytes:
    """A patch of the changes with paths relative to `top`, byte for byte."""
    return edits.git_patch([(part.path.relative_to(top).as_posix(), part.old, part.new) for part in parts])


def overlay(parts: Sequence[FileChange]) -> Mapping[Path, bytes]:
    """The new files by path, for a run that has all of them."""
    return {part.path: part.new for part in parts}


def _change(path: Path, parts: Sequence[FileEdit]) -> FileChange:
    old = path.read_bytes()
    found = edits.digest(old)
    if any(part.base_digest != found for part in parts):
        raise StaleFix(f"{path} changed since the fix was verified")
    together = sorted({edit for part in parts for edit in part.edits})
    return FileChange(path, old, edits.apply_to_bytes(old, FileEdit(path, found, tuple(together))))


def _files(fix: VerifiedFix) -> tuple[FileEdit, ...]:
    return fix.candidate.edits


def _overlap(mine: FileEdit, theirs: FileEdit) -> bool:
    """Whether two sets of edits touch the same characters, or insert at the same place."""
    return mine.path == theirs.path and any(
        a != b and a.start <= b.end and b.start <= a.end for a in mine.edits for b in theirs.edits
    )
