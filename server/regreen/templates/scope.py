"""Which names can be used at a place, how likely is each, and what kind of value does it hold?

Types are guesses from what can be seen without running anything: the locals recorded when the test failed,
annotations, assigned literals and calls, how a name is used, and the literals the test passes.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from functools import cached_property

from regreen.source import STATEMENTS, Function, Names, Node, Role, SourceFile, names, role_of
from regreen.templates import documented
from regreen.templates.facts import Facts
from regreen.templates.guesses import ANNOTATED, LOWER, from_bindings, from_usage, incompatible, type_of
from regreen.values import Failure, Local

_OWN_SCOPE = frozenset({"generator_expression", "lambda"})


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
    def spoken_of(self) -> frozenset[str]:
        """Names and numbers that the words about the function speak of; those of its variables left out."""
        return documented.spoken_of(self.function, self.failure.nodeid) - self.own

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
    def idle(self) -> tuple[str, ...]:
        """Names that are given a value but never put to use, parameters first: something was to read them.

        Parameters and locals of the function, then those of the functions around it. What a check (`assert`,
        `raise`, a test for None) reads is not in use yet.
        """
        if self.function is None:
            return ()
        around = [
            self.function.node,
            *(n for n in self.function.node.up() if n.kind == "function_definition"),
        ]
        used: set[str] = set()
        bound: dict[str, None] = {}
        for node in around:
            bound |= dict.fromkeys(
                p.name for f in self.file.functions if f.node == node for p in f.parameters
            )
        for node in around[-1].walk():
            role = role_of(node) if node.kind == "identifier" else Role.LABEL
            if role is Role.OUTER or (role is Role.READ and not _checks(node)):
                used.add(node.text)
            elif role is Role.BOUND and node.text in self.own and not _defines(node):
                bound.setdefault(node.text)
        return tuple(name for name in bound if name not in used | {"self", "cls"} and name[0] != "_")

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
                from_bindings(node, guesses)
        from_usage(body, guesses)
        from_bindings(body, guesses)
        guesses.update(self.arguments)
        if self.function is not None:
            for parameter in self.function.parameters:
                if parameter.annotation:
                    match = ANNOTATED.match(parameter.annotation)
                    name = match.group(1) if match else ""
                    guesses[parameter.name] = LOWER.get(name, name)
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


def _checks(identifier: Node) -> bool:
    """Whether an identifier is only read to complain about it, or to see whether it needs its default."""
    statement = next((up for up in identifier.up() if up.kind in STATEMENTS), None)
    if statement is None or statement.kind in {"assert_statement", "raise_statement"}:
        return statement is not None
    condition, block = statement.field("condition"), statement.field("consequence")
    if statement.kind != "if_statement" or condition is None or block is None:
        return False
    if (
        condition.kind != "comparison_operator"
        or condition != identifier.parent
        or condition.named[-1].kind != "none"
    ):
        return False
    return identifier.text in names(block).bound


def names_of(node: Node) -> frozenset[str]:
    """Return the names that an expression reads."""
    return frozenset(names(node).read)
