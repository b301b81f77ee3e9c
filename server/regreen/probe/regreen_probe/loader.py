"""How are the project's modules loaded?

Always compiled from the text in the copy: a .pyc is matched by size and whole seconds, and edits are quicker.
"""

from __future__ import annotations

import importlib.machinery

from regreen_probe import cache, instrument, markers
from regreen_probe.canary import Cage
from regreen_probe.holes import Sampler
from regreen_probe.observe import Observer


class Options:
    """What happens to project modules in this run, and what happened.

    Args:
        spectrum: insert statement markers.
        cage: the canaries of this run.
        observer: the functions whose calls are digested.
        sampler: the functions into which holes are put.
    """

    def __init__(self, *, spectrum: bool, cage: Cage, observer: Observer, sampler: Sampler) -> None:
        self.spectrum = spectrum
        self.cage = cage
        self.observer = observer
        self.sampler = sampler
        self.tables: dict[str, markers.Table] = {}
        self.imported: set[str] = set()
        self.compiled: list[str] = []

    def compile(self, path: str, source: bytes):
        """The code of a project file as this run wants it, and its markers if it has any."""
        made, new = cache.compiled(path, source, cache.MARKED if self.spectrum else cache.PLAIN)
        if new:
            self.compiled.append(path)
        return made

    def code(self, path: str, source: bytes):
        """The code object to execute for one project file."""
        if self.cage.numbers(path) or self.sampler.lines(path):
            table = markers.Table(path) if self.spectrum else None
            code = instrument.compiled(path, source, table=table, cage=self.cage, sampler=self.sampler)
        else:
            code, table = self.compile(path, source)
        if table is not None:
            self.tables[path] = table
        self.imported.add(path)
        self.observer.look(path, source, code)
        return code


class ProjectLoader(importlib.machinery.SourceFileLoader):
    """Loads one module of the copy."""

    def __init__(self, name: str, path: str, options: Options) -> None:
        super().__init__(name, path)
        self._regreen_options = options

    def get_code(self, fullname):
        """The code of the module, compiled from its file and never from a .pyc."""
        path = self.get_filename(fullname)
        return self._regreen_options.code(path, self.get_data(path))
