"""How is it made sure that the copy is what gets imported, wherever the user's tree is installed from?"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
import sysconfig
import threading

from regreen_probe import loader


def below(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or lies in it (text of absolute paths; case as the system treats it)."""
    path, folder = os.path.normcase(path), os.path.normcase(folder).rstrip(os.sep)
    return path == folder or path.startswith(folder + os.sep)


class Roots:
    """The (user folder, its copy) pairs of one run, longest user folder first."""

    def __init__(self, pairs: list[list[str]]) -> None:
        self.pairs: list[tuple[str, str]] = []
        for user, copy in pairs:
            for name in dict.fromkeys((user, os.path.realpath(user))):
                self.pairs.append((name, copy))
        self.environments = _environments([user for user, _ in pairs])
        self.copies = list(
            dict.fromkeys(name for _, copy in pairs for name in (copy, os.path.realpath(copy)))
        )

    def in_copy(self, path: object) -> bool:
        """Whether a path belongs to the copy; an environment inside does not, see `in_user_tree`."""
        return isinstance(path, str) and any(
            below(path, copy) and not self._installed(path, copy) for copy in self.copies
        )

    def _installed(self, path: str, folder: str) -> bool:
        """Whether a path belongs to an environment inside of a folder."""
        return any(below(path, e) and below(e, folder) for e in self.environments)

    def in_user_tree(self, path: object) -> bool:
        """Whether a path belongs to the user's own tree (which may hold the copy's cache, too).

        An environment inside the tree, as `.venv` mostly is, does not: it is no part of the copy.
        """
        if not isinstance(path, str) or self.in_copy(path):
            return False
        for user, _ in self.pairs:
            if below(path, user):
                return not self._installed(path, user)
        return False

    def to_copy(self, path: str) -> str:
        """The copy's path of a path of the user's tree; other paths as they are."""
        if self.in_user_tree(path):
            for user, copy in self.pairs:
                if below(path, user):
                    return copy + path[len(user.rstrip(os.sep)) :]
        return path


def _environments(roots: list[str]) -> list[str]:
    """Folders of this interpreter's environment. One that was made in a root itself is no more than what it holds."""
    folders = [sys.prefix]
    if any(os.path.realpath(sys.prefix) == os.path.realpath(root) for root in roots):
        folders = [sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib", "scripts")]
    return list(dict.fromkeys(name for folder in folders for name in (folder, os.path.realpath(folder))))


class Finder:
    """First on sys.meta_path: asks the others, and turns what they found in the user's tree to the copy.

    Args:
        roots: of the run.
        options: what our loader does with project modules.
    """

    def __init__(self, roots: Roots, options: loader.Options) -> None:
        self.roots = roots
        self.options = options
        self._asking = threading.local()

    def find_spec(self, name, path=None, target=None):  # the protocol of importlib.abc.MetaPathFinder
        """The spec of a module, in the copy when it is the project's."""
        names = self._asking.__dict__.setdefault("names", set())
        if name in names:
            return None
        names.add(name)
        try:
            spec = None
            for finder in list(sys.meta_path):
                if finder is not self and hasattr(finder, "find_spec"):
                    spec = finder.find_spec(name, path, target)
                    if spec is not None:
                        break
        finally:
            names.discard(name)
        return None if spec is None else self.turn(spec)

    def turn(self, spec):
        """The spec as the run should see it."""
        if isinstance(spec.origin, str) and spec.has_location:
            place = self.roots.to_copy(spec.origin)
            if place != spec.origin:
                inner = spec.submodule_search_locations
                inner = None if inner is None else [self.roots.to_copy(p) for p in inner]
                spec = importlib.util.spec_from_file_location(
                    spec.name, place, submodule_search_locations=inner
                )
            if type(spec.loader) is importlib.machinery.SourceFileLoader and self.roots.in_copy(place):
                spec.loader = loader.ProjectLoader(spec.name, place, self.options)
        elif spec.submodule_search_locations is not None:
            places = list(spec.submodule_search_locations)
            turned = [self.roots.to_copy(p) for p in places]
            if turned != places:
                spec.submodule_search_locations = turned
        return spec


class Fence(Finder):
    """Ends the process when something of the project would be imported, before it is.

    Args:
        roots: of the project as if it were its own copy.
    """

    def __init__(self, roots: Roots) -> None:
        super().__init__(roots, None)

    def turn(self, spec):
        """The spec, if it is none of the project's."""
        if any(
            self.roots.in_copy(place) for place in (spec.origin, *(spec.submodule_search_locations or ()))
        ):
            os._exit(0)
        return spec


def install(roots: Roots, cwd: str, options: loader.Options) -> None:
    """Turn this process to the copy. Afterwards nothing of the user's tree is on any path it imports from."""
    given = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    sys.path[:0] = [p for p in given if p not in sys.path]  # the request's, when this process started without
    sys.path[:] = [roots.to_copy(p) for p in sys.path]
    if cwd not in sys.path[:1]:
        sys.path.insert(0, cwd)  # as `python -m pytest` does
    extra = _turn_editable_finders(roots)
    sys.path_importer_cache.clear()
    finder = Finder(roots, options)
    for number, other in enumerate(sys.meta_path):
        if isinstance(other, Fence):  # what pytest has put before it since stays there
            sys.meta_path[number] = finder
            break
    else:
        sys.meta_path.insert(0, finder)
    for name, module in list(sys.modules.items()):
        if name == "__main__" or name.startswith(("__editable__", "regreen_probe")):
            continue  # ours stays ours, even where the user's tree is Regreen's own
        if roots.in_user_tree(getattr(module, "__file__", None)):
            del sys.modules[name]  # imported at start-up, from the user's tree: the tests need the copy's
    ours = [p for p in sys.path[1:] + extra if roots.in_copy(p)]
    both = list(dict.fromkeys(ours + [roots.to_copy(p) for p in given]))
    if both:
        os.environ["PYTHONPATH"] = os.pathsep.join(both)


def _editable_tables():
    """The tables of the finders that PEP 660 installs put on sys.meta_path: name → path or paths."""
    for name, module in list(sys.modules.items()):
        if name.startswith("__editable__"):
            for attribute in ("MAPPING", "NAMESPACES"):
                table = getattr(module, attribute, None)
                if isinstance(table, dict):
                    yield table
    for finder in sys.meta_path:
        table = getattr(finder, "_redirections", None)  # the package `editables`
        if isinstance(table, dict):
            yield table


def _turn_editable_finders(roots: Roots) -> list[str]:
    folders = []
    for table in _editable_tables():
        for name, value in table.items():
            if isinstance(value, str):
                table[name] = roots.to_copy(value)
                folders += _parent(name, table[name])
            elif isinstance(value, list):
                table[name] = [roots.to_copy(p) for p in value]
    return folders


def editable_folders() -> list[str]:
    """Folders from which PEP 660 finders import."""
    folders = []
    for table in _editable_tables():
        for name, value in table.items():
            for path in [value] if isinstance(value, str) else value:
                folders += _parent(name, path) or [os.path.dirname(path)]
    return list(dict.fromkeys(folders))


def _parent(name: str, path: str) -> list[str]:
    """The folder to search for module `name` so that `path` is found; none when the names differ."""
    path = path[: -len("/__init__.py")] if path.endswith(("/__init__.py", "\\__init__.py")) else path
    for part in reversed(name.split(".")):
        if os.path.splitext(os.path.basename(path))[0] != part:
            return []
        path = os.path.dirname(path)
    return [path]
