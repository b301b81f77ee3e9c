"""Does a patch give back, or recognise, what stands in the test, instead of computing it?"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

from regreen.errors import UnreadableText
from regreen.source import Node, Role, SourceFile, names, parse, role_of
from regreen.values import Failure, Flag

COPIED = "test-literal"
"""The name of the flags of `copied`."""

Value = complex | str
"""A literal's value: 4 is 4.0, and a text is the same in whatever quotes."""

_LITERALS = frozenset({"integer", "float", "string"})
_RECOGNISES = frozenset({"==", "!=", "in", "not in", "is", "is not"})
_BRANCHES = frozenset({"if_statement", "elif_clause", "conditional_expression"})
_QUOTED = re.compile(r"""(?P<prefix>\w*)(?P<quotes>\"{3}|'{3}|"|')(?P<inside>.*)(?P=quotes)""", re.DOTALL)
_TRIVIAL: frozenset[Value] = frozenset({0, 1, "''"})
"""What any function may begin with or return."""
_SPELLING = 0.8
"""How alike two texts must be (by `difflib`, quotes included) for one to be the other misspelt."""
_HOLDERS = frozenset(
    {
        "parenthesized_expression", "conditional_expression", "boolean_operator", "expression_list", "tuple", "list",
        "set", "dictionary", "pair",
    }
)  # fmt: skip
"""Expressions whose value is one of their parts, or holds them."""


def value(literal: Node) -> Value:
    """What a literal stands for; its text where that cannot be told."""
    text = literal.text
    if (quoted := _QUOTED.fullmatch(text)) is not None:
        return f"{'b' if 'b' in quoted['prefix'].lower() else ''}'{quoted['inside']}'"
    try:
        number: complex = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return number


def of_test(test: SourceFile | None, failure: Failure) -> frozenset[Value]:
    """The literals a red test is made of: of its function and helpers, its parameters, and what it compared.

    Args:
        test: the file it is defined in.
        failure: how it failed.
    """
    nodes: list[Node] = []
    if test is not None:
        lines = {failure.line, *(frame.line for frame in failure.frames if frame.path == failure.path)}
        parts = [part for line in sorted(lines) if (part := _part(test, line)) is not None]
        read = {name for part in parts for name in names(part).read}
        parts += [
            node
            for node in test.top_level
            if node.kind == "expression_statement" and names(node).bound & read
        ]
        nodes += [node for part in parts for node in part.walk()]
    if failure.comparison is not None:
        nodes += [*_written(failure.comparison.left), *_written(failure.comparison.right)]
    return values(nodes)


def _part(test: SourceFile, line: int) -> Node | None:
    """The function on a line, with its decorators."""
    function = test.function_at(line)
    if function is None:
        return test.statement_at(line)
    around = function.node.parent
    return around if around is not None and around.kind == "decorated_definition" else function.node


def _written(representation: str) -> Iterator[Node]:
    try:
        yield from parse(Path("value.py"), representation.encode()).root.walk()
    except (UnreadableText, UnicodeEncodeError):
        return


def values(nodes: Iterable[Node]) -> frozenset[Value]:
    """The values of the literals among nodes."""
    return frozenset(value(node) for node in nodes if node.kind in _LITERALS)


# --------------------------------------------------------------------------- one literal that was copied


def copied(nodes: Sequence[Node], known: frozenset[Value], wanted: frozenset[Value]) -> Iterator[Flag]:
    """Yield a flag for each literal of the test that the patched code gives back or recognises.

    A literal that is only compared by order (`x >= 10`), or that is computed with (`x * 10`), is no copied answer, and
    neither is a text that only mends the spelling of the one it stands for.

    Args:
        nodes: of the patched text.
        known: the values that the unpatched text has there already.
        wanted: those of the test.
    """
    there = values(nodes)
    gone = [text for text in known - there if isinstance(text, str)]
    new = frozenset(one for one in (wanted & there) - known - _TRIVIAL if not _respelt(one, gone))
    for node in nodes if new else ():
        for what, places in (("returns", _given_back(node)), ("compares with", _recognised(node))):
            for literal in places:
                if value(literal) in new:
                    yield Flag(COPIED, f"{what} a literal of the test: {_short(literal.text)}")


