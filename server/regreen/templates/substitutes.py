"""Which other name, or which other attribute, was meant where this one stands?

Wrong names are the commonest mistake, and every name in scope could be the right one. So the ideas of a statement
are ordered by what speaks for each, and only the first few count as much as an idea of another template.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from regreen.source import Class, Function, Node
from regreen.templates.atoms import idle_at, names_at
from regreen.templates.attributes import accesses
from regreen.templates.model import Change, Site
from regreen.templates.names import bound_around, reads
from regreen.templates.rewrite import arrow, siblings, swap
from regreen.templates.signatures import meant, positional

_BEST_NAMES = 5
_BEST_ATTRIBUTES = 4
_MOST = 40  # ideas for one statement
_LATER = 0.5  # weight of the ideas behind the best ones of a statement
_OPERANDS = frozenset(
    {"binary_operator", "comparison_operator", "boolean_operator", "argument_list", "tuple", "list"}
)


@dataclass(frozen=True, slots=True)
class _Idea:
    """`new` in place of the node, and how much speaks for it."""

    node: Node
    new: str
    likelihood: float


def wrong_variable(site: Site) -> Iterator[Change]:
    """A variable → another one in scope: one that nothing uses, that the place is named after, or a like one."""
    usable, idle = names_at(site), set(idle_at(site))
    outer = [n for n in site.scope.variables if n not in usable and n in site.scope.uses.read]
    found: list[_Idea] = []
    for node in reads(site):
        around = node.parent
        if around is not None and around.kind == "call" and around.field("function") == node:
            continue
        local = bound_around(node)
        wanted, taken = _wanted_name(site, node), _taken_of(node)
        repeated = 0.2 if _is_repeated(node) else 0.0
        for new in dict.fromkeys([*usable, *local, *outer]):
            likeness = site.scope.similar(node.text, new) if new != node.text else 0.0
            if not likeness or (new not in usable and new not in local and new in site.scope.own):
                continue
            likelihood = 0.5 * likeness + repeated
            likelihood += 0.5 if new in idle or (new in local and _is_unread(node, new)) else 0.0
            likelihood += 0.4 if wanted == new else -0.2 if wanted == node.text else 0.0
            if taken and taken not in site.scope.file_facts.attributes.get(new, {}):
                likelihood *= 0.5  # nobody asks it for that attribute
            found.append(_Idea(node, new, likelihood))
    for idea, likelihood in _few(found, _BEST_NAMES, _LATER):
        yield Change((swap(idea.node, idea.new),), arrow(idea.node.text, idea.new), likelihood)


def _few(found: Sequence[_Idea], best: int, later: float) -> Iterator[tuple[_Idea, float]]:
    """The likeliest ideas of a statement as they are, the others with less weight."""
    for rank, idea in enumerate(sorted(found, key=lambda idea: -idea.likelihood)[:_MOST]):
        likelihood = min(1.0, max(idea.likelihood, 0.05))
        yield idea, likelihood if rank < best else likelihood * later


def _wanted_name(site: Site, node: Node) -> str:
    """What the place is called: `size=…`, `self.size = …`, the parameter an argument is for; else empty."""
    around = node.parent
    if around is None:
        return ""
    if around.kind in {"keyword_argument", "pair"}:
        label = around.field("name") or around.field("key")
        return label.text.strip("\"'") if label is not None and label != node else ""
    if around.kind == "assignment" and around.field("right") == node:
        left = around.field("left")
        attribute = left.field("attribute") if left is not None else None
        return attribute.text if attribute is not None else ""
    call = around.parent if around.kind == "argument_list" else None
    if call is not None and call.kind == "call":
        at = around.named.index(node)
        for function in meant(site, call)[:1]:
            parameters = positional(function)
            return parameters[at].name if at < len(parameters) else ""
    return ""


def _taken_of(node: Node) -> str:
    """The attribute that is taken of a name where it stands; else empty."""
    around = node.parent
    attribute = around.field("attribute") if around is not None and around.kind == "attribute" else None
    return attribute.text if attribute is not None else ""


def _is_repeated(node: Node) -> bool:
    """Whether the expression around a name has it twice: `a - a`, `f(a, a)`."""
    around = node.parent
    return (
        around is not None
        and around.kind in _OPERANDS
        and [n.text for n in around.named].count(node.text) > 1
    )


def _is_unread(node: Node, name: str) -> bool:
    """Whether the comprehension or lambda around a node binds a name without reading it."""
    for up in node.up():
        if up.kind.endswith("_comprehension") or up.kind in {"generator_expression", "lambda"}:
            return sum(one.kind == "identifier" and one.text == name for one in up.walk()) < 2
    return False


def wrong_attribute(site: Site) -> Iterator[Change]:
    """`self.a` → another attribute of the class, or one that is used on the same object in this file.

    Called ones for called ones, values for values; those that the object had when the test failed first.
    """
    facts, function, copied = site.scope.file_facts, site.function, _is_copied(site)
    beside = {
        n.text for other in _beside(site) for n in other.walk(into_blocks=False) if n.kind == "attribute"
    }
    members: dict[str, _Members] = {}
    found: list[_Idea] = []
    for node, holder, attribute in accesses(site):
        around = node.parent
        is_call = around is not None and around.kind == "call" and around.field("function") == node
        is_target = around is not None and around.field("left") == node and around.kind == "assignment"
        known = members.setdefault(holder.text, _members(site, holder))
        used, here = facts.attributes.get(holder.text, {}), site.scope.facts.attributes.get(holder.text, {})
        alive, wanted = _alive(site, holder), _wanted_name(site, node)
        for new in sorted({*used, *(known.called if is_call else known.values)} - {attribute.text}):
            likelihood = 0.2 + 0.4 * difflib.SequenceMatcher(None, attribute.text, new).ratio()
            likelihood += 0.1 * (new in here) + 0.03 * min(used.get(new, 0), 5)
            likelihood += 0.2 * (node.text in beside) + 0.2 * (new in alive) + 0.3 * copied
            likelihood += 0.4 if wanted == new else -0.2 if wanted == attribute.text else 0.0
            if is_target:
                likelihood += 0.3 * (known.known != frozenset() and new not in known.known)  # read, never set
            elif not is_call:
                likelihood += 0.3 * (new in known.idle)  # set, never read
            called = new in known.called or (
                new not in known.values and f"{holder.text}.{new}" in facts.called
            )
            if called != is_call or (is_call and around is not None and not known.takes(new, around)):
                likelihood *= 0.3  # a method where a value is read, or the other way round
            if is_call and function is not None and new == function.name:
                likelihood *= 0.5  # few methods were meant to call themselves
            found.append(_Idea(attribute, new, likelihood))
    for idea, likelihood in _few(found, _BEST_ATTRIBUTES, _LATER if not copied else 1.5 * _LATER):
        holder_text = (idea.node.parent or idea.node).text.removesuffix(idea.node.text)
        title = arrow(f"{holder_text}{idea.node.text}", f"{holder_text}{idea.new}")
        yield Change((swap(idea.node, idea.new),), title, likelihood)


@dataclass(frozen=True, slots=True)
class _Members:
    """What an object of a known class has: methods, values (properties too), and values no file reads."""

    methods: tuple[Function, ...] = ()
    values: frozenset[str] = frozenset()
    idle: frozenset[str] = frozenset()

    @property
    def called(self) -> frozenset[str]:
        """Names of its methods."""
        return frozenset(method.name for method in self.methods)

    @property
    def known(self) -> frozenset[str]:
        """Everything that the class tells."""
        return self.called | self.values

    def takes(self, name: str, call: Node) -> bool:
        """Whether a method can be called with so many arguments; True where there is no telling."""
        listed = call.field("arguments")
        method = next((method for method in self.methods if method.name == name), None)
        if method is None or listed is None or any(n.kind.endswith("splat") for n in listed.named):
            return True
        given = sum(argument.kind != "keyword_argument" for argument in listed.named)
        places = positional(method)
        needed = sum(p.default is None for p in places)
        return needed <= len(listed.named) and (
            given <= len(places) or any(p.kind == "*" for p in method.parameters)
        )


def _members(site: Site, holder: Node) -> _Members:
    owner = _class_of(site, holder)
    if owner is None:
        return _Members()
    properties = {m.name for m in owner.methods if any("property" in d.text for d in m.decorators)}
    methods = tuple(method for method in owner.methods if method.name not in properties)
    values = frozenset((owner.attributes | properties) - {method.name for method in methods})
    unread = values - site.scope.file_facts.attributes_read - properties
    accessed = Counter[str]()
    for counts in site.scope.file_facts.attributes.values() if unread else ():
        accessed.update(counts)
    idle = frozenset(name for name in unread if site.sources.attributes[name] <= accessed[name])
    return _Members(methods, values, idle)


def _class_of(site: Site, holder: Node) -> Class | None:
    """The class of an object: of the receiver, or the one that a value had when the test failed."""
    function = site.function
    if (
        function is not None
        and function.owner
        and function.parameters
        and holder.text == function.parameters[0].name
    ):
        return site.file.class_named(function.owner)
    return site.file.class_named(site.scope.types.get(holder.text, "") or "-")


def _alive(site: Site, holder: Node) -> frozenset[str]:
    """Attributes that an object showed in its repr when the test failed: `Order(price=3, count=2)`."""
    local = site.locals.get(holder.text)
    if local is None or not local.value.startswith((f"{local.type}(", f"<{local.type} ")):
        return frozenset()
    return frozenset(re.findall(r"(?:\(|, |<\w+ )(\w+)=", local.value))


def _beside(site: Site) -> list[Node]:
    """The statements before and after this one."""
    near = siblings(site.statement)
    at = near.index(site.statement) if site.statement in near else 0
    return [near[i] for i in (at - 1, at + 1) if 0 <= i < len(near) and near[i] != site.statement]


def _is_copied(site: Site) -> bool:
    """Whether the statement assigns just what the one beside it does: `a = x.name`, `b = x.name`."""
    right = _assigned(site.statement)
    return right is not None and any(
        other.text != site.statement.text
        and (value := _assigned(other)) is not None
        and value.text == right.text
        for other in _beside(site)
    )


def _assigned(statement: Node) -> Node | None:
    inner = statement.named[0] if statement.kind == "expression_statement" and statement.named else None
    right = inner.field("right") if inner is not None and inner.kind == "assignment" else None
    return (
        right
        if right is not None and right.kind in {"attribute", "call", "subscript", "binary_operator"}
        else None
    )
