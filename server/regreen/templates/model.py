"""What is a repair template: where does it look, when does it apply, and what does it yield?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from regreen.source import Function, Node, ProjectSources, SourceFile
from regreen.templates.evidence import Evidence
from regreen.templates.scope import Scope
from regreen.values import Local, Suspect, TextEdit


@dataclass(frozen=True, slots=True)
class Change:
    """One idea of a template.

    Args:
        edits: of the site's file, in any order, not overlapping.
        title: what it does, for people ("`<` → `<=`").
        factor: how likely it is beside the template's other ideas; 1 is its best guess.
        others: edits of other files.
    """

    edits: tuple[TextEdit, ...]
    title: str
    factor: float = 1.0
    others: tuple[tuple[Path, tuple[TextEdit, ...]], ...] = ()


@dataclass(frozen=True)
class Site:
    """One statement a template may change, with everything it may want to know.

    Args:
        evidence: the failure, read.
        file: the file under repair.
        sources: the project.
        function: the function around the statement; None at module level.
        statement: the statement, or the clause (`elif`, `except` …) with a header of its own.
        suspect: where the fault localisation pointed.
        scope: the names that can be used here, with guesses of their types.
        crashed: the exception was raised on this statement.
    """

    evidence: Evidence
    file: SourceFile
    sources: ProjectSources
    function: Function | None
    statement: Node
    suspect: Suspect
    scope: Scope
    crashed: bool = False

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """The named nodes of the statement; of a compound statement only those of its header."""
        if self.statement.kind in {
            "function_definition",
            "class_definition",
            "decorated_definition",
            "module",
        }:
            return ()  # signatures have templates of their own
        return tuple(_header(self.statement))

    @cached_property
    def body(self) -> Node:
        """The block of the function around it, or the whole file."""
        return self.function.body if self.function is not None else self.file.root

    @cached_property
    def locals(self) -> dict[str, Local]:
        """The local variables seen when the test failed, if a frame of this function was open then."""
        return self.scope.locals

    def of(self, *kinds: str) -> list[Node]:
        """Return the nodes of the statement's header that are of one of these kinds."""
        return [node for node in self.nodes if node.kind in kinds]


def _header(statement: Node) -> Iterator[Node]:
    """Yield the statement's nodes, leaving out blocks and the clauses that are sites of their own."""
    pending = [statement]
    while pending:
        node = pending.pop()
        yield node
        for child in reversed(node.named):
            if child.kind == "block" or (
                child.kind.endswith("_clause") and child.kind not in _EXPRESSION_CLAUSES
            ):
                continue
            pending.append(child)


_EXPRESSION_CLAUSES = frozenset({"for_in_clause", "if_clause", "with_clause"})


@dataclass(frozen=True, slots=True)
class Trigger:
    """When a failure speaks for a template. Every given part must match.

    Args:
        exception: names of exceptions, without modules; empty for any.
        message: searched in the exception's text.
        shapes: at least one of these words of `evidence.shapes_of`; empty for any.
        crashed: the statement must be where the exception was raised.
    """

    exception: tuple[str, ...] = ()
    message: re.Pattern[str] | None = None
    shapes: frozenset[str] = frozenset()
    crashed: bool = False

    def matches(self, evidence: Evidence, *, crashed: bool) -> bool:
        """Tell whether the failure, at a statement that did or did not raise it, matches."""
        if self.exception and evidence.exception not in self.exception:
            return False
        if self.message and not self.message.search(evidence.failure.message):
            return False
        if self.shapes and not self.shapes & evidence.shapes:
            return False
        return crashed or not self.crashed


@dataclass(frozen=True, slots=True)
class Template:
    """One row of the catalogue.

    Args:
        name: "family.what".
        prior: how likely one idea of this template is the fix, before anything is known of the failure.
        generate: yields the ideas for one statement.
        kinds: the statement's header must contain one of these node kinds (a cheap filter); empty for any.
        only: the failure must match one of these; empty for always.
        likely: the prior is multiplied by the number beside the first of these that matches.
        kind: "cause" | "guard" | "literal" | "deletion".
        exact: the trigger names the mistake, so it goes before any search, whatever the suspiciousness.
        once: looks at the function (or the file) as a whole: called for one statement of each only.
    """

    name: str
    prior: float
    generate: Callable[[Site], Iterator[Change]]
    kinds: frozenset[str] = frozenset()
    only: tuple[Trigger, ...] = ()
    likely: tuple[tuple[Trigger, float], ...] = field(default=())
    kind: str = "cause"
    exact: bool = False
    once: bool = False

    @property
    def family(self) -> str:
        """The part of the name before the dot."""
        return self.name.partition(".")[0]