def _respelt(new: Value, gone: Sequence[str]) -> bool:
    return isinstance(new, str) and bool(get_close_matches(new, gone, cutoff=_SPELLING))


def _given_back(node: Node) -> Iterator[Node]:
    if node.kind in {"return_statement", "yield"}:
        yield from (literal for held in node.named for literal in _constants(held))
    elif node.kind == "lambda":
        yield from _constants(node.field("body"))
    elif node.kind == "assignment" and (target := node.field("left")) is not None and _is_returned(target):
        yield from _constants(node.field("right"))


def _recognised(node: Node) -> Iterator[Node]:
    if node.kind == "comparison_operator" and not _orders(node):
        yield from (literal for operand in node.named for literal in _constants(operand))
    elif node.kind == "case_pattern":
        yield from (part for part in node.walk() if part.kind in _LITERALS)
    elif node.kind == "dictionary" and _is_asked(node):
        yield from (key for pair in node.named for key in _constants(pair.field("key")))


def _constants(node: Node | None) -> Iterator[Node]:
    """The literals of those parts of an expression that are the same whatever the function was called with."""
    if node is None:
        return
    if node.kind in _HOLDERS:
        for part in node.named[::2] if node.kind == "conditional_expression" else node.named:
            yield from _constants(part)
    elif (found := [part for part in node.walk() if part.kind in _LITERALS]) and not _depends(node):
        yield from found


def _depends(node: Node) -> bool:
    """Whether it reads a name that the function around it binds."""
    function = _function_around(node)
    bound = names(function).bound if function is not None else frozenset()
    return any(
        part.kind == "identifier" and part.text in bound and role_of(part) is Role.READ
        for part in node.walk()
    )


def _is_returned(target: Node) -> bool:
    function = _function_around(target)
    return function is not None and any(
        node.kind == "return_statement"
        and any(part.text == target.text for held in node.named for part in _heads(held))
        for node in function.walk()
    )


def _heads(node: Node) -> Iterator[Node]:
    yield node
    if node.kind in _HOLDERS:
        for part in node.named:
            yield from _heads(part)


def _is_asked(table: Node) -> bool:
    """Whether a dictionary is a table that is looked up at once: `{…}[key]`, `{…}.get(key)`."""
    around = table.parent
    return around is not None and around.kind in {"subscript", "attribute"} and around.named[0] == table


def _function_around(node: Node) -> Node | None:
    """The outermost one: what it binds, those inside of it can read."""
    around = [up for up in node.up() if up.kind in {"function_definition", "lambda"}]
    return around[-1] if around else None


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"


# --------------------------------------------------------------------------- the test's answer to the test's input


def is_special_case(old: Sequence[Node], new: Sequence[Node], wanted: frozenset[Value]) -> bool:
    """Tell whether a new branch recognises a literal of the test and returns another of its literals.

    Args:
        old: the nodes of the unpatched text that change.
        new: the same part, patched.
        wanted: the test's literals.
    """
    known = {branch.text: _answer(branch) for branch in old if branch.kind in _BRANCHES}
    for branch in new:
        if branch.kind not in _BRANCHES or branch.text in known:
            continue
        compared, returned = _answer(branch)
        if any(compared <= theirs and returned <= given for theirs, given in known.values()):
            continue  # the project's own branch, changed elsewhere than in its literals
        if compared & wanted - _TRIVIAL and returned & wanted:
            return True
    return False


def _answer(branch: Node) -> tuple[frozenset[Value], frozenset[Value]]:
    """The literals that a branch recognises, and those it returns.

    A literal that is only compared by order (`x >= 10`) is a bound, not an input that is recognised.
    """
    inline = branch.kind == "conditional_expression"  # `answer if condition else other`
    condition = branch.named[1] if inline else branch.field("condition")
    asked = list(condition.walk()) if condition is not None else []
    bounds = [literal for node in asked if _orders(node) for literal in node.walk()]
    answers = [branch] if inline else [node for node in branch.walk() if node.kind == "return_statement"]
    given = [literal for node in answers for literal in (_constants(node) if inline else node.walk())]
    return values(asked) - values(bounds), values(given)


def _orders(node: Node) -> bool:
    return node.kind == "comparison_operator" and _RECOGNISES.isdisjoint(
        child.kind for child in node.children
    )
