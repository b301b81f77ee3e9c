"""What kind of value does an expression hold, as far as the text tells?

Guesses from assigned literals and calls, from how a name is used, and from the literals the tests pass.
"""

from __future__ import annotations

import re
from collections import Counter

from regreen.source import Function, Node, SourceFile

NUMBERS = frozenset({"int", "float"})


SEQUENCES = frozenset({"list", "str", "tuple"})


SIZED = frozenset({"list", "str", "tuple", "dict", "set"})


_BY_KIND = {
    "integer": "int", "float": "float", "string": "str", "concatenated_string": "str", "list": "list",
    "list_comprehension": "list", "dictionary": "dict", "dictionary_comprehension": "dict", "set": "set",
    "set_comprehension": "set", "tuple": "tuple", "true": "bool", "false": "bool", "comparison_operator": "bool",
    "not_operator": "bool", "lambda": "callable",
}  # fmt: skip


_BY_CALL = {
    "len": "int", "int": "int", "sum": "number", "abs": "number", "round": "number", "ord": "int", "float": "float",
    "str": "str", "repr": "str", "chr": "str", "bin": "str", "hex": "str", "input": "str", "list": "list",
    "sorted": "list", "range": "range", "dict": "dict", "set": "set", "frozenset": "set", "tuple": "tuple",
    "bool": "bool", "any": "bool", "all": "bool", "isinstance": "bool",
}  # fmt: skip


_BY_METHOD = {
    "lower": "str", "upper": "str", "strip": "str", "split": "list", "join": "str", "replace": "str",
    "startswith": "bool", "endswith": "bool", "keys": "list", "values": "list", "items": "list", "index": "int",
    "count": "int", "find": "int", "format": "str", "copy": "",
}  # fmt: skip


_USED_AS = {
    "lower": "str", "upper": "str", "strip": "str", "split": "str", "isdigit": "str", "isalpha": "str",
    "islower": "str", "isupper": "str", "startswith": "str", "endswith": "str", "join": "str", "replace": "str",
    "append": "list", "extend": "list", "sort": "list", "insert": "list", "items": "dict", "keys": "dict",
    "values": "dict", "setdefault": "dict", "add": "set", "discard": "set",
}  # fmt: skip


ANNOTATED = re.compile(r"(?:typing\.|t\.)?(\w+)")


LOWER = {
    "List": "list",
    "Dict": "dict",
    "Set": "set",
    "Tuple": "tuple",
    "Sequence": "list",
    "Iterable": "list",
}


def incompatible(one: str, other: str) -> bool:
    """Whether two guessed types certainly differ."""
    if not one or not other or one == other:
        return False
    for group, members in (("number", NUMBERS | {"bool"}), ("sized", SIZED | {"range"})):
        if {one, other} <= members | {group}:
            return not (group in (one, other) or group == "number")
    known = NUMBERS | SIZED | {"bool", "number", "sized", "range", "callable"}
    return one in known and other in known


def type_of(node: Node, types: dict[str, str]) -> str:
    """Guess the type of an expression from its form and the guesses for its names."""
    kind = node.kind
    if kind in _BY_KIND:
        return _BY_KIND[kind]
    if kind == "identifier":
        return types.get(node.text, "")
    if kind in {"parenthesized_expression", "await"} and node.named:
        return type_of(node.named[0], types)
    if kind == "call":
        function = node.field("function")
        if function is None:
            return ""
        if function.kind == "identifier":
            return _BY_CALL.get(function.text, "")
        name = function.field("attribute")
        return _BY_METHOD.get(name.text, "") if name is not None else ""
    if kind == "unary_operator":
        return "number"
    if kind == "binary_operator":
        left, right = node.field("left"), node.field("right")
        sides = {type_of(side, types) for side in (left, right) if side is not None}
        for type_ in ("str", "list", "tuple", "float"):
            if type_ in sides:
                return type_
        return "int" if sides == {"int"} else "number" if sides & {"int", "number"} else ""
    if kind == "subscript":
        value = node.field("value")
        of = type_of(value, types) if value is not None else ""
        if any(child.kind == "slice" for child in node.named):
            return of
        return "str" if of == "str" else ""
    return ""


