"""The wrong member of a module of the standard library: which other one was meant?"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterator

from regreen.source import Node, Role, role_of
from regreen.templates.calls import CONFUSABLE
from regreen.templates.facts import Facts
from regreen.templates.model import Change, Site
from regreen.templates.placing import insertion
from regreen.templates.rewrite import arrow, swap
from regreen.templates.stdlib import members

KINDS = frozenset({"attribute", "identifier"})
_MOST = 5  # ideas for one statement


def other(site: Site) -> Iterator[Change]:
    """`os.path.sep` → `os.path.pathsep`, `takewhile(…)` → `dropwhile(…)`: a like one of the same module."""
    found = [
        (likeness, node, module, new)
        for node, module, name in _uses(site)
        for new, likeness in _others(site, module, name)
    ]
    found.sort(key=lambda one: -one[0])
    for likeness, node, module, new in found[:_MOST]:
        edits = [swap(node, new)]
        if _stands_for_itself(node) and new not in site.file.names.bound:
            edits.append(insertion(site.file, f"from {module} import {new}", site.sources))
        yield Change(tuple(edits), arrow(node.text, new), likeness)


def _uses(site: Site) -> Iterator[tuple[Node, str, str]]:
    """Yield (name to replace, module, member) for what the statement takes of the standard library's modules."""
    modules = {one.bound: one.module.partition(".")[0] for one in site.file.imports if not one.name}
    single = {one.bound: one for one in site.file.imports if one.name and one.bound == one.name}
    for node in site.of("attribute"):
        holder, attribute = node.field("object"), node.field("attribute")
        if holder is None or attribute is None:
            continue
        root, _, rest = holder.text.partition(".")
        if root in modules:
            yield attribute, ".".join(filter(None, (modules[root], rest))), attribute.text
        elif root in single and not rest:
            yield attribute, f"{single[root].module}.{root}", attribute.text
    for node in site.of("identifier"):
        if node.text in single and _stands_for_itself(node) and role_of(node) is Role.READ:
            yield node, single[node.text].module, node.text


def _stands_for_itself(node: Node) -> bool:
    return node.parent is None or node.parent.kind != "attribute"


def _others(site: Site, module: str, name: str) -> Iterator[tuple[str, float]]:
    """Yield what a member may be mistaken for, with a likeness up to 1."""
    known = members(module)
    value = known.get(name)
    if value is None:
        return
    spoken = _spoken(site)
    group = {text for names in CONFUSABLE if name in names for text in names}
    for new, instead in known.items():
        if new == name or type(instead) is not type(value):
            continue
        alike = difflib.SequenceMatcher(None, name, new).ratio()
        likeness = 0.5 * alike + 0.3 * (_takes(value) == _takes(instead) != ()) + 0.4 * (new in group)
        likeness += 0.4 * (new in spoken) + 0.1 * (name in new or new in name)
        if likeness > 0.4:
            yield new, min(1.0, likeness)


def _spoken(site: Site) -> frozenset[str]:
    """The names that the failing test's file reads, attributes included."""
    test = site.sources.get(site.evidence.failure.path)
    return Facts(test.root).attributes_read | frozenset(test.names.read) if test is not None else frozenset()


def _takes(value: object) -> tuple[str, ...]:
    """The names of a function's parameters; empty where it does not tell."""
    if not callable(value):
        return ()
    try:
        return tuple(inspect.signature(value).parameters)
    except (TypeError, ValueError):
        return ()
