"""How are the project's modules loaded?

Always compiled from the text in the copy: a .pyc is matched by size and whole seconds, and edits are quicker.
"""

from __future__ import annotations

import importlib.machinery

from regreen_probe import cache, markers


class Options:
    """What happens to project modules in this run, and what happened.

    Args:
        spectrum: insert statement markers.
    """

    def __init__(self, *, spectrum: bool = False) -> None:
        self.variant = cache.MARKED if spectrum else cache.PLAIN
        self.tables: dict[str, markers.Table] = {}
        self.imported: set[str] = set()
        self.compiled: list[str] = []

    def code(self, path: str, source: bytes):
        """The code object to execute for one project file."""
        (code, table), new = cache.compiled(path, source, self.variant)
        if new:
            self.compiled.append(path)
        if table is not None:
            self.tables[path] = table
        return code


class ProjectLoader(importlib.machinery.SourceFileLoader):
    """Loads one module of the copy."""

    def __init__(self, name: str, path: str, options: Options) -> None:
        super().__init__(name, path)
        self._regreen_options = options

    def get_code(self, fullname):
        """The code of the module, compiled from its file and never from a .pyc."""
        path = self.get_filename(fullname)
        code = self._regreen_options.code(path, self.get_data(path))
        self._regreen_options.imported.add(path)
        return code
