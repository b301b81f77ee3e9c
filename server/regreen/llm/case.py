"""How much of the evidence is shown to which role?"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from regreen import edits
from regreen.llm.desk import Desk
from regreen.llm.evidence import Sendable, attempted, sections
from regreen.llm.fitting import Fitted, Section, fit
from regreen.source import ProjectSources
from regreen.values import Attempt, Failure, Role, Suspect

INSTRUCTIONS = 1500
"""Tokens of the longest of our own prompts, with room for the user's hint and the lessons."""

WORDS = 60
"""How many names of the code a lesson is looked up by."""

_NAME = re.compile(r"[A-Za-z_]\w{2,}")
_SAMPLE = 20_000  # characters that tokens are counted in


@dataclass(slots=True)
class Case:
    """The evidence of one heal.

    Args:
        desk: knows how much a model takes in.
        failure: the red test.
        suspects: best first.
        sources: the project.
        sendable: keeps files out.
        cause: where and how the test fails, in one line.
        signature: what lessons of this failure are found by.
        tried: what became of the candidates of repair templates: verdict → how many.
    """

    desk: Desk
    failure: Failure
    suspects: Sequence[Suspect]
    sources: ProjectSources
    sendable: Sendable
    cause: str
    signature: str
    tried: Mapping[str, int] = field(default_factory=dict)
    _evidence: tuple[Section, ...] = field(default=(), init=False)
    _per_letter: float = field(default=0.0, init=False)

    @property
    def place(self) -> tuple[str, int]:
        """Where the failure shows: a path relative to the project, and a 0-based line."""
        own = [(frame.path, frame.line) for frame in self.failure.frames if frame.own]
        path, line = own[-1] if own else (self.failure.path, self.failure.line)
        return edits.relative(path, self.sources.root), line

    @property
    def words(self) -> str:
        """Names of the code that is most suspicious, for finding lessons about it."""
        names: dict[str, None] = {}
        for one in self.suspects[:5]:
            source = None if self.sendable(one.path) else self.sources.get(one.path)
            function = source.function_at(one.line) if source is not None else None
            text = function.node.text if function is not None else ""
            names.update(dict.fromkeys([one.function, *_NAME.findall(text)]))
        return " ".join([name for name in names if name][:WORDS])

    async def fitted(self, role: Role, *, beside: int = 0, attempts: Sequence[Attempt] = ()) -> Fitted:
        """Choose the evidence for a prompt.

        Args:
            role: who is asked.
            beside: how many characters the prompt has besides the evidence and our own text.
            attempts: what a model tried.
        """
        if not self._evidence:
            self._evidence = sections(
                self.failure, self.suspects, self.sources, self.sendable, tried=self.tried
            )
            sample = "\n".join(line for one in self._evidence for line in one.lines)[:_SAMPLE]
            self._per_letter = max(0.05, await self.desk.count(sample) / max(1, len(sample)))
        per_letter = self._per_letter
        room = await self.desk.room(role) - INSTRUCTIONS - math.ceil(beside * per_letter)
        found = (*self._evidence, *attempted(attempts))
        return fit(found, max(300, room), lambda text: math.ceil(len(text) * per_letter))
