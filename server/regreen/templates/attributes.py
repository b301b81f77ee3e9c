"""Attributes: misspelt ones, other languages' ones, wrong ones, and parentheses too many or too few."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from regreen.source import Node
from regreen.templates.model import Change, Site
from regreen.templates.rewrite import arrow, swap
from regreen.values import TextEdit

KINDS = frozenset({"attribute"})
NO_ATTRIBUTE = re.compile(r"has no attribute '(\w+)'")
_MEANT = re.compile(r"[Dd]id you mean:? '(\w+)'")

FOREIGN: dict[str, str] = {
    # what other languages (and Python 2) call it → an expression over the object `{}`, or a method's name
    "push": "append", "push_back": "append", "concat": "extend", "addAll": "update", "put": "update",
    "has_key": "{1} in {0}", "contains": "{1} in {0}", "includes": "{1} in {0}", "indexOf": "index",
    "iteritems": "items", "itervalues": "values", "iterkeys": "keys", "length": "len({0})", "size": "len({0})",
    "isEmpty": "not {0}", "is_empty": "not {0}", "empty": "not {0}", "toLowerCase": "lower", "toUpperCase": "upper",
    "toLower": "lower", "toUpper": "upper", "trim": "strip", "trimStart": "lstrip", "trimEnd": "rstrip",
    "startsWith": "startswith", "endsWith": "endswith", "substring": "{0}[{1}:{2}]", "charAt": "{0}[{1}]",
    "toString": "str({0})", "replaceAll": "replace", "next": "next({0})", "delete": "remove", "unshift": "{0}.insert(0, {1})",
    "shift": "{0}.pop(0)", "getOrDefault": "get", "containsKey": "{1} in {0}", "to_s": "str({0})",
    "to_i": "int({0})", "first": "{0}[0]", "last": "{0}[-1]", "getTime": "timestamp", "join": "{1}.join({0})",
    "isdigits": "isdigit", "isNumeric": "isnumeric", "sorted": "sort", "reversed": "reverse", "clone": "copy",
}  # fmt: skip


def missing(site: Site) -> str:
    """Return the attribute the failure says is missing; empty when it says nothing."""
    match = NO_ATTRIBUTE.search(site.evidence.failure.message)
    return match.group(1) if match else ""


def accesses(site: Site, name: str = "") -> Iterator[tuple[Node, Node, Node]]:
    """Yield (access, object, attribute) for the attribute accesses of the statement's header."""
    for node in site.of("attribute"):
        holder, attribute = node.field("object"), node.field("attribute")
        if holder is not None and attribute is not None and (not name or attribute.text == name):
            yield node, holder, attribute


def typo(site: Site) -> Iterator[Change]:
    """An attribute that does not exist → the nearest that does: on the object when it failed, or in the text."""
    name = missing(site)
    if not name:
        return
    hints = site.evidence.failure.hints
    near = [one.strip() for one in hints.get("near", "").split(",") if one.strip()]
    near += _MEANT.findall(site.evidence.failure.message)
    type_ = hints.get("type", "") or _type_in(site.evidence.failure.message)
    owner = site.file.class_named(type_)
    members = sorted(owner.attributes | {method.name for method in owner.methods}) if owner else []
    near += difflib.get_close_matches(name, [m for m in members if m != name], 3, 0.6)
    near += difflib.get_close_matches(name, [a for a in site.sources.attributes if a != name], 3, 0.75)
    for _, holder, attribute in accesses(site, name):
        for rank, new in enumerate(dict.fromkeys(near)):
            if new.isidentifier() and new != name:
                title = arrow(f"{holder.text}.{name}", f"{holder.text}.{new}")
                yield Change((swap(attribute, new),), title, 1 / (1 + 0.5 * rank))


def _type_in(message: str) -> str:
    match = re.search(r"'(\w+)' object has no", message)
    return match.group(1) if match else ""


def foreign(site: Site) -> Iterator[Change]:
    """`xs.push(x)` → `xs.append(x)`, `xs.length` → `len(xs)`: what other languages call it."""
    name = missing(site)
    meant = FOREIGN.get(name, "")
    if not meant:
        return
    for node, holder, attribute in accesses(site, name):
        around = node.parent
        is_call = around is not None and around.kind == "call" and around.field("function") == node
        if "{" not in meant:
            yield Change((swap(attribute, meant),), arrow(f".{name}", f".{meant}"))
            continue
        listed = around.field("arguments") if is_call and around is not None else None
        arguments = [argument.text for argument in listed.named] if listed is not None else []
        arguments += [""] * (2 if "{2}" in meant else 0)
        try:
            text = meant.format(holder.text, *arguments)
        except IndexError:
            continue  # fewer arguments than the expression needs: meant for something else
        whole = around if is_call and around is not None else node
        outer = whole.parent
        if outer is not None and outer.kind in {"not_operator", "boolean_operator", "comparison_operator"}:
            text = f"({text})" if meant.startswith(("not ", "{1} in")) else text
        yield Change((swap(whole, text),), arrow(whole.text, text))


