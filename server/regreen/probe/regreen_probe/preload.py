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


def into_zygote(names: list[str], never: list[str]) -> None:
    """Import what can be imported without starting a thread or meeting a name of `never`.

    A fork tries it first: what turns out badly there happens in no process that lasts.
    """
    wanted = list(names)
    for _ in range(ROUNDS):
        bad = _tried(wanted, frozenset(never))
        if bad is None:
            return
        if not bad:
            break
        wanted = [name for name in wanted if name.partition(".")[0] != bad]
    else:
        return
    for name in wanted:
        with contextlib.suppress(Exception):  # it worked a moment ago; a run imports it again anyway
            importlib.import_module(name)


def _tried(names: list[str], never: frozenset[str]) -> str | None:
    """The first top-level name that must be left out, "" when all is well, None when the trial died."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        try:
            os.write(writer, json.dumps(_first_bad(names, never)).encode())
        finally:
            os._exit(0)
    os.close(writer)
    told = b""
    while chunk := os.read(reader, 4096):
        told += chunk
    os.close(reader)
    os.waitpid(pid, 0)
    return json.loads(told) if told else None


def _first_bad(names: list[str], never: frozenset[str]) -> str:
    signal.alarm(TRIAL_SECONDS)
    seen: set[str] = set()
    for name in names:
        try:
            importlib.import_module(name)
        except BaseException:  # whatever it raises, it is not for the zygote
            return name.partition(".")[0]
        new = sys.modules.keys() - seen
        seen |= new
        if _threads() > 1 or any(module.partition(".")[0] in never for module in new):
            return name.partition(".")[0]
    return ""


def _threads() -> int:
    try:
        return len(os.listdir("/proc/self/task"))  # native threads count, too
    except OSError:
        return threading.active_count()
