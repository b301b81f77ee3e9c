"""Which function of the project does a call mean, and what may still be passed to it?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from regreen.source import Class, Function, Node, Parameter, SourceFile
from regreen.templates.model import Site

_DEPTH = 3  # re-exports and base classes that are followed


def meant(site: Site, call: Node) -> list[Function]:
    """List the functions of the project that a call may run, as far as the text tells; often none.

    Module functions, classes (their `__init__`), methods of `self` and of base classes, and what is imported,
    through re-exports. A method of any other object is found where no other method is called the same.
    """
    called = call.field("function")
    if called is None:
        return []
    if called.kind == "identifier":
        return list(_named(site, site.file, called.text))
    holder, name = called.field("object"), called.field("attribute")
    if called.kind != "attribute" or holder is None or name is None:
        return []
    found = list(_of_receiver(site, holder, name.text)) or list(_of_module(site, holder, name.text))
    return found or list(_of_any_object(site, name.text))


def _of_any_object(site: Site, name: str) -> Iterator[Function]:
    """`x.m(…)`: the only method of that name in the file and in what it imports."""
    targets = [_imported(site, site.file, module) for module in {one.module for one in site.file.imports}]
    files = {file.path: file for file in (site.file, *targets) if file is not None}
    found = [f for file in files.values() for f in file.functions if f.owner and f.name == name]
    if len(found) == 1:
        yield found[0]


def _named(site: Site, file: SourceFile, name: str, depth: int = _DEPTH) -> Iterator[Function]:
    """What a plain name of a file runs when it is called."""
    if depth == 0:
        return
    here = [function for function in file.functions if function.name == name and not function.owner]
    found = file.class_named(name)
    if here:
        yield here[-1]
    elif found is not None:
        yield from _method(site, file, found, "__init__", depth)
    for one in file.imports if not here and found is None else ():
        target = _imported(site, file, one.module) if one.bound == name and one.name else None
        if target is not None:
            yield from _named(site, target, one.name, depth - 1)


def _imported(site: Site, file: SourceFile, module: str) -> SourceFile | None:
    path: Path | None = site.sources.module_file(module, file.path)
    return site.sources.get(path) if path is not None else None


def _of_module(site: Site, holder: Node, name: str) -> Iterator[Function]:
    """`module.f(…)`: what the module's file defines."""
    for one in site.file.imports:
        if one.bound != holder.text:
            continue
        inside = (
            f"{one.module.rstrip('.')}.{one.name}" if one.module.strip(".") else f"{one.module}{one.name}"
        )
        target = _imported(site, site.file, inside if one.name else one.module)
        if target is not None:
            yield from _named(site, target, name)


def _of_receiver(site: Site, holder: Node, name: str) -> Iterator[Function]:
    """`self.m(…)`, `cls.m(…)`, `super().m(…)`: the method of the class or of its bases."""
    function = site.function
    owner = site.file.class_named(function.owner) if function is not None and function.owner else None
    if owner is None or function is None or not function.parameters:
        return
    if holder.text == function.parameters[0].name:
        yield from _method(site, site.file, owner, name)
    elif holder.text.startswith("super("):
        yield from _inherited(site, site.file, owner, name, _DEPTH)


def _method(site: Site, file: SourceFile, owner: Class, name: str, depth: int = _DEPTH) -> Iterator[Function]:
    own = [method for method in owner.methods if method.name == name]
    if own:
        yield own[-1]
    else:
        yield from _inherited(site, file, owner, name, depth)


def _inherited(site: Site, file: SourceFile, owner: Class, name: str, depth: int) -> Iterator[Function]:
    for base in owner.bases if depth else ():
        simple = base.partition("[")[0].rpartition(".")[2]
        found, where = file.class_named(simple), file
        for one in file.imports if found is None else ():
            target = _imported(site, file, one.module) if one.bound == simple and one.name else None
            if target is not None:
                found, where = target.class_named(one.name), target
        if found is not None and found != owner:
            yield from _method(site, where, found, name, depth - 1)


def open_parameters(function: Function, arguments: list[Node]) -> list[Parameter]:
    """Return the parameters that a call leaves at their default; none where it passes `*…` or `**…`."""
    if any(argument.kind.endswith("splat") for argument in arguments):
        return []
    given = sum(argument.kind != "keyword_argument" for argument in arguments)
    named = {n.text for a in arguments if a.kind == "keyword_argument" for n in a.named[:1]}
    slash, _ = _separators(function)
    filled = {p.name for p in positional(function)[:given]} | named
    return [
        p
        for p in function.parameters
        if p.kind == "plain" and p.default is not None and p.name not in filled and p.node.start >= slash
    ]


def positional(function: Function) -> list[Parameter]:
    """Return the parameters that a call's positional arguments fill, in order; the receiver is left out."""
    _, star = _separators(function)
    found = [p for p in function.parameters if p.kind == "plain" and p.node.start < star]
    static = any("staticmethod" in decorator.text for decorator in function.decorators)
    return found[1:] if function.owner and not static else found


def _separators(function: Function) -> tuple[int, int]:
    """Offsets in a parameter list: what stands before `/` has no name, what stands behind `*` has no place."""
    listed = function.node.field("parameters")
    slash, star = 0, function.node.end
    for node in listed.named if listed is not None else ():
        if node.kind == "positional_separator":
            slash = node.end
        elif node.kind == "keyword_separator" or (
            node.text.startswith("*") and not node.text.startswith("**")
        ):
            star = min(star, node.start)
    return slash, star
