"""Values that become a text or a sequence: in which case, with which blanks, and in which order?"""

from __future__ import annotations

from collections.abc import Iterator

from regreen.source import Node, Role, role_of
from regreen.templates.arguments import calls
from regreen.templates.model import Change, Site
from regreen.templates.rewrite import arrow, atom, swap

_METHODS = ("upper", "lower", "strip", "title", "capitalize", "rstrip", "lstrip", "casefold", "swapcase")
_STRIPS = frozenset({"strip", "rstrip", "lstrip"})
_CASES = frozenset(_METHODS) - _STRIPS
_USUAL = 4  # of these are offered where the file uses none
_MOST = 5  # ideas for one statement
_NO_TEXT = frozenset({"int", "float", "number", "bool", "list", "dict", "set", "tuple", "range", "callable"})
_NUMBER_FORMATS = tuple("bcdeEfFgGnoxX%")
_PARTS = frozenset({"identifier", "attribute", "subscript", "call"})


def text_method(site: Site) -> Iterator[Change]:
    """`f"{a}_{name}"` → `f"{a}_{name.upper()}"`: a part of a text, in another case or without blanks.

    The methods that the function or the file calls on other values come first.
    """
    parts = list(dict.fromkeys(_parts_of_texts(site)))
    found = [
        (likeness / (1 + 0.2 * rank), node, f"{atom(node)}.{method}()")
        for rank, (method, likeness) in enumerate(_methods(site) if parts else ())
        for node in parts
        if not node.text.endswith(f".{method}()")
    ]
    found.sort(key=lambda one: -one[0])
    for likeness, node, new in found[: max(_MOST, len(parts))]:
        yield Change((swap(node, new),), arrow(node.text, new), likeness)


def _methods(site: Site) -> list[tuple[str, float]]:
    found: dict[str, float] = {}
    for facts, likeness in ((site.scope.facts, 1.0), (site.scope.file_facts, 0.8)):
        counts: dict[str, int] = {}
        for taken in facts.attributes.values():
            for name in taken.keys() & set(_METHODS):
                counts[name] = counts.get(name, 0) + taken[name]
        for name in sorted(counts, key=lambda name: (-counts[name], _METHODS.index(name))):
            found.setdefault(name, likeness)
    found |= {name: 0.4 for name in _METHODS[:_USUAL] if name not in found}
    shapes = site.evidence.shapes
    meant = _STRIPS if "blanks" in shapes else _CASES if "case" in shapes else frozenset()
    ranked = [(name, likeness if not meant or name in meant else 0.1) for name, likeness in found.items()]
    return sorted(ranked, key=lambda one: -one[1])


def _parts_of_texts(site: Site) -> Iterator[Node]:
    """Expressions that are put into a text: by an f-string, `+`, `%`, `format` or `join`."""
    for node in site.of("interpolation"):
        format_ = next((part.text for part in node.named if part.kind == "format_specifier"), "")
        expression = node.field("expression") or (node.named[0] if node.named else None)
        if expression is not None and not format_.endswith(_NUMBER_FORMATS):
            yield from _if_text(site, expression)
    for node in site.of("binary_operator"):
        sides = [side for side in (node.field("left"), node.field("right")) if side is not None]
        if site.scope.type_of(node) == "str":
            for side in sides:
                yield from _if_text(site, side)
    for node, simple, arguments in calls(site):
        function = node.field("function")
        holder = function.field("object") if function is not None else None
        if holder is not None and holder.kind == "string" and simple == "format":
            for argument in arguments:
                yield from _if_text(site, argument.field("value") or argument)


def _if_text(site: Site, node: Node) -> Iterator[Node]:
    if node.kind in _PARTS and site.scope.type_of(node) not in _NO_TEXT:
        yield node


_ORDERED = {
    # a function of one iterable → what gives the same items in a known, or in their own, order
    "list": ("sorted({0})", "list(reversed({0}))"),
    "tuple": ("tuple(sorted({0}))", "sorted({0})"),
    "set": ("sorted({0})", "list({0})"),
    "frozenset": ("sorted({0})",),
    "iter": ("iter(sorted({0}))",),
    "sorted": ("list({0})", "{0}", "list(reversed({0}))"),
    "reversed": ("{0}", "sorted({0})"),
}


def order(site: Site) -> Iterator[Change]:
    """`list(x)` ↔ `sorted(x)`, `set(x)` → `sorted(x)`, and `sorted` around what is iterated over."""
    for node in site.of("call"):
        function, listed = node.field("function"), node.field("arguments")
        forms = _ORDERED.get(function.text, ()) if function is not None else ()
        inner = _only_argument(listed) if listed is not None and forms else ""
        for rank, form in enumerate(forms if inner else ()):
            if form == "{0}" and listed is not None and listed.kind == "generator_expression":
                continue  # its parentheses are those of the call
            new = form.format(inner)
            yield Change((swap(node, new),), arrow(node.text, new), 1 / (1 + 0.7 * rank))
    for node in _iterated(site):
        new = f"sorted({node.text})"
        yield Change((swap(node, new),), arrow(node.text, new), 0.4)


def _only_argument(listed: Node) -> str:
    """The text of a call's only positional argument; `key=` and `reverse=` are about the order, too."""
    if listed.kind == "generator_expression":
        return listed.text[1:-1]
    first, *others = listed.named or [listed]
    if first.kind in {"argument_list", "keyword_argument", "list_splat", "dictionary_splat"}:
        return ""
    if first.kind in {"list", "tuple", "set", "dictionary"} and not first.named:
        return ""
    return first.text if all(other.kind == "keyword_argument" for other in others) else ""


def _iterated(site: Site) -> Iterator[Node]:
    """What the loops and comprehensions of the statement go through, and what is joined."""
    found = [node.field("right") for node in site.of("for_statement", "for_in_clause")]
    found += [
        arguments[0] for _, simple, arguments in calls(site) if simple == "join" and len(arguments) == 1
    ]
    for node in found:
        if node is None or node.kind not in {"identifier", "attribute", "call", "subscript"}:
            continue
        called = node.field("function") if node.kind == "call" else None
        if called is not None and called.text in {"range", "enumerate", "zip", "sorted", "reversed", "map"}:
            continue
        if node.kind != "identifier" or role_of(node) is Role.READ:
            yield node
