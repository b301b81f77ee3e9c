"""Which candidates are refused before anything of them runs?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from regreen.errors import UnreadableText
from regreen.source import ProjectSources, SourceFile, parse
from regreen.validation.hazards import WORD, hazards
from regreen.validation.scopes import around
from regreen.validation.special_case import is_special_case
from regreen.values import Candidate, FileEdit

_TOP_LEVEL = re.compile(r"^[^\s#)\]}]", re.MULTILINE)
_BRANCH = re.compile(r"\bif\b")
_ELISION = ("... existing code ...", "... rest of", "# ...existing", "…existing code…")


class Gate:
    """The static rung of the ladder.

    Args:
        sources: the unpatched text.
        protected: why a file may not be changed, "" when it may.
        test_literals: literals (as written) that occur in the target test.
    """

    def __init__(
        self, sources: ProjectSources, protected: Callable[[Path], str], test_literals: frozenset[str]
    ) -> None:
        self._sources = sources
        self._protected = protected
        self._literals = test_literals

    def forbids(self, candidate: Candidate) -> str:
        """Say which file of the candidate may not be changed, and why; "" when all may be."""
        for edit in candidate.edits:
            if reason := self._protected(edit.path):
                return f"{edit.path.name}: {reason}"
        return ""

    def refuses(self, candidate: Candidate, overlay: Mapping[Path, bytes]) -> str:
        """Say why the candidate must not run; "" when nothing speaks against it.

        Args:
            candidate: the patch.
            overlay: the full new bytes of each file it changes.
        """
        if reason := self.forbids(candidate):
            return reason
        for edit in candidate.edits:
            path, data = edit.path, overlay[edit.path]
            old = self._sources.get(path)
            try:
                new = parse(path, data)
            except UnreadableText as error:
                return f"{path.name}: {error}"
            reason = self._text(edit, old, new) if old is not None else ""
            if reason:
                return f"{path.name}: {reason}"
        return ""

    def _text(self, edit: FileEdit, old: SourceFile, new: SourceFile) -> str:
        if any(mark in new.text and mark not in old.text for mark in _ELISION):
            return "part of the code was left out"
        if old.text == new.text:
            return "changes nothing"
        if not old.has_errors and new.has_errors:
            return "is not valid Python"
        before, after = _changed_lines(old.text, edit)
        if _TOP_LEVEL.search(before) and not old.has_errors:
            lost = old.defined - new.defined - _imported(old)
            if lost:
                return f"removes {', '.join(sorted(lost))} from the module"
        risky = Counter(WORD.findall(after)) - Counter(WORD.findall(before))
        hazardous = bool(risky) or ("return" in after and "exit__" in new.text)
        branching = bool(_BRANCH.search(after))
        if not hazardous and not branching:  # walking a syntax tree is slow: only for lines with such a word
            return ""
        was, now = around(old, new, edit)
        if hazardous and (added := Counter(hazards(now)) - Counter(hazards(was))):
            return f"adds {', '.join(sorted(added))}"
        if branching and is_special_case(was, now, self._literals):
            return "answers the test's own input with the test's own answer"
        return ""


def _changed_lines(text: str, edit: FileEdit) -> tuple[str, str]:
    """Return the whole lines that the edits touch, before and after."""
    before: list[str] = []
    after: list[str] = []
    for one in edit.edits:
        start = text.rfind("\n", 0, one.start) + 1
        end = text.find("\n", one.end)
        end = len(text) if end < 0 else end
        before.append(text[start:end])
        after.append(text[start : one.start] + one.new + text[one.end : end])
    return "\n".join(before), "\n".join(after)


def _imported(file: SourceFile) -> frozenset[str]:
    return frozenset(one.bound for one in file.imports)
