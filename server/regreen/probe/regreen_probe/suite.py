"""How is the user's pytest run so that any project configuration works, and nothing of it hides a result?"""

from __future__ import annotations

import importlib
import os
import sys
import sysconfig

from regreen_probe import confine, identity, loader, preload, redirect, signals
from regreen_probe.pipe import Pipe

NEEDS_PYTEST = ("comparisons", "failures", "parked", "plugin", "tuning")
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


def run(
    request: dict,
    pipe: Pipe,
    confinement: confine.Confinement,
    roots: redirect.Roots,
    options: loader.Options,
    ear: signals.Ear | None,
    commands: int | None,
) -> dict[str, object]:
    """Run pytest; the `finished` record, but for its seconds."""
    prepare()
    import pytest

    from regreen_probe import comparisons, failures, parked, plugin, tuning

    compared = comparisons.Compared()
    describer = failures.Describer(roots.in_copy, compared, details=request["details"])

    def lines() -> dict[str, list[int]]:
        tables = ((t.path, t.executed()) for t in options.tables.values())
        return {path: executed for path, executed in tables if executed}

    def reset() -> None:
        for table in options.tables.values():
            table.reset()

    told = lines if request["spectrum"] and commands is None else None
    reporter = plugin.Reporter(pipe.send, describer, told, reset, options.observer, request["leave_out"])

    def answer(frame: object) -> None:
        current = reporter.current
        pipe.send(
            {
                "ev": "stack",
                "nodeid": current.nodeid if current is not None else "",
                "frames": describer.stack(frame),
                "lines": lines(),
            }
        )

    signals.answer_dumps(answer, ear)
    before = set(sys.modules)
    tuning.keep_bytecode(write=request["confine"]["keep_bytecode"], folder=confinement.bytecode)
    if not request["details"]:
        tuning.spare_diffs()
    if request["kind"] == "django":
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", tuning.django_settings(request["rootdir"]))
    args = tuning.arguments(request)
    sys.argv = [os.path.join(os.path.dirname(pytest.__file__), "__main__.py"), *args]
    plugins = [reporter, tuning.Tuner(request)]
    if commands is not None:
        plugins.append(parked.Parking(commands, pipe, confinement, reporter, options.tables))
    status = int(pytest.main(args, plugins=plugins))
    finished = {
        "ev": "finished",
        "exit": status,
        "origins": _origins(request["overlaid"], options.imported, before),
        "replaced": reporter.replaced(),
        "foreign": [],
        "loaded": options.compiled,
    }
    if not request["overlaid"]:  # a patch hardly changes these, and they are slow to find out
        finished["foreign"] = foreign(roots)
        finished["preload"] = preload.importable(before, lambda path: _of_run(path, roots, request))
    return finished


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