def from_bindings(body: Node, guesses: dict[str, str]) -> None:
    """Add guesses for the names that assignments and loops bind."""
    for node in body.walk():
        if node.kind in {"assignment", "named_expression"}:
            left = node.field("left") or node.field("name")
            right = node.field("right") or node.field("value")
            if left is None or right is None:
                continue
            lefts, rights = _parts(left), _parts(right)
            for target, value in zip(lefts, rights, strict=True) if len(lefts) == len(rights) else ():
                guess = type_of(value, guesses)
                if target.kind == "identifier" and guess:
                    guesses.setdefault(target.text, guess)
        elif node.kind in {"for_statement", "for_in_clause"}:
            _from_loop(node, guesses)


def _parts(node: Node) -> list[Node]:
    return (
        node.named if node.kind in {"pattern_list", "expression_list", "tuple_pattern", "tuple"} else [node]
    )


def _from_loop(node: Node, guesses: dict[str, str]) -> None:
    left, right = node.field("left"), node.field("right")
    if left is None or right is None:
        return
    function = right.field("function") if right.kind == "call" else None
    called = function.text if function is not None else ""
    if called == "range" and left.kind == "identifier":
        guesses.setdefault(left.text, "int")
    elif called == "enumerate" and left.named and left.named[0].kind == "identifier":
        guesses.setdefault(left.named[0].text, "int")
    elif left.kind == "identifier" and type_of(right, guesses) == "str":
        guesses.setdefault(left.text, "str")


def from_usage(body: Node, guesses: dict[str, str]) -> None:
    """Add guesses for names by the methods, calls and operators they are used with."""
    votes: dict[str, Counter[str]] = {}
    for node in body.walk():
        if node.kind == "attribute":
            holder, name = node.field("object"), node.field("attribute")
            if (
                holder is not None
                and name is not None
                and holder.kind == "identifier"
                and name.text in _USED_AS
            ):
                votes.setdefault(holder.text, Counter())[_USED_AS[name.text]] += 2
        elif node.kind == "call":
            function, listed = node.field("function"), node.field("arguments")
            if (
                function is not None
                and listed is not None
                and function.text in {"len", "sorted", "enumerate"}
            ):
                for argument in listed.named[:1]:
                    if argument.kind == "identifier":
                        votes.setdefault(argument.text, Counter())["sized"] += 1
        elif node.kind in {"for_statement", "for_in_clause"}:
            right = node.field("right")
            if right is not None and right.kind == "identifier":
                votes.setdefault(right.text, Counter())["sized"] += 1
        elif node.kind in {"binary_operator", "augmented_assignment"}:
            left, right = node.field("left"), node.field("right")
            for one, other in ((left, right), (right, left)):
                if one is None or other is None or one.kind != "identifier":
                    continue
                if other.kind in {"integer", "float"}:
                    votes.setdefault(one.text, Counter())["number"] += 1
    for voted, counted in votes.items():
        guesses.setdefault(voted, counted.most_common(1)[0][0])


def argument_types(function: Function, test: SourceFile) -> dict[str, str]:
    """Guess parameter types from the literals that a test file passes to a function."""
    found: dict[str, str] = {}
    parameters = [p.name for p in function.parameters if p.kind == "plain"]
    if function.owner and parameters:
        parameters = parameters[1:]
    for node in test.root.walk():
        called = node.field("function") if node.kind == "call" else None
        if called is None or called.text.rpartition(".")[2] != function.name:
            continue
        listed = node.field("arguments")
        plain = [n for n in (listed.named if listed else []) if n.kind != "keyword_argument"]
        for name, value in zip(parameters, plain, strict=False):
            guess = type_of(value, {})
            if guess:
                found.setdefault(name, guess)
    return found
