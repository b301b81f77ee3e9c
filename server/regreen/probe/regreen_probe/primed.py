"""How does a run get by without loading pytest's plug-ins again?

A process in which pytest has read its options and loaded the plug-ins of the environment, and nothing of the project,
waits where pytest would go on to the project's conftest files. A run is a fork of it that goes on from there, in a
world of its own.
"""

from __future__ import annotations

import json
import os
import sys

from regreen_probe import confine, held, redirect, run
from regreen_probe.pipe import Pipe

CONFIGURATION = (
    "pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg",
)  # fmt: skip
"""Where pytest looks for its options, in each folder above the tests (its reference, "Configuration file formats")."""

Likeness = "tuple[object, ...]"


class Known:
    """What the zygote knows of a primed process.

    Args:
        alike: the runs that can be forked from it.
        line: the message of one of them.

    Attributes:
        waits: whether it is ready.
    """

    def __init__(self, alike: Likeness, line: bytes) -> None:
        self.alike = alike
        self.line = line
        self.waits = False


def likeness(request: dict) -> Likeness | None:
    """What a `run` message has in common with all that can be forked from the same primed process.

    Returns:
        None when it needs a process of its own: it is to be parked, or something to be synthesised in it, it is not
        fully isolated, it has another import path, or a file above the project may hold pytest's options that we see
        and runs do not.
    """
    plan = request["confine"]
    if (
        request["park"]
        or request["synthesise"]
        or plan["relaxed"]
        or plan["level"] != confine.FULL
        or "PYTHONPATH" in request["env"]
    ):
        return None
    root = request["rootdir"]
    copies = {user: copy for copy, user in plan["copies"]}
    if root not in copies:
        return None
    options = []
    paths = [os.path.join(root, arg.partition("::")[0]) for arg in request["args"]]
    folder = os.path.commonpath([os.path.normpath(path) for path in paths]) if paths else root
    if not redirect.below(folder, root):
        return None
    while True:
        inside = redirect.below(folder, root)
        for name in CONFIGURATION:
            path = os.path.join(copies[root] + folder[len(root) :] if inside else folder, name)
            try:
                with open(path, "rb") as file:
                    options.append((os.path.join(folder, name), file.read()))
            except OSError:
                continue
            if not inside and not _is_seen(path, plan):
                return None
        if folder == os.path.dirname(folder):
            break
        folder = os.path.dirname(folder)
    environment = sorted(request["env"].items())
    return (request["cwd"], root, request["kind"], str(request["roots"]), str(environment), str(options))


def _is_seen(path: str, plan: dict) -> bool:
    """Whether fully isolated runs find a file that is in no copy where it is, as it is."""
    from regreen_probe import world

    kept = world.World(plan["copies"], plan["beneath"], plan["readable"]).kept
    return os.path.realpath(path) == path and any(redirect.below(path, place) for place in kept)


def wait(line: bytes, commands: int, pipe: Pipe, holding: held.Held) -> None:
    """Be the process from which runs like one are forked; ends it.

    Args:
        line: the `run` message of the one.
        commands: where runs are asked for.
        pipe: for records.
        holding: what the zygote holds.
    """
    from regreen_probe import primer

    request = json.loads(line)
    # What this process reads are the user's files; those of the copy may be newer or older.
    theirs = {
        **request,
        "confine": {**request["confine"], "copies": [[u, u] for _, u in request["confine"]["copies"]]},
    }
    like = likeness(request)
    if likeness(theirs) != like:
        os._exit(0)
    os.chdir(request["cwd"])
    run.set_environment(request)
    sys.dont_write_bytecode = True
    sys.meta_path.insert(0, redirect.Fence(redirect.Roots([[user, user] for user, _ in request["roots"]])))
    waiting = primer.Primer(request, primer.Primed(commands, pipe, holding), lambda: likeness(theirs) == like)
    with run.ending(waiting):
        waiting.main()
