"""What does the server need to know about this interpreter before it sends a run?"""

from __future__ import annotations

import os
import site
import sys
import sysconfig

from regreen_probe import redirect

VERSION = 1
"""Of the wire format."""


def hello(pytest: str | None, *, fork: bool, isolation: dict | None) -> dict[str, object]:
    """The first record.

    Args:
        pytest: its version.
        fork: whether this process serves many runs.
        isolation: what `effects` saw of it; None when nobody looked.
    """
    return {
        "ev": "hello",
        "v": VERSION,
        "python": list(sys.version_info[:3]),
        "executable": sys.executable,
        "pytest": pytest,
        "fork": fork,
        "isolation": isolation,
        "prefix": sys.prefix,
        "roots": editable_roots(),
    }


def imported_pytest() -> str | None:
    """The version of the pytest that is imported; None when none is."""
    module = sys.modules.get("pytest")
    return None if module is None else str(module.__version__)


def installed_pytest() -> str | None:
    """The version of the pytest that `import pytest` would give; None without one. Imports nothing of it."""
    import importlib.metadata
    import importlib.util

    if importlib.util.find_spec("pytest") is None:
        return None
    try:
        return importlib.metadata.version("pytest")
    except importlib.metadata.PackageNotFoundError:  # a checkout of pytest on the path
        return "unknown"


def editable_roots() -> list[str]:
    """Folders on the import path that come neither with the environment nor from PYTHONPATH."""
    known = [sys.prefix, sys.base_prefix, sys.exec_prefix, *sysconfig.get_paths().values()]
    known += site.getsitepackages() if hasattr(site, "getsitepackages") else []
    if site.ENABLE_USER_SITE:
        known.append(site.getusersitepackages())
    asked = {os.path.realpath(p) for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p}
    folders = [p for p in sys.path if os.path.realpath(p) not in asked] + redirect.editable_folders()
    roots: list[str] = []
    for folder in folders:
        if not os.path.isdir(folder) or folder in roots:
            continue
        if os.path.basename(folder) in ("site-packages", "dist-packages"):
            continue  # another environment's
        if not any(redirect.below(folder, k) or redirect.below(os.path.realpath(folder), k) for k in known):
            roots.append(folder)
    return roots
