"""Which files of a project define a name, and which attributes and strings does it use?

The index is made by scanning the text for definitions at the beginning of a line and for attributes and
literals, not by parsing every file: it is made once per snapshot and answers "what could have been meant".
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from regreen.edits import decode
from regreen.errors import UnreadableText
from regreen.source.file import SourceFile, parse

_DEFINITION = re.compile(
    r"^(?:async[ \t]+def|def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\r\n]+)?=(?!=)", re.MULTILINE
)
_ATTRIBUTE = re.compile(r"\.([A-Za-z_]\w*)")
_STRING = re.compile(r"'([^'\\\r\n]{1,60})'|\"([^\"\\\r\n]{1,60})\"")


class ProjectSources:
    """The Python files of one snapshot, read and parsed when they are first asked for.

    Args:
        files: bytes by absolute path; may read lazily. Only `.py` and `.pyi` paths are looked at.
        root: the project's folder; by default the deepest folder that holds every file.
    """

    def __init__(self, files: Mapping[Path, bytes], root: Path | None = None) -> None:
        self._files = files
        self._parsed: dict[Path, SourceFile | None] = {}
        self._root = root

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """Every Python file, sorted."""
        return tuple(sorted(path for path in self._files if path.suffix in {".py", ".pyi"}))

    @cached_property
    def root(self) -> Path:
        """The project's folder."""
        if self._root is not None:
            return self._root
        folders = [str(path.parent) for path in self._files]
        return Path(os.path.commonpath(folders)) if folders else Path()

    def data(self, path: Path) -> bytes | None:
        """Return a file's bytes, None when it is not part of the project."""
        try:
            return self._files[path]
        except KeyError:
            return None

    def get(self, path: Path) -> SourceFile | None:
        """Return a parsed file; None when it is not part of the project or not text."""
        if path not in self._parsed:
            data = self.data(path)
            try:
                self._parsed[path] = None if data is None else parse(path, data)
            except UnreadableText:
                self._parsed[path] = None
        return self._parsed[path]

    def defining(self, name: str) -> tuple[Path, ...]:
        """Return the files that define `name` at their top level, sorted."""
        return self._definitions.get(name, ())

    @cached_property
    def defined(self) -> frozenset[str]:
        """Every name defined at the top level of some file."""
        return frozenset(self._definitions)

    @cached_property
    def attributes(self) -> Counter[str]:
        """How often each attribute name follows a dot, over the whole project."""
        return Counter(match for text in self._texts() for match in _ATTRIBUTE.findall(text))

    @cached_property
    def strings(self) -> Counter[str]:
        """How often each short string literal without escapes occurs, over the whole project."""
        found: Counter[str] = Counter()
        for text in self._texts():
            found.update(single or double for single, double in _STRING.findall(text))
        return found

    def module_name(self, path: Path) -> str:
        """Return the dotted name a file is imported by: its packages are the folders with `__init__.py`."""
        parts = [] if path.stem == "__init__" else [path.stem]
        folder = path.parent
        while folder / "__init__.py" in self._files:
            parts.insert(0, folder.name)
            folder = folder.parent
        return ".".join(parts)

    def module_file(self, module: str, importer: Path | None = None) -> Path | None:
        """Return the file of a dotted module name, relative ones seen from the file `importer`."""
        if module.startswith("."):
            if importer is None:
                return None
            depth = len(module) - len(module.lstrip("."))
            folder = importer.parents[min(depth, len(importer.parents)) - 1]
            return self._file_below(folder, [part for part in module.strip(".").split(".") if part])
        return self._modules.get(module)

    def owns(self, top: str) -> bool:
        """Whether a module or package of this name, without dots, is the project's."""
        return top in self._tops

    @cached_property
    def _tops(self) -> frozenset[str]:
        return frozenset(name.partition(".")[0] for name in self._modules)

    @cached_property
    def _modules(self) -> Mapping[str, Path]:
        """Files by dotted name; folders without `__init__.py` count from the root, or from its `src`."""
        found: dict[str, Path] = {}
        for path in self.paths:
            found.setdefault(self.module_name(path), path)
        for path in self.paths:
            for base in (self.root / "src", self.root):
                if path.is_relative_to(base):
                    parts = path.relative_to(base).with_suffix("").parts
                    found.setdefault(".".join(parts[:-1] if parts[-1] == "__init__" else parts), path)
        return found

    def _file_below(self, folder: Path, parts: list[str]) -> Path | None:
        base = folder.joinpath(*parts)
        choices = [base / "__init__.py"] if not parts else [base.with_suffix(".py"), base / "__init__.py"]
        return next((path for path in choices if path in self._files), None)

    @cached_property
    def _definitions(self) -> Mapping[str, tuple[Path, ...]]:
        found: defaultdict[str, list[Path]] = defaultdict(list)
        for path in self.paths:
            for name in {one or other for one, other in _DEFINITION.findall(self._text(path))}:
                found[name].append(path)
        return {name: tuple(paths) for name, paths in found.items()}

    def _texts(self) -> Iterator[str]:
        for path in self.paths:
            yield self._text(path)

    def _text(self, path: Path) -> str:
        parsed = self._parsed.get(path)
        if parsed is not None:
            return parsed.text
        try:
            return decode(self._files[path]).text
        except UnreadableText:
            return ""
