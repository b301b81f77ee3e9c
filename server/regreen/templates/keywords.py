"""Arguments that have the name of something in scope: a keyword that is not passed, a literal in its place."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator

from regreen.edits import with_newline
from regreen.source import Node
from regreen.templates.arguments import calls
from regreen.templates.atoms import idle_at, names_at
from regreen.templates.guesses import incompatible
from regreen.templates.model import Change, Site
from regreen.templates.rewrite import arrow, swap
from regreen.templates.scope import names_of
from regreen.templates.signatures import meant, open_parameters, positional
from regreen.values import TextEdit

_MOST = 4  # ideas for one statement
_PLAIN = frozenset({"true", "false", "none", "integer", "float", "string"})
_COMMON = frozenset({"get", "set", "run", "the", "new", "old", "is", "has", "to", "of", "add", "make"})


def namesake(site: Site) -> Iterator[Change]:
    """`make(x)` → `make(x, default=default)`: a parameter left at its default has the name of a value here."""
    idle, here = idle_at(site), _values_here(site)
    found: list[tuple[float, Node, list[Node], str]] = []
    for node, _, arguments in calls(site):
        for function in meant(site, node)[:1]:
            for parameter in open_parameters(function, arguments):
                value = here.get(parameter.name, "")
                if value:
                    likeness = 1.0 if value in idle else 0.2 if value == parameter.name else 0.1
                    found.append((likeness, node, arguments, f"{parameter.name}={value}"))
    found.sort(key=lambda one: -one[0])
    for likeness, node, arguments, text in found[:_MOST]:
        yield Change(appended(site, node, arguments, text), f"pass `{text}`", likeness)


def elsewhere(site: Site) -> Iterator[Change]:
    """`make(x)` → `make(x, key=key)`: the other calls of the function in this file pass such an argument.

    Its value is theirs, as it stands there; likelier if it puts something to use that nothing else does.
    """
    idle, usable = set(idle_at(site)), {*names_at(site), *site.file.names.bound, *dir(builtins)}
    found: list[tuple[float, Node, list[Node], str]] = []
    for node, _, arguments in calls(site):
        function = node.field("function") or node
        given = {a.named[0].text for a in arguments if a.kind == "keyword_argument"}
        for keyword, values in site.scope.file_facts.keywords.get(function.text, {}).items():
            for value in {value.text: value for value in values}.values():
                read = names_of(value)
                if keyword not in given and "\n" not in value.text and read <= usable:
                    likeness = 1.0 if read & idle else 0.1
                    found.append((likeness, node, arguments, f"{keyword}={value.text}"))
    found.sort(key=lambda one: -one[0])
    for likeness, node, arguments, text in found[:_MOST]:
        yield Change(appended(site, node, arguments, text), f"pass `{text}`", likeness)


def _values_here(site: Site) -> dict[str, str]:
    """Values in scope by the name they have: names, and what is kept on the object."""
    found = {name: name for name in (*idle_at(site), *names_at(site))}
    function = site.function
    owner = site.file.class_named(function.owner) if function is not None and function.owner else None
    if owner is not None and function is not None and function.parameters:
        receiver = function.parameters[0].name
        for name in owner.attributes:
            found.setdefault(name, f"{receiver}.{name}")
    return found


def appended(site: Site, call: Node, arguments: list[Node], text: str) -> tuple[TextEdit, ...]:
    """Add a keyword argument behind the others, laid out as they are: on its own line, with a comma; before `**`."""
    listed = call.field("arguments") or call
    if not arguments:
        return (TextEdit(listed.start + 1, listed.end - 1, text),)
    if arguments[-1].kind == "dictionary_splat":
        at = arguments[-1].start
        between = f",{site.file.newline}{site.file.indentation(arguments[-1].line)}"
        alone = not site.file.text[site.file.lines.start(arguments[-1].line) : at].strip()
        return (TextEdit(at, at, f"{text}{between if alone else ', '}"),)
    last, close = arguments[-1], listed.children[-1]
    comma = next((child for child in listed.children if child.kind == "," and child.start >= last.end), None)
    start = site.file.lines.start(close.line)
    alone = not site.file.text[start : close.start].strip() and last.last_line < close.line
    if not alone or site.file.lines.start(last.line) + len(site.file.indentation(last.line)) != last.start:
        at = comma.end if comma is not None else last.end
        return (TextEdit(at, at, f" {text}," if comma is not None else f", {text}"),)
    line = f"{site.file.indentation(last.line)}{text}{',' if comma is not None else ''}\n"
    added = TextEdit(start, start, with_newline(line, site.file.newline))
    return (added,) if comma is not None else (TextEdit(last.end, last.end, ","), added)


def saved(site: Site) -> Iterator[Change]:
    """`set_mode(True)` → `set_mode(previous)`: a literal is passed where a value in scope was kept for it."""
    idle, usable, kept = idle_at(site), names_at(site), _kept(site)
    found: list[tuple[float, Node, str]] = []
    for node, simple, arguments in calls(site):
        function = next(iter(meant(site, node)), None)
        places = [p.name for p in positional(function)] if function is not None else []
        for at, argument in enumerate(arguments):
            label = argument.field("name") if argument.kind == "keyword_argument" else None
            literal = argument.field("value") if label is not None else argument
            if literal is None or not _is_plain(literal):
                continue
            wanted = label.text if label is not None else places[at] if at < len(places) else ""
            type_ = site.scope.type_of(literal)
            for name in dict.fromkeys([*idle, *usable]):
                if incompatible(type_, site.scope.types.get(name, "")) and type_ != "":
                    continue
                likeness = 1.0 if name in idle else 0.0
                if name == wanted:
                    likeness = max(likeness, 0.6)
                elif kept.get(name, set()) & _words(simple):
                    likeness = max(likeness, 0.5)
                if likeness:
                    found.append((likeness, literal, name))
    found.sort(key=lambda one: -one[0])
    for likeness, literal, name in found[:_MOST]:
        yield Change((swap(literal, name),), arrow(literal.text, name), likeness)


def _is_plain(node: Node) -> bool:
    return node.kind in _PLAIN and (node.kind != "string" or node.text in {'""', "''"})


def _kept(site: Site) -> dict[str, set[str]]:
    """Names, each with the words of what it was given first: `previous = get_mode()` keeps a mode."""
    kept: dict[str, set[str]] = {}
    for node in site.body.walk():
        if node.kind != "assignment":
            continue
        left, right = node.field("left"), node.field("right")
        if left is None or right is None or left.text in kept:
            continue
        called = right.field("function") if right.kind == "call" else right
        simple = called is not None and called.kind in {"identifier", "attribute"}
        kept[left.text] = _words(called.text.rpartition(".")[2]) if called is not None and simple else set()
    return kept


def _words(name: str) -> set[str]:
    return set(re.findall(r"[a-z]{3,}", name.lower().replace("_", " "))) - _COMMON
