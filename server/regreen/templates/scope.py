"""Which names can be used at a place, how likely is each, and what kind of value does it hold?

Types are guesses from what can be seen without running anything: the locals recorded when the test failed,
annotations, assigned literals and calls, how a name is used, and the literals the test passes.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

from regreen.source import Function, Names, Node, Role, SourceFile, names, role_of
from regreen.templates.facts import Facts
from regreen.values import Failure, Local

_OWN_SCOPE = frozenset({"generator_expression", "lambda"})
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
_ANNOTATED = re.compile(r"(?:typing\.|t\.)?(\w+)")
_LOWER = {
    "List": "list",
    "Dict": "dict",
    "Set": "set",
    "Tuple": "tuple",
    "Sequence": "list",
    "Iterable": "list",
}


@dataclass(frozen=True)
class Scope:
    """The names usable in one function (or at module level) of a file.

    Args:
        file: the file.
        function: None for the module's own statements.
        failure: whose frames and test may tell types.
        file_facts: what is known of the whole file.
        arguments: types of the literals that the tests pass, by parameter.
    """

    file: SourceFile
    function: Function | None
    failure: Failure
    file_facts: Facts
    arguments: dict[str, str] = field(default_factory=dict)

    @cached_property
    def facts(self) -> Facts:
        """What is known of the function's body (or of the whole file)."""
        return Facts(self.function.body) if self.function is not None else self.file_facts

    @cached_property
    def first_seen(self) -> tuple[tuple[str, int], ...]:
        """Where each name that the function binds itself first stands, in the order of the text.

        What only a comprehension or a lambda binds does not count.
        """
        found: dict[str, int] = {}
        for node in self.facts.body.walk():
            if node.kind != "identifier" or node.text not in self.own or node.text in found:
                continue
            if not any(up.kind in _OWN_SCOPE or up.kind.endswith("_comprehension") for up in node.up()):
                found[node.text] = node.start
        return tuple(found.items())

    @cached_property
    def uses(self) -> Names:
        """What the function (or the file) reads and binds."""
        return self.function.names() if self.function is not None else self.file.names

    @cached_property
    def locals(self) -> dict[str, Local]:
        """The locals of the innermost frame of this function that was open when the test failed."""
        for frame in reversed(self.failure.frames):
            if frame.path != self.file.path:
                continue
            here = self.file.function_at(frame.line)
            if here is None or self.function is None or here.span != self.function.span:
                continue
            return {local.name: local for local in frame.locals}
        return {}

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """Names of values in scope, most used first: parameters, locals, then what the module assigns."""
        own = [] if self.function is None else [p.name for p in self.function.parameters]
        own += sorted(self.own - set(own))
        weight = {name: self.uses.read[name] for name in own}
        outer = sorted(name for name in self._module_values if name not in weight)
        ordered = sorted(own, key=lambda name: (-weight[name], own.index(name)))
        return (*ordered, *outer)

    @cached_property
    def own(self) -> frozenset[str]:
        """Parameters and names that the function binds itself."""
        body = self.function.node if self.function is not None else self.file.root
        found = {
            node.text
            for node in body.walk()
            if node.kind == "identifier" and role_of(node) in (Role.BOUND, Role.BOTH) and not _defines(node)
        }
        return frozenset(found)

    @cached_property
    def callables(self) -> tuple[str, ...]:
        """Functions and classes of the file, and imported names."""
        return tuple(sorted((self.file.defined - self._module_values) | {i.bound for i in self.file.imports}))

    @cached_property
    def _definitions(self) -> frozenset[str]:
        """Names of functions, classes and modules: not values to compute with."""
        found = {function.name for function in self.file.functions} | {c.name for c in self.file.classes}
        return frozenset(found | {one.bound for one in self.file.imports})

    @cached_property
    def _module_values(self) -> frozenset[str]:
        return self.file.defined - self._definitions

    @cached_property
    def types(self) -> dict[str, str]:
        """A guess of the type of each name ("int", "number", "str", "sized" …); absent when there is none."""
        guesses: dict[str, str] = {}
        body = self.function.node if self.function is not None else self.file.root
        for node in self.file.top_level:
            if node.kind == "expression_statement":
                _from_bindings(node, guesses)
        _from_usage(body, guesses)
        _from_bindings(body, guesses)
        guesses.update(self.arguments)
        if self.function is not None:
            for parameter in self.function.parameters:
                if parameter.annotation:
                    match = _ANNOTATED.match(parameter.annotation)
                    name = match.group(1) if match else ""
                    guesses[parameter.name] = _LOWER.get(name, name)
        guesses.update({name: local.type for name, local in self.locals.items() if local.type != "NoneType"})
        return guesses

    def type_of(self, node: Node) -> str:
        """Guess the type of an expression; empty when nothing speaks for one."""
        return type_of(node, self.types)

    def similar(self, name: str, other: str) -> float:
        """How well `other` can be meant where `name` stands: spelling, use and type, in [0, 1]."""
        if (name, other) not in self._similar:
            self._similar[name, other] = self._similarity(name, other)
        return self._similar[name, other]

    @cached_property
    def _similar(self) -> dict[tuple[str, str], float]:
        return {}  # filled as it is asked for: some templates compare every pair of names

    def _similarity(self, name: str, other: str) -> float:
        if incompatible(self.types.get(name, ""), self.types.get(other, "")):
            return 0.0
        spelling = difflib.SequenceMatcher(None, name, other).ratio()
        use = min(self.uses.read[other], 4) / 4
        near = 1.0 if other in self.own else 0.5
        return near * (0.4 + 0.35 * spelling + 0.25 * use)


def _defines(identifier: Node) -> bool:
    """Whether an identifier is the name of a function or a class, or imported."""
    around = identifier.parent
    return around is None or around.kind in {
        "function_definition", "class_definition", "dotted_name", "aliased_import",
    }  # fmt: skip


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


def _from_bindings(body: Node, guesses: dict[str, str]) -> None:
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


def _from_usage(body: Node, guesses: dict[str, str]) -> None:
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


def names_of(node: Node) -> frozenset[str]:
    """Return the names that an expression reads."""
    return frozenset(names(node).read)
