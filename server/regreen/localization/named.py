"""Which places does the exception's text name?

Some faults lie in code that the test never enters: a call that does not fit a signature, a name that a module
does not define. Their message names the function or the module.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from regreen.source import ProjectSources
from regreen.values import Failure

_CALL = re.compile(r"^([\w.<>]+)\(\) (?:missing|takes|got)")
_FROM_MODULE = re.compile(r"cannot import name '(\w+)' from (?:partially initialized module )?'([\w.]+)'")
_OF_MODULE = re.compile(r"module '([\w.]+)' has no attribute '(\w+)'")
_OF_CLASS = re.compile(r"^(?:type object )?'(\w+)' (?:object )?has no attribute '(\w+)'")
_ABSTRACT = re.compile(r"instantiate abstract class '?(\w+)'?")
_UNDEFINED = re.compile(r"name '(\w+)' is not defined")


def places(failure: Failure, sources: ProjectSources) -> Iterator[tuple[Path, int]]:
    """Yield (file, 0-based line) of definitions that the message names, nearest first."""
    message = failure.message
    if found := _CALL.search(message):
        yield from _functions(found.group(1), sources)
    for pattern, group in ((_FROM_MODULE, 2), (_OF_MODULE, 1)):
        if found := pattern.search(message):
            path = sources.module_file(found.group(group))
            if path is not None:
                yield path, 0
    for pattern in (_OF_CLASS, _ABSTRACT):
        if found := pattern.search(message):
            yield from _classes(found.group(1), sources)
    if found := _UNDEFINED.search(message):
        yield from ((path, 0) for path in sources.defining(found.group(1)))


def _functions(qualname: str, sources: ProjectSources) -> Iterator[tuple[Path, int]]:
    top = qualname.partition(".")[0]
    for path in sources.defining(top) or sources.paths:
        parsed = sources.get(path)
        if parsed is None:
            continue
        function = parsed.function_named(qualname)
        if function is not None:
            yield path, function.node.line


def _classes(name: str, sources: ProjectSources) -> Iterator[tuple[Path, int]]:
    for path in sources.defining(name):
        parsed = sources.get(path)
        found = parsed.class_named(name) if parsed else None
        if found is not None:
            yield path, found.node.line
