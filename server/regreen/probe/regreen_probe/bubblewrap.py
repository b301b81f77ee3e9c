"""How does a process move into bubblewrap, where that program may make namespaces and we may not?

Some systems let a few known programs make namespaces and nobody else. The zygote then starts anew inside of one, and
all its runs are there with it: the machine is read-only, what is nobody's business is empty, and there are no other
processes, no services and no network. Cold runs get one each. What that keeps a run from is tried like everything
else (`effects`).
"""

from __future__ import annotations

import json
import os
import sys

from regreen_probe import redirect

PROGRAM = "bwrap"
BOOT = (
    "import sys; sys.path[:] = [p for p in sys.path if p]; sys.path.insert(0, sys.argv[1]); "
    "from regreen_probe.main import main; main(sys.argv[2])"
)
"""How the server starts us, too."""


def find(project: str) -> str:
    """The program on PATH, "" when there is none. What the project brings along is not taken.

    Args:
        project: a folder with nothing in it that we may start.
    """
    theirs = os.path.realpath(project)
    for folder in filter(os.path.isabs, os.environ.get("PATH", "").split(os.pathsep)):
        path = os.path.realpath(os.path.join(folder, PROGRAM))
        if redirect.below(path, theirs) or redirect.below(os.path.realpath(folder), theirs):
            continue
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return ""


def wrapper(program: str, wrap: dict) -> list[str]:
    """What stands before a command that is to be started inside.

    Args:
        program: as it was found.
        wrap: of the process's options (docs/internals/wire.md).

    Raises:
        OSError: a folder that is to be written cannot be made.
    """
    from regreen_probe import world  # Linux only

    place = world.World([], [], wrap["readable"])
    words = [
        program,
        "--die-with-parent",
        "--unshare-user-try",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
    ]
    words += [] if wrap["network"] else ["--unshare-net"]
    words += ["--cap-drop", "ALL", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    for path in place.empty:
        if path != world.SHARED:  # comes with /dev
            words += ["--tmpfs", path]
    for path in (*place.homes, *world.IN_EMPTY):
        if place.is_hidden(path):
            words += ["--dir", path]
    for path in place.kept:
        if place.is_hidden(path):
            words += ["--ro-bind", path, path]
    for path, target in place.links.items():
        if not any(redirect.below(path, kept) for kept in place.kept):
            words += ["--symlink", target, path]
    for path in wrap["writable"]:
        os.makedirs(path, 0o700, exist_ok=True)
        words += ["--bind", path, path]
    return [*words, "--"]


def again(mode: str, options: dict) -> list[str]:
    """The command that starts this package anew, in a mode and with options as `main` has them."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return [sys.executable, "-c", BOOT, here, mode, json.dumps(options)]


def move(inside: list[str], reader: int, writer: int, options: dict) -> None:
    """Become a host that is inside. Raises OSError when it cannot be started.

    Args:
        inside: what `wrapper` gave.
        reader: where messages come from.
        writer: where records go.
        options: of the new process.
    """
    os.dup2(reader, 0)
    os.dup2(writer, 1)
    os.execv(inside[0], [*inside, *again("host", options)])  # noqa: S606 — no shell is what is wanted
