"""Which patch is in the answer of a repairer, or why is there none that can be tried?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from regreen import edits
from regreen.errors import UnreadableText
from regreen.llm.blocks import SearchBlock, WholeFunction, split
from regreen.llm.placing import Replacement, place
from regreen.llm.refusal import Refusal
from regreen.llm.rewriting import rewrite
from regreen.llm.soundness import elision, masked, problem
from regreen.llm.thoughts import answer
from regreen.source import ProjectSources, SourceFile
from regreen.source import parse as parse_file
from regreen.values import FileEdit, TextEdit

LONGEST = 400_000
"""Characters of a reply that are read; no patch is as long."""


@dataclass(frozen=True, slots=True)
class Patch:
    """What a repairer would change: the files sorted by path, each with its smallest edits."""

    files: tuple[FileEdit, ...]


def parse(
    reply: str, sources: ProjectSources, may_change: Callable[[Path], bool], *, truncated: bool = False
) -> Patch | Refusal:
    """Read the patch in a reply, strictly.

    Every change is looked for in the text as it is, not as an earlier change of the same reply leaves it.

    Args:
        reply: the whole text.
        sources: the project.
        may_change: whether a patch may touch a file; asked with its absolute path.
        truncated: the provider says that the reply ended at its limit.

    Returns:
        The patch; or a refusal by name: "empty", "truncated", "no-block", "unclosed-block", "no-such-file",
        "not-allowed", "masked-text", "elided", "no-match", "ambiguous", "no-such-function", "lost-names", "not-python",
        "unchanged".
    """
    said = answer(reply)
    if truncated or said is None or len(reply) > LONGEST:
        return Refusal(
            "truncated",
            "The reply is not whole: it reached the limit of its length. Answer with less: the smallest SEARCH blocks, no prose.",
        )
    if not said.strip():
        return Refusal("empty", "The reply is empty.")
    parts = split(said)
    if isinstance(parts, Refusal):
        return parts
    changes: dict[Path, list[Replacement]] = {}
    for part in parts:
        source = _file(part.path, sources, may_change)
        if isinstance(source, Refusal):
            return source
        change = _change(part, source)
        if isinstance(change, Refusal):
            return change
        changes.setdefault(source.path, []).append(change)
    return _patch(changes, sources)


def _file(path: str, sources: ProjectSources, may_change: Callable[[Path], bool]) -> SourceFile | Refusal:
    if not path:
        return Refusal("no-such-file", "A block has no line `FILE: path` above it.")
    wanted = PurePosixPath(path.replace("\\", "/"))
    whole = sources.root / wanted
    if ".." in wanted.parts or not whole.is_relative_to(sources.root):
        return Refusal(
            "not-allowed", f"{path} is outside of the project. Only files of the project may be changed."
        )
    if sources.data(whole) is None:
        alike = [edits.relative(one, sources.root) for one in sources.paths if one.name == wanted.name]
        meant = f" Did you mean {' or '.join(alike[:5])}?" if alike else ""
        return Refusal("no-such-file", f"There is no file {path}.{meant} Files cannot be made or moved.")
    if not may_change(whole):
        return Refusal(
            "not-allowed",
            f"{path} may not be changed: tests, their data and configuration stay as they are. Change the code that they test.",
        )
    return sources.get(whole) or Refusal(
        "not-allowed", f"{path} is not text that can be written back exactly."
    )


def _change(part: SearchBlock | WholeFunction, source: SourceFile) -> Replacement | Refusal:
    if isinstance(part, WholeFunction):
        text = part.readings[0]
        return masked(part.path, source.text, text) or rewrite(part, source)
    search, replacement = part.readings[0]
    placed = masked(part.path, source.text, "\n".join((*search, *replacement))) or place(part, source)
    if isinstance(placed, Refusal) and placed.name == "no-match":
        mark = next((line.strip() for line in search if elision(line)), "")
        if mark:
            return Refusal(
                "elided",
                f"The SEARCH part for {part.path} has a line `{mark[:80]}` for lines that are left out. Write each line, or "
                "several smaller blocks.",
            )
    return placed


def _patch(changes: dict[Path, list[Replacement]], sources: ProjectSources) -> Patch | Refusal:
    files: list[FileEdit] = []
    for path, replacements in sorted(changes.items()):
        source, data = sources.get(path), sources.data(path)
        if source is None or data is None:
            raise AssertionError(f"{path} was read before")
        name = edits.relative(path, sources.root)
        patched = _patched(name, source, sorted(replacements))
        if isinstance(patched, Refusal):
            return patched
        if wrong := problem(name, source, patched):
            return wrong
        if patched.text != source.text:
            files.append(edits.file_edit(path, data, patched.text))
    if not files:
        return Refusal("unchanged", "The patch changes nothing: the new text is the old one.")
    return Patch(tuple(files))


def _patched(name: str, source: SourceFile, replacements: list[Replacement]) -> SourceFile | Refusal:
    made = tuple(TextEdit(one.start, one.end, one.new) for one in replacements)
    if edits.problem(source.text, made):
        return Refusal(
            "ambiguous",
            f"Two changes of {name} touch the same lines. Make them one, with the text that shall stand there in the end.",
        )
    text = edits.apply(source.text, made)
    try:
        data = edits.encode(replace(source.decoded, text=text))
        return parse_file(source.path, data, source)
    except UnreadableText:
        return Refusal(
            "not-python",
            f"The new text of {name} has characters that do not exist in its encoding, {source.decoded.encoding}.",
        )
