"""Does a patch answer the test's own input with the test's own answer, instead of computing it?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from regreen.source import Node, SourceFile

_RECOGNISES = re.compile(r"==|!=|\bin\b|\bis\b")
_TRIVIAL = frozenset({"0", "1", "''", '""', "-1"})


def is_special_case(old: Node, new: Node, literals: frozenset[str]) -> bool:
    """Tell whether a new branch recognises a literal of the test and returns another of its literals.

    Args:
        old: the part of the unpatched text that changes.
        new: the same part, patched.
        literals: as written in the test.
    """
    known = {branch.text: _answer(branch) for branch in _branches(old)}
    for branch in _branches(new):
        if branch.text in known:
            continue
        compared, returned = _answer(branch)
        if any(compared <= theirs and returned <= given for theirs, given in known.values()):
            continue  # the project's own branch, changed elsewhere than in its literals
        if compared & literals - _TRIVIAL and returned & literals:
            return True
    return False


def _answer(branch: Node) -> tuple[frozenset[str], frozenset[str]]:
    """The literals that a branch recognises, and those it returns.

    A literal that is only compared by order (`x >= 10`) is a bound, not an input that is recognised.
    """
    condition = branch.field("condition")
    compared: set[str] = set()
    if condition is not None:
        bounds = {
            literal.text
            for node in condition.walk()
            if node.kind == "comparison_operator" and not _RECOGNISES.search(node.text)
            for literal in _literals(node)
        }
        compared = {literal.text for literal in _literals(condition)} - bounds
    returned = {
        literal.text
        for node in branch.walk()
        if node.kind == "return_statement"
        for literal in _literals(node)
    }
    return frozenset(compared), frozenset(returned)


def _branches(root: Node) -> Iterator[Node]:
    yield from (
        node for node in root.walk() if node.kind in {"if_statement", "elif_clause", "conditional_expression"}
    )


def _literals(root: Node) -> Iterator[Node]:
    yield from (node for node in root.walk() if node.kind in {"integer", "float", "string"})


def literals_of(source: SourceFile, line: int) -> frozenset[str]:
    """Return the literals, as written, of the function (or statement) on a 0-based line: a test's own data."""
    function = source.function_at(line)
    node = function.node if function else source.statement_at(line)
    return frozenset(n.text for n in _literals(node)) if node else frozenset()
