"""Which tests may a change affect?

Changed lines × coverage map → TestSelection. A statement inside a function affects the tests that ran any line of
that function; a statement outside of functions affects the tests that ran a function reading a name it binds, in
the file itself or in a file that imports it. Where that cannot be told, every test that ran any line of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from regreen.source import Function, ProjectSources, SourceFile, names
from regreen.values import Spectrum, TestSelection

_PLUGINS = re.compile(r"^pytest_plugins\b[^=\n]*=\s*([\[(][^\])]*|.*)", re.MULTILINE)
"""What conftests and tests name as plug-ins is imported by pytest."""
_QUOTED = re.compile(r"""["']([\w.]+)["']""")


def select(
    changed: Mapping[Path, Iterable[int]], spectrum: Spectrum, sources: ProjectSources, *, complete: bool
) -> TestSelection:
    """Select the impacted tests, by the map of the unpatched project.

    Args:
        changed: file → 0-based lines of the unpatched text that change.
        spectrum: lines each test executed.
        sources: the unpatched text.
        complete: whether the spectrum covers every test that could matter.

    Returns:
        Node ids in the spectrum's order, and the reason in words.
    """
    lines: dict[Path, set[int]] = {}
    places: list[str] = []
    for path, numbers in changed.items():
        wanted = sorted(set(numbers))
        places.append(f"{path.name}:{wanted[0] + 1}" if wanted else path.name)
        parsed = sources.get(path)
        for number in wanted:
            for file, affected in _affected(path, parsed, number, sources).items():
                lines.setdefault(file, set()).update(affected)
    chosen = tuple(
        nodeid
        for nodeid, executed in spectrum.lines.items()
        if any(not lines[path].isdisjoint(ran) for path, ran in executed.items() if path in lines)
    )
    return TestSelection(chosen, f"cover {', '.join(places)}", complete=complete)


def _affected(
    path: Path, parsed: SourceFile | None, line: int, sources: ProjectSources
) -> Mapping[Path, Iterable[int]]:
    """Lines whose execution means that a change of `line` may matter."""
    if parsed is None:
        return {}
    everything = {path: range(parsed.text.count("\n") + 2)}
    function = _outermost(parsed, line)
    if function is not None and line >= function.node.line and not _is_header(function, line):
        return {path: range(function.first_line, function.last_line + 1)}
    if function is not None:
        return everything  # a signature or a decorator: callers and registries may see it
    statement = next(iter(parsed.statements_around(line)), None)
    if statement is None or statement.kind != "expression_statement":
        return everything
    bound = names(statement).bound
    if not bound:
        return everything
    readers: dict[Path, set[int]] = {}
    for file in sources.paths:
        text = sources.get(file)
        if text is None or not _mentions(text, bound):
            continue
        for reader in text.functions:
            if not bound.isdisjoint(reader.names().read) or any(
                f".{name}" in reader.node.text for name in bound
            ):
                readers.setdefault(file, set()).update(range(reader.first_line, reader.last_line + 1))
    return readers or everything


def _outermost(parsed: SourceFile, line: int) -> Function | None:
    holding = [f for f in parsed.functions if f.first_line <= line <= f.last_line]
    return min(holding, key=lambda function: function.span[0], default=None)


def _is_header(function: Function, line: int) -> bool:
    return line < function.body.line


def _mentions(text: SourceFile, bound: Iterable[str]) -> bool:
    return any(name in text.text for name in bound)


def importers(path: Path, sources: ProjectSources) -> frozenset[Path]:
    """Return the files that import `path`, directly or through others, by their import statements.

    pytest imports a conftest for whatever lies in its folder and below, so those files import it, too.
    """
    wanted = {path}
    direct: dict[Path, set[Path]] = {}
    for file in sources.paths:
        if file.name == "conftest.py":
            direct.setdefault(file, set()).update(
                below for below in sources.paths if below.is_relative_to(file.parent)
            )
        parsed = sources.get(file)
        for module in _imported_modules(parsed) if parsed else ():
            found = sources.module_file(module, file)
            if found is not None:
                direct.setdefault(found, set()).add(file)
    todo = [path]
    while todo:
        for file in direct.get(todo.pop(), ()):
            if file not in wanted:
                wanted.add(file)
                todo.append(file)
    return frozenset(wanted - {path})


def _imported_modules(parsed: SourceFile) -> frozenset[str]:
    """Every module that an import of the file may name; an imported name may be a module, too."""
    modules = set(parsed.star_imports)
    for imported in parsed.imports:
        modules.add(imported.module)
        if imported.name:
            separator = "" if imported.module.endswith(".") else "."
            modules.add(f"{imported.module}{separator}{imported.name}")
    for plugins in _PLUGINS.findall(parsed.text):
        modules.update(_QUOTED.findall(plugins))
    return frozenset(modules)
