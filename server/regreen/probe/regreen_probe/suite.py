"""How is the user's pytest run so that any project configuration works, and nothing of it hides a result?"""

from __future__ import annotations

import importlib
import os
import sys
import sysconfig

from regreen_probe import confine, identity, loader, preload, redirect, signals
from regreen_probe.pipe import Pipe

NEEDS_PYTEST = ("compare", "comparisons", "failures", "parked", "plugin", "primer", "synthesis", "tuning")
"""Our own modules that every run needs and that import pytest."""


def prepare() -> None:
    """Import pytest and what needs it, and remember it as it is now; what a zygote did, its forks need not do.

    Raises:
        ImportError: there is no pytest.
    """
    for name in NEEDS_PYTEST:
        importlib.import_module("regreen_probe." + name)
    from regreen_probe import tuning

    tuning.read_carefully()
    identity.remember()


def uncompilable(paths: list[str], options: loader.Options) -> list[dict[str, object]]:
    """Records of those Python files that this Python cannot compile; the code of the others is kept for their import."""
    records: list[dict[str, object]] = []
    for path in paths:
        if not path.endswith((".py", ".pyw")):
            continue
        with open(path, "rb") as file:
            source = file.read()
        try:
            options.compile(path, source)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = getattr(error, "lineno", None) or 1
            message = getattr(error, "msg", None) or str(error)
            records.append({"ev": "uncompilable", "path": path, "line": line, "message": message})
    return records


class Suite:
    """What pytest is run with in one run, and what it makes of it.

    Args:
        request: the `run` message.
        pipe: for records.
        confinement: of the run, which it has entered.
        roots: of its copy.
        options: of the loader.
        ear: where a process of one run hears more.
        commands: where a run that is to be parked is asked for hot runs.

    Attributes:
        args: the command line.
        reporter, tuner, comparing, plugins: what pytest is to be given.
    """

    def __init__(
        self,
        request: dict,
        pipe: Pipe,
        confinement: confine.Confinement,
        roots: redirect.Roots,
        options: loader.Options,
        ear: signals.Ear | None,
        commands: int | None,
    ) -> None:
        prepare()
        from regreen_probe import compare, comparisons, failures, forcing, parked, plugin, synthesis, tuning

        self.request, self.pipe, self.roots, self.options = request, pipe, roots, options
        self.describer = failures.Describer(roots.in_copy, comparisons.Compared(), details=request["details"])
        told = self._lines if request["spectrum"] and commands is None else None
        self.reporter = plugin.Reporter(
            pipe.send, self.describer, told, self._reset, options.observer, request["leave_out"]
        )
        self.tuner = tuning.Tuner(request)
        signals.answer_dumps(self._answer, ear)
        self.before = set(sys.modules)
        tuning.keep_bytecode(write=request["confine"]["keep_bytecode"], folder=confinement.bytecode)
        if not request["details"]:
            tuning.spare_diffs()
        if request["kind"] == "django":
            os.environ.setdefault("DJANGO_SETTINGS_MODULE", tuning.django_settings(request["rootdir"]))
        self.args = tuning.arguments(request)
        self.comparing = compare.Comparing(request["compare"], options.tables)
        self.plugins = [self.reporter, self.tuner, self.comparing]
        if request["synthesise"]:
            again = forcing.Again(self.reporter, self.tuner)
            compared = self.describer.compared
            self.plugins.append(
                synthesis.Synthesis(
                    options.sampler, pipe.send, compared, again, request["synthesise_seconds"]
                )
            )
        if commands is not None:
            self.plugins.append(parked.Parking(commands, pipe, confinement, self.reporter, options.tables))

    def main(self) -> int:
        """Run pytest; its exit status."""
        import pytest

        name_program(self.args)
        return int(pytest.main(self.args, plugins=self.plugins))

    def finished(self, status: int) -> dict[str, object]:
        """The `finished` record, but for its seconds."""
        finished = {
            "ev": "finished",
            "exit": status,
            "origins": _origins(self.request["overlaid"], self.options.imported, self.before),
            "replaced": self.reporter.replaced(),
            "foreign": [],
            "loaded": self.options.compiled,
        }
        if not self.request["overlaid"]:  # a patch hardly changes these, and they are slow to find out
            finished["foreign"] = foreign(self.roots)
            finished["preload"] = preload.importable(
                self.before, lambda path: _of_run(path, self.roots, self.request)
            )
        return finished

    def _lines(self) -> dict[str, list[int]]:
        tables = ((t.path, t.executed()) for t in self.options.tables.values())
        return {path: executed for path, executed in tables if executed}

    def _reset(self) -> None:
        for table in self.options.tables.values():
            table.reset()

    def _answer(self, frame: object) -> None:
        current = self.reporter.current
        self.pipe.send(
            {
                "ev": "stack",
                "nodeid": current.nodeid if current is not None else "",
                "frames": self.describer.stack(frame),
                "lines": self._lines(),
            }
        )


def name_program(args: list[str]) -> None:
    """Let sys.argv look as if pytest had been called with `args`."""
    import pytest

    sys.argv = [os.path.join(os.path.dirname(pytest.__file__), "__main__.py"), *args]


def _origins(overlaid: list[str], imported: set[str], before: set[str]) -> list[str]:
    """Those of the patched files that were imported, by our loader or by any other."""
    loaded = {os.path.realpath(path) for path in imported}
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None) if name not in before else None
        if isinstance(path, str):
            loaded.add(os.path.realpath(path))
    return [path for path in overlaid if os.path.realpath(path) in loaded]


def _of_run(path: str, roots: redirect.Roots, request: dict) -> bool:
    installed = any(redirect.below(path, folder) for folder in (sys.prefix, sys.base_prefix))
    inside = roots.in_copy(path) or redirect.below(path, request["temp"])
    return inside or (roots.in_user_tree(path) and not installed)


def foreign(roots: redirect.Roots) -> list[list[str]]:
    """[module, path] of the project's modules that were imported from anywhere else than the copy."""
    standard = {os.path.realpath(sysconfig.get_path(k)) for k in ("stdlib", "platstdlib")}
    installed = {os.path.realpath(sysconfig.get_path(k)) for k in ("purelib", "platlib")}
    found = []
    for name, module in sorted(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if name == "__main__" or not isinstance(path, str) or roots.in_copy(path):
            continue
        if roots.in_user_tree(path):
            if not any(redirect.below(path, folder) for folder in (sys.prefix, *installed)):
                found.append([name, path])
            continue
        top = name.split(".")[0]
        real = os.path.realpath(path)
        of_python = any(redirect.below(real, s) for s in standard) and not any(
            redirect.below(real, i) for i in installed
        )
        if not of_python and _in_project(top, roots):
            found.append([name, path])
    return found


def _in_project(top: str, roots: redirect.Roots) -> bool:
    for copy in roots.copies:
        for folder in (copy, os.path.join(copy, "src"), os.path.join(copy, "lib")):
            base = os.path.join(folder, top)
            if os.path.isfile(base + ".py") or os.path.isfile(os.path.join(base, "__init__.py")):
                return True
    return False
