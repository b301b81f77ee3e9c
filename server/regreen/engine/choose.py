"""Which tests run after some files changed?

By the coverage map where there is one; of files that no known test executes, the tests that import them, by the
static import graph. Tests that are slow, or that the user named, never run by themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from regreen import edits, impact
from regreen.engine.documents import decoded
from regreen.engine.judgement import is_named, too_slow
from regreen.engine.outline import is_test_file, outline
from regreen.engine.state import Offer, ProjectState, file_of
from regreen.platform.background import run_blocking
from regreen.source import ProjectSources
from regreen.values import Spectrum

SMALL_SUITE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Choice:
    """What to run.

    Args:
        warm: node ids that the map names.
        cold: files (as node ids) of tests that were not run yet and may be affected, likeliest first.
    """

    warm: tuple[str, ...]
    cold: tuple[str, ...]


async def choose(
    state: ProjectState, old: Mapping[Path, bytes], new: Mapping[Path, bytes], changed: Iterable[Path]
) -> Choice:
    """Choose by what changed between two texts of the project.

    `old` and `new` are the bytes of every Python file, as the map knows them and as they are now.
    """
    return await run_blocking(_choose, state, old, new, tuple(changed))


def _choose(
    state: ProjectState, old: Mapping[Path, bytes], new: Mapping[Path, bytes], changed: Sequence[Path]
) -> Choice:
    old_sources, new_sources = ProjectSources(old, state.root), ProjectSources(new, state.root)
    python = [path for path in changed if path.suffix == ".py"]
    lines = {path: changed_lines(old[path], new[path]) for path in python if path in old and path in new}
    warm = dict.fromkeys(
        impact.select(
            {path: numbers for path, numbers in lines.items() if numbers},
            Spectrum(state.lines),
            old_sources,
            complete=False,
        ).nodeids
    )
    cold: dict[str, None] = {}
    ran = {outcome.path for outcome in state.outcomes.values()}
    for path in python:
        if path not in new:  # deleted: whoever executed it feels that
            warm.update({n: None for n, files in state.lines.items() if path in files})
        elif path in ran or is_test_file(path):
            own = tests_of(path, new, state)
            name = edits.relative(path, state.root)
            for stale in [nodeid for nodeid in warm if file_of(nodeid) == name]:
                del warm[
                    stale
                ]  # it may be gone from the new text, and pytest runs nothing when one id is gone
            warm.update(dict.fromkeys(own))
        for file in sorted(impact.importers(path, new_sources), key=lambda f: (path.stem not in f.stem, f)):
            if is_test_file(file) and file not in ran and file not in changed:
                cold.update(dict.fromkeys(tests_of(file, new, state)))
        if path.name == "conftest.py":
            warm.update({n: None for n, o in state.outcomes.items() if o.path.is_relative_to(path.parent)})
    if len(python) < len(changed):
        warm.update(dict.fromkeys(_whatever_reads_data(state)))
    allowed = tuple(n for n in warm if _may_run(n, state))
    return Choice(allowed, tuple(n for n in cold if n not in warm))


def tests_of(path: Path, texts: Mapping[Path, bytes], state: ProjectState) -> list[str]:
    """The file's node id, or those of its tests when some of them never run by themselves."""
    name = edits.relative(path, state.root)
    text = decoded(texts.get(path, b""))
    slow = set(state.settings.slow_markers)
    found = outline(text.text) if text is not None else ()
    known_slow = any(o.path == path and too_slow(o, state.settings) for o in state.outcomes.values())
    named = any(never.startswith(name) for never in state.settings.tests_never)
    if not known_slow and not named and not any(d.marks & slow for d in found):
        return [] if is_named(name, state.settings) else [name]
    tests = [d for d in found if not d.is_class and d.name.rpartition("::")[2].startswith("test")]
    ids = [f"{name}::{d.name}" for d in tests if not d.marks & slow]
    slow_ids = {n for n, o in state.outcomes.items() if too_slow(o, state.settings)}
    return [
        nodeid
        for nodeid in ids
        if not is_named(nodeid, state.settings)
        and nodeid not in slow_ids
        and not any(known.startswith(f"{nodeid}[") for known in slow_ids)
    ]


def _whatever_reads_data(state: ProjectState) -> list[str]:
    """A file that is not Python changed: nothing tells who reads it, so all that is quick, or what is red."""
    if sum(outcome.seconds for outcome in state.outcomes.values()) < SMALL_SUITE_SECONDS:
        return list(state.outcomes)
    return [nodeid for nodeid, outcome in state.outcomes.items() if outcome.status.is_red]


def _may_run(nodeid: str, state: ProjectState) -> bool:
    outcome = state.outcomes.get(nodeid)
    return not (outcome and too_slow(outcome, state.settings)) and not is_named(nodeid, state.settings)


def quick_tests(state: ProjectState) -> tuple[str, ...]:
    """The suite as it is run in idle time: every known test that may run by itself."""
    return tuple(nodeid for nodeid in state.outcomes if _may_run(nodeid, state))


async def touched_by(state: ProjectState, offer: Offer) -> frozenset[str]:
    """The tests that execute what an offer changes, by the map."""
    return await run_blocking(_touched_by, state, offer)


def _touched_by(state: ProjectState, offer: Offer) -> frozenset[str]:
    sources = ProjectSources({path: data for path, (_, data) in state.texts.items()}, state.root)
    lines = {path: changed_lines(data, offer.after[path]) for path, data in offer.before.items()}
    return frozenset(impact.select(lines, Spectrum(state.lines), sources, complete=True).nodeids)


def changed_lines(old: bytes, new: bytes) -> frozenset[int]:
    """0-based lines of the old text that differ in the new one; an insertion counts as the line it is before."""
    before, after = decoded(old), decoded(new)
    if before is None or after is None:
        return frozenset()
    index = edits.LineIndex(before.text)
    lines: set[int] = set()
    for edit in edits.minimal(before.text, after.text):
        lines.update(range(index.line_at(edit.start), index.line_at(max(edit.start, edit.end)) + 1))
    return frozenset(lines)


def move_lines(state: ProjectState, path: Path, old: bytes, new: bytes) -> None:
    """Let the map of the tests that were not run again follow a file's text."""
    table = line_table(old, new)
    for nodeid, files in state.lines.items():
        if path in files:
            state.lines[nodeid] = {**files, path: frozenset(table[n] for n in files[path] if n in table)}


def line_table(old: bytes, new: bytes) -> Mapping[int, int]:
    """Where each 0-based line of the old text that was left alone is in the new one."""
    before, after = decoded(old), decoded(new)
    if before is None or after is None:
        return {}
    index, target = edits.LineIndex(before.text), edits.LineIndex(after.text)
    changes = list(edits.minimal(before.text, after.text))
    touched = changed_lines(old, new)
    table: dict[int, int] = {}
    shift = 0
    for line in range(index.line_count):
        while changes and changes[0].end <= index.start(line):
            shift += len(changes[0].new) - (changes[0].end - changes[0].start)
            del changes[0]
        if line not in touched:
            table[line] = target.line_at(index.start(line) + shift)
    return table
