"""Imports: a missing one, a misspelt or moved one, and what a test imports but the module does not define."""

from __future__ import annotations

import builtins
import difflib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from regreen.source import Import, Node, Role, SourceFile, names, role_of
from regreen.templates.model import Change, Site
from regreen.templates.names import missing_name
from regreen.templates.placing import insertion
from regreen.templates.rewrite import arrow, before, remove, stands_alone, swap
from regreen.templates.stdlib import MODULES, STDLIB
from regreen.values import TextEdit

NO_MODULE = re.compile(r"No module named '([\w.]+)'")
NO_NAME = re.compile(r"cannot import name '(\w+)' from (?:partially initialized module )?'([\w.]+)'")
_GIVEN = frozenset({*dir(builtins), "__file__", "__class__", "__path__", "__annotations__"})
_MEANT = re.compile(r"[Dd]id you mean:? '([\w.]+)'")


def missing(site: Site) -> Iterator[Change]:
    """NameError: import the name from the standard library, or from the project's module that defines it."""
    name = missing_name(site)
    if name and name not in site.file.names.bound and name in site.file.names.read:
        yield from _imported(site, name)


def undefined(site: Site) -> Iterator[Change]:
    """A name that nothing in the file binds: import it, whatever became of the NameError on its way to the test."""
    text = site.file.text
    if missing_name(site) or "import *" in text or "globals()" in text:
        return
    for name in sorted(site.scope.uses.read.keys() - site.file.names.bound - _GIVEN):
        yield from _imported(site, name)


def _imported(site: Site, name: str) -> Iterator[Change]:
    """Yield the imports that may bind a name."""
    found: list[str] = []
    hint = site.evidence.failure.hints.get("import", "")
    if hint:
        module, _, member = hint.partition(":")
        found.append(f"from {module} import {member}" if member else f"import {module}")
    for path in site.sources.defining(name):
        module = site.sources.module_name(path)
        if path != site.file.path and module and path != site.evidence.failure.path:
            found.append(f"from {_spelt(site, path, module)} import {name}")
    found += _elsewhere(site, name)
    if name in MODULES and not (name in STDLIB and _called(site, name)):
        found.append(f"import {name}")
    if name in STDLIB:
        found.append(f"from {STDLIB[name]} import {name}")
    if name in MODULES:
        found.append(f"import {name}")
    found += [line for line in ("import numpy as np",) if name == "np"]
    found += [line for line in ("import pandas as pd",) if name == "pd"]
    for rank, code in enumerate(dict.fromkeys(found)):
        yield Change((insertion(site.file, code, site.sources),), f"add `{code}`", 1 / (1 + 0.4 * rank))


def _elsewhere(site: Site, name: str) -> list[str]:
    """How the project's other files import a name, the commonest way first."""
    line = re.compile(
        rb"^[ \t]*(from[ \t]+[\w.]+[ \t]+import[ \t]+(?:\w+[ \t]+as[ \t]+)?%(name)s|import[ \t]+%(name)s)[ \t]*(?:#.*)?\r?$"
        % {b"name": name.encode()},
        re.MULTILINE,
    )
    found: Counter[str] = Counter()
    for path in site.sources.paths:
        near = path.parent == site.file.path.parent
        for code in line.findall(site.sources.data(path) or b""):
            text = " ".join(code.decode().split())
            found[text] += near or not text.startswith("from .")
    return [text for text, times in found.most_common() if times]


def _called(site: Site, name: str) -> bool:
    """Whether the name is called or subscripted directly, so that it cannot be a module."""
    return any(
        node.text == name and node.parent is not None and node.parent.kind in {"call", "subscript"}
        for node in site.file.root.walk()
        if node.kind == "identifier" and role_of(node) is Role.READ
    )


def _spelt(site: Site, path: Path, module: str) -> str:
    """The module as this file should import it: relative where the file's other imports are."""
    relative = any(one.module.startswith(".") for one in site.file.imports)
    if relative and path.parent == site.file.path.parent:
        return f".{path.stem}"
    return module


def wrong(site: Site) -> Iterator[Change]:
    """ImportError: the nearest name that the module defines, or the module that defines the name."""
    match = NO_NAME.search(site.evidence.failure.message)
    if match is None:
        return
    name, module = match.groups()
    meant = _MEANT.findall(site.evidence.failure.message)
    for path in dict.fromkeys(
        (site.file.path, *(frame.path for frame in reversed(site.evidence.failure.frames)))
    ):
        file = site.sources.get(path)
        for one in file.imports if file is not None else ():
            if one.name != name or file is None:
                continue
            yield from _other_name(site, file, one, meant, module)
            yield from _other_module(site, file, one)


def _other_name(site: Site, file: SourceFile, one: Import, meant: list[str], module: str) -> Iterator[Change]:
    source = site.sources.module_file(one.module, file.path) or site.sources.module_file(module)
    target = site.sources.get(source) if source is not None else None
    near = [*meant, *difflib.get_close_matches(one.name, sorted(target.defined) if target else [], 3, 0.6)]
    imported = next((node for node in one.node.fields("name") if one.name in node.text), None)
    for rank, new in enumerate(dict.fromkeys(near)):
        if imported is None or new == one.name:
            continue
        edits = [swap(imported, imported.text.replace(one.name, new, 1))]
        if one.bound == one.name:
            edits += [swap(node, new) for node in _uses(file, one.name)]
        yield _in(site, file, tuple(sorted(edits)), arrow(one.name, new), 1 / (1 + 0.4 * rank))


