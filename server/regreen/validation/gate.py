"""Which candidates are refused before anything of them runs, and what about the others asks for a second look?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from regreen.errors import UnreadableText
from regreen.source import Node, ProjectSources, SourceFile, parse
from regreen.validation import literals
from regreen.validation.flags import protective, suspicious
from regreen.validation.hazards import harmful
from regreen.validation.scopes import around, changed_lines
from regreen.values import Candidate, FileEdit, Flag

_TOP_LEVEL = re.compile(r"^[^\s#)\]}]", re.MULTILINE)
_ELISION = ("... existing code ...", "... rest of", "# ...existing", "…existing code…")


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the gate says of a candidate.

    Args:
        refusal: why it must not run; "" when it may.
        flags: what a person should look at twice.
    """

    refusal: str = ""
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True, slots=True)
class _Counts:
    """What a part of the unpatched text has: candidates are held against it, many against the same part."""

    nodes: Sequence[Node]
    harmful: Counter[str]
    suspicious: Counter[Flag]
    protective: Counter[Flag]
    literals: frozenset[literals.Value]


class Gate:
    """The static rung of the ladder.

    Args:
        sources: the unpatched text.
        protected: why a file may not be changed, "" when it may.
        test_literals: the values of the literals that the target test is made of.
    """

    def __init__(
        self,
        sources: ProjectSources,
        protected: Callable[[Path], str],
        test_literals: frozenset[literals.Value],
    ) -> None:
        self._sources = sources
        self._protected = protected
        self._literals = test_literals
        self._counted: dict[tuple[Path, int, int], _Counts] = {}

    def forbids(self, candidate: Candidate) -> str:
        """Say which file of the candidate may not be changed, and why; "" when all may be."""
        for edit in candidate.edits:
            if reason := self._protected(edit.path):
                return f"{edit.path.name}: {reason}"
        return ""

    def examine(self, candidate: Candidate, overlay: Mapping[Path, bytes]) -> Ruling:
        """Say whether the candidate may run, and what to look at twice: of a model's that is a reason to refuse it.

        Args:
            candidate: the patch.
            overlay: the full new bytes of each file it changes.
        """
        if reason := self.forbids(candidate):
            return Ruling(reason)
        flags: set[Flag] = set()
        for edit in candidate.edits:
            old = self._sources.get(edit.path)
            try:
                new = parse(edit.path, overlay[edit.path], old)
            except UnreadableText as error:
                return Ruling(f"{edit.path.name}: {error}")
            ruling = self._text(edit, old, new) if old is not None else Ruling()
            if not ruling.refusal and ruling.flags and candidate.origin == "model":
                ruling = Ruling("; ".join(flag.text for flag in ruling.flags))
            if ruling.refusal:
                return Ruling(f"{edit.path.name}: {ruling.refusal}")
            flags.update(ruling.flags)
        return Ruling(flags=tuple(sorted(flags)))

    def _text(self, edit: FileEdit, old: SourceFile, new: SourceFile) -> Ruling:
        if any(mark in new.text and mark not in old.text for mark in _ELISION):
            return Ruling("part of the code was left out")
        if old.text == new.text:
            return Ruling("changes nothing")
        if old.has_errors:
            return self._mended(edit, old, new)
        if new.has_errors:
            return Ruling("is not valid Python")
        if _TOP_LEVEL.search(_changed_text(old.text, edit)):
            lost = old.defined - new.defined - frozenset(one.bound for one in old.imports)
            if lost:
                return Ruling(f"removes {', '.join(sorted(lost))} from the module")
        before, after = around(old, new, edit)
        was, now = self._counts(edit.path, before), _walked(after)
        if literals.is_special_case(was.nodes, now, self._literals):
            return Ruling("answers the test's own input with the test's own answer")
        return self._compared(was, now)

    def _mended(self, edit: FileEdit, old: SourceFile, new: SourceFile) -> Ruling:
        """Of a text that is no Python only parts can be read: new is what stands on the lines that change."""
        lines = changed_lines(new, edit)
        was = self._counts(edit.path, [old.root])
        now = [node for node in new.root.walk() if node.line in lines]
        ruling = self._compared(_Counts((), Counter(), Counter(), Counter(), was.literals), now)
        gone = was.protective - Counter(protective(new.root.walk()))
        return Ruling(ruling.refusal, tuple(sorted({*ruling.flags, *gone})))

    def _compared(self, was: _Counts, now: Sequence[Node]) -> Ruling:
        if added := Counter(harmful(now)) - was.harmful:
            return Ruling(f"adds {', '.join(sorted(added))}")
        new = Counter(suspicious(now)) - was.suspicious
        gone = was.protective - Counter(protective(now))
        answers = literals.copied(now, was.literals, self._literals)
        return Ruling(flags=tuple(sorted({*new, *gone, *answers})))

    def _counts(self, path: Path, parts: Sequence[Node]) -> _Counts:
        key = (path, parts[0].start, parts[-1].end) if parts else (path, 0, 0)
        if key not in self._counted:
            nodes = _walked(parts)
            self._counted[key] = _Counts(
                nodes,
                Counter(harmful(nodes)),
                Counter(suspicious(nodes)),
                Counter(protective(nodes)),
                literals.values(nodes),
            )
        return self._counted[key]


def _walked(parts: Iterable[Node]) -> list[Node]:
    return [node for part in parts for node in part.walk()]


def _changed_text(text: str, edit: FileEdit) -> str:
    """The whole lines that the edits touch, before them."""
    touched: list[str] = []
    for one in edit.edits:
        end = text.find("\n", one.end)
        touched.append(text[text.rfind("\n", 0, one.start) + 1 : end if end >= 0 else len(text)])
    return "\n".join(touched)
