"""What may the zygote import once, so that no run has to?

Third-party and standard modules that the project's runs import anyway. Never a module of the project, and never
one that pytest wants to import itself: those of distributions with pytest plug-ins.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import threading

from regreen_probe import confine

TRIAL_SECONDS = 60
"""After this long the trial is ended by the system, and nothing is preloaded."""

ROUNDS = 6
"""How many packages that must not be preloaded may turn up before nothing is preloaded."""


def importable(before: set[str], own: object) -> dict[str, list[str]]:
    """What a run imported: modules the zygote could hold, and the top-level names it must not.

    Args:
        before: names that were imported already when the run began.
        own: tells whether a file belongs to the project, its copy or the run.
    """
    never = set()
    names = []
    for name, module in list(sys.modules.items()):
        if name in before or name == "__main__" or module is None:
            continue
        path = getattr(module, "__file__", None)
        loader = type(getattr(module, "__loader__", None)).__name__
        if loader == "AssertionRewritingHook" or (isinstance(path, str) and own(path)):
            never.add(name.partition(".")[0])
        elif getattr(module, "__spec__", None) is not None and module.__spec__.name == name:
            names.append(name)
    return {
        "modules": [n for n in names if n.partition(".")[0] not in never],
        "never": sorted(never),
    }


class Trial:
    """A fork that imports modules first: what turns out badly there happens in no process that lasts.

    Args:
        names: what to import.
        never: top-level names that must not come along.
        rounds: how often it may begin again without what was bad.
    """

    def __init__(self, names: list[str], never: list[str], rounds: int = ROUNDS) -> None:
        self.names = names
        self.never = never
        self.rounds = rounds
        self._told = b""
        self.fd, writer = os.pipe()
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.setpgid(0, 0)
                confine.die_with_parent(parent)
                os.close(self.fd)
                signal.alarm(TRIAL_SECONDS)
                os.write(writer, json.dumps(first_bad(names, never)).encode())
            finally:
                os._exit(0)
        os.close(writer)

    def hear(self) -> bool:
        """Take what the fork says; True when it has said all."""
        data = os.read(self.fd, 4096)
        self._told += data
        return not data

    def end(self) -> None:
        """No process and no descriptor of it is left."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)

    def outcome(self) -> tuple[list[str], Trial | None]:
        """The modules that can be imported now, and the trial that goes on without a bad one."""
        if not self._told:
            return [], None  # it died
        bad = json.loads(self._told)
        if not bad:
            return self.names, None
        rest = [name for name in self.names if name.partition(".")[0] != bad]
        return [], Trial(rest, self.never, self.rounds - 1) if self.rounds > 1 else None


def into_zygote(name: str) -> None:
    """Import one module that was tried."""
    with contextlib.suppress(Exception):  # it worked a moment ago; a run imports it again anyway
        importlib.import_module(name)


def first_bad(names: list[str], never: list[str], *, threads: bool = False) -> str:
    """Import modules one after the other; the top-level name of the first that turns out badly, "" without one.

    Args:
        names: what to import.
        never: top-level names that must not come along.
        threads: whether modules may start some.
    """
    unwanted = frozenset(never)
    seen: set[str] = set()
    for name in names:
        try:
            importlib.import_module(name)
        except BaseException:  # whatever it raises, it is not for the zygote
            return name.partition(".")[0]
        new = sys.modules.keys() - seen
        seen |= new
        if (_threads() > 1 and not threads) or any(module.partition(".")[0] in unwanted for module in new):
            return name.partition(".")[0]
    return ""


def _threads() -> int:
    try:
        return len(os.listdir("/proc/self/task"))  # native threads count, too
    except OSError:
        return threading.active_count()
