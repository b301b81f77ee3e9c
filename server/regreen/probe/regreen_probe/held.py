"""Is what this process has imported still what is on the disk?

A process that was started for later runs holds modules. Where packages were installed, upgraded or removed since, or
one of these modules was edited, a run in it would see what no new process sees.
"""

from __future__ import annotations

import contextlib
import os
import sys
import types

try:
    import resource
except ImportError:
    resource = None

PACKAGES = ("site-packages", "dist-packages")
"""Names of the folders that packages are installed into."""
INSTALLERS = (".dist-info", ".egg-info", ".egg-link", ".pth")
"""Ends of the names that an installer makes anew with whatever it does, be it the same version once more."""


class Held:
    """What was on the disk when it was imported. To be made before anything is."""

    def __init__(self) -> None:
        folders = [path for path in sys.path if os.path.basename(path) in PACKAGES]
        self._folders = {path: _installed(path) for path in folders}
        interpreter = (sys.executable, os.path.join(sys.prefix, "pyvenv.cfg"))
        self._files = {path: _stamp(path) for path in interpreter}
        self.note()

    def note(self) -> None:
        """Remember the files of what was imported since the last time, which should be just now."""
        for module in list(sys.modules.values()):
            if isinstance(module, types.ModuleType):
                # Asked for an attribute in the usual way, a lazy module would import itself.
                path = object.__getattribute__(module, "__dict__").get("__file__")
                if isinstance(path, str) and path not in self._files:
                    self._files[path] = _stamp(path)

    def answer(self, message: dict) -> dict[str, object]:
        """The answer to a `check`."""
        return {"id": message["id"], "ev": "checked", "changed": self.changed(), "memory": memory()}

    def changed(self) -> str:
        """The first folder or file that is not as it was; "" when all are."""
        for path, installed in self._folders.items():
            if _installed(path) != installed:
                return path
        return next((path for path, stamp in self._files.items() if _stamp(path) != stamp), "")


def _installed(folder: str) -> set[tuple[str, object]]:
    """What lies in a folder of packages, but for compiled files, which anybody makes at any time."""
    try:
        with os.scandir(folder) as entries:
            return {
                (entry.name, _stamp(entry.path) if entry.name.endswith(INSTALLERS) else None)
                for entry in entries
                if entry.name != "__pycache__"
            }
    except OSError:  # it is not there
        return set()


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except (OSError, ValueError):  # gone, or no path at all
        return None
    return status.st_mtime_ns, status.st_size


def memory() -> int:
    """Bytes of memory that this process takes; 0 where nobody tells."""
    with contextlib.suppress(OSError), open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    # macOS tells the most it ever was, in bytes: nearly the same in a process that only imports.
    return 0 if resource is None else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