def access(site: Site) -> Iterator[Change]:
    """`item` → `item.price`, `item.price` → `item`: an access that is missing, or one too many."""
    on = site.scope.file_facts.values
    for node in site.of("identifier"):
        around = node.parent
        if around is None or around.kind in {"attribute", "keyword_argument", "parameters", "for_statement"}:
            continue
        if (around.kind == "assignment" and around.field("left") == node) or node.text == "self":
            continue
        for rank, name in enumerate(sorted(on.get(node.text, ()))[:6]):
            new = f"{node.text}.{name}"
            yield Change((swap(node, new),), arrow(node.text, new), 1 / (1 + 0.3 * rank))
    for node, holder, attribute in accesses(site):
        around = node.parent
        if around is not None and around.kind == "call" and around.field("function") == node:
            continue
        if holder.text not in {"self", "cls"}:
            yield Change((TextEdit(holder.end, attribute.end, ""),), arrow(node.text, holder.text), 0.3)


def call_it(site: Site) -> Iterator[Change]:
    """`name.lower` → `name.lower()`, `return make` → `return make()`: what was meant to be called.

    Known methods and functions, what is called elsewhere in the file, and what sounds like a function; any
    attribute that is returned or assigned when the failure shows a function.
    """
    speaks = _shows_a_function(site)
    for node, _, attribute in accesses(site):
        around = node.parent
        if around is None or around.kind in {"call", "attribute"} or around.field("left") == node:
            continue
        if around.kind == "keyword_argument" and around.field("name") == node:
            continue
        likeness = _called_likeness(site, attribute.text, node.text)
        if speaks or likeness > 0.5 or (likeness and around.kind in _HANDED_OUT):
            yield Change((TextEdit(node.end, node.end, "()"),), arrow(node.text, f"{node.text}()"), likeness)
    functions = {f.name for f in site.file.functions if not f.owner}
    for node in site.of("identifier"):
        around = node.parent
        if around is None or around.field("left") == node or around.kind not in _USED_AS_VALUE:
            continue
        likeness = 0.5 if node.text in functions and node.text not in site.scope.own else 0.0
        if not likeness and around.kind in _HANDED_OUT and node.text in site.scope.own:
            likeness = (
                0.3 if node.text in site.scope.facts.called or _SOUNDS_CALLABLE.search(node.text) else 0.0
            )
        if likeness:
            yield Change((TextEdit(node.end, node.end, "()"),), arrow(node.text, f"{node.text}()"), likeness)


def _shows_a_function(site: Site) -> bool:
    """Whether a value in the failure is a function, a method or a class."""
    evidence = site.evidence
    comparison = evidence.failure.comparison
    types = {comparison.left_type, comparison.right_type} if comparison is not None else set()
    shown = _FUNCTION_SHOWN.search(f"{evidence.failure.message} {evidence.expected} {evidence.actual}")
    return shown is not None or bool(types & {"function", "method", "builtin_function_or_method", "type"})


def _called_likeness(site: Site, name: str, access: str) -> float:
    """How likely an attribute is a method: known as one, called elsewhere in the file, or sounding like one."""
    methods = {m.name for c in site.file.classes for m in c.methods if not _is_property(m.decorators)}
    owner = site.file.class_named(site.function.owner) if site.function is not None else None
    if owner is not None and name in owner.attributes - methods and access.startswith(("self.", "cls.")):
        return 0.1 if _SOUNDS_CALLABLE.search(name) else 0.0
    if name in methods or name in _METHODS or access in site.scope.file_facts.called:
        return 1.0
    if name.isupper() or name.startswith("__") or name[:1].isupper():
        return 0.0
    if _SOUNDS_CALLABLE.search(name) or name in site.scope.file_facts.called_names:
        return 0.4
    return 0.1


_FUNCTION_SHOWN = re.compile(
    r"<(?:bound method|function|built-in (?:method|function)|class|method) |'(?:method|function|type|builtin_function_or_method)'"
)
_SOUNDS_CALLABLE = re.compile(
    r"(?:^|_)(?:factory|func|function|fn|callback|hook|handler|getter|maker|builder|thunk)$"
)
_HANDED_OUT = frozenset({"return_statement", "assignment"})
_METHODS = frozenset({
    "lower", "upper", "strip", "lstrip", "rstrip", "split", "items", "keys", "values", "copy", "title", "capitalize",
    "read", "readlines", "isdigit", "isalpha", "isupper", "islower", "isspace", "pop", "sort", "reverse", "clear",
})  # fmt: skip
_USED_AS_VALUE = frozenset({"binary_operator", "comparison_operator", "return_statement", "assignment"})


def _is_property(decorators: tuple[Node, ...]) -> bool:
    return any("property" in decorator.text for decorator in decorators)


def not_a_call(site: Site) -> Iterator[Change]:
    """`order.total()` → `order.total`: what is called is a plain value."""
    for node in site.of("call"):
        function, listed = node.field("function"), node.field("arguments")
        if function is not None and listed is not None and not listed.named:
            yield Change((TextEdit(function.end, node.end, ""),), arrow(node.text, function.text))
        elif function is not None and listed is not None and len(listed.named) == 1:
            new = f"{function.text}[{listed.named[0].text}]"
            yield Change((swap(node, new),), arrow(node.text, new), 0.7)