def _other_module(site: Site, file: SourceFile, one: Import) -> Iterator[Change]:
    source = one.node.field("module_name")
    if source is None:
        return
    places = [site.sources.module_name(path) for path in site.sources.defining(one.name) if path != file.path]
    places += [STDLIB[one.name]] if one.name in STDLIB else []
    for rank, new in enumerate(dict.fromkeys(places)):
        if new and new != source.text and len(one.node.fields("name")) == 1:
            yield _in(
                site,
                file,
                (swap(source, new),),
                arrow(f"from {source.text}", f"from {new}"),
                0.8 / (1 + rank),
            )


def _uses(file: SourceFile, name: str) -> list[Node]:
    return [
        n for n in file.root.walk() if n.kind == "identifier" and n.text == name and role_of(n) is Role.READ
    ]


def _in(site: Site, file: SourceFile, edits: tuple[TextEdit, ...], title: str, factor: float) -> Change:
    """A change of another file than the site's."""
    if file.path == site.file.path:
        return Change(edits, title, factor)
    return Change((), title, factor, others=((file.path, edits),))


def module(site: Site) -> Iterator[Change]:
    """ModuleNotFoundError: a misspelt module, or a sibling that must be imported relatively."""
    match = NO_MODULE.search(site.evidence.failure.message)
    if match is None:
        return
    lost = match.group(1)
    known = [site.sources.module_name(path) for path in site.sources.paths] + sorted(MODULES)
    near = difflib.get_close_matches(lost, [m for m in known if m and m != lost], 3, 0.7)
    near += [m for m in known if m.endswith(f".{lost}")]
    for file in _importing(site, lost):
        for one in file.imports:
            node = one.node.field("module_name") if one.name else next(iter(one.node.fields("name")), None)
            if node is None or (node.text.split(" ")[0] != lost and not node.text.startswith(f"{lost}.")):
                continue
            spelt = node.field("name") or node
            for rank, new in enumerate(dict.fromkeys(near)):
                edits = [swap(spelt, new)]
                if not one.name and "." not in lost + new and node.field("alias") is None:
                    edits += [swap(use, new) for use in _uses(file, lost)]
                yield _in(site, file, tuple(sorted(edits)), arrow(lost, new), 1 / (1 + 0.4 * rank))
            if one.name and (file.path.parent / f"{lost}.py") in site.sources.paths:
                yield _in(site, file, (swap(node, f".{lost}"),), arrow(lost, f".{lost}"), 0.9)


def _importing(site: Site, lost: str) -> list[SourceFile]:
    paths = dict.fromkeys((site.file.path, *(frame.path for frame in reversed(site.evidence.failure.frames))))
    files = [file for path in paths if (file := site.sources.get(path)) is not None]
    return [
        file
        for file in files
        if any(one.module.split(".")[0] == lost.split(".", maxsplit=1)[0] for one in file.imports)
    ]


def provide(site: Site) -> Iterator[Change]:
    """The test imports (or asks a module for) a name that the module has under a similar one: rename it there."""
    match = NO_NAME.search(site.evidence.failure.message)
    if match is None:
        match = re.search(
            r"module '(?P<module>[\w.]+)' has no attribute '(?P<name>\w+)'", site.evidence.failure.message
        )
        if match is None:
            return
        name, module_ = match.group("name"), match.group("module")
    else:
        name, module_ = match.groups()
    path = site.sources.module_file(module_)
    file = site.sources.get(path) if path is not None else None
    if file is None or path is None or name in file.defined:
        return
    own = [f.name for f in file.functions if not f.owner] + [c.name for c in file.classes]
    for rank, old in enumerate(difflib.get_close_matches(name, own, 2, 0.7)):
        nodes = [
            n
            for n in file.root.walk()
            if n.kind == "identifier" and n.text == old and role_of(n) is not Role.LABEL
        ]
        edits = tuple(swap(node, name) for node in nodes)
        yield _in(site, file, edits, f"rename {arrow(old, name)}", 1 / (1 + 0.5 * rank))


def local(site: Site) -> Iterator[Change]:
    """A circular import: import inside of the functions that use the names instead of at the top."""
    message = site.evidence.failure.message
    if "partially initialized module" not in message and "circular import" not in message:
        return
    for frame in reversed(site.evidence.failure.frames):
        file = site.sources.get(frame.path)
        statement = file.statement_at(frame.line) if file is not None else None
        if (
            file is None
            or statement is None
            or statement.kind not in {"import_from_statement", "import_statement"}
        ):
            continue
        bound = {one.bound for one in file.imports if one.node == statement}
        users = [
            f
            for f in file.functions
            if bound & set(f.names().read) and f.body.named and "<locals>" not in f.qualname
        ]
        plain = [node for node in file.top_level if node.kind not in _DEFINITIONS and node != statement]
        at_import = any(name in names(node).read for node in plain for name in bound)
        edits = [remove(file, statement)]
        for function in users:
            first = function.body.named[0]
            if (
                first.kind == "expression_statement"
                and first.named
                and first.named[0].kind == "string"
                and len(function.body.named) > 1
            ):
                first = function.body.named[1]
            if not stands_alone(file, first):
                return
            edits.append(before(file, first, statement.text))
        if users and not at_import:
            yield _in(
                site, file, tuple(sorted(edits)), f"import `{', '.join(sorted(bound))}` where it is used", 1.0
            )


_DEFINITIONS = frozenset({"function_definition", "class_definition", "decorated_definition"})
