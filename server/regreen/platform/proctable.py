"""Which processes run, who started them, and how are all that belong together ended?

A process that we start carries a mark in its environment, which whatever it starts inherits. On Linux the
mark is read back from /proc, so that even a daemon that left its group, session and parent is found. Elsewhere
on POSIX `ps` tells parents and groups, which finds everything but such daemons. Windows uses job objects
(see `winjob`).
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

MARK = "REGREEN_MARK"
"""The environment variable that carries the mark."""

PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Row:
    """One living process: its parent, process group and session (0 where `ps` does not tell)."""

    pid: int
    parent: int
    group: int
    session: int


def table() -> dict[int, Row]:
    """Every living process by id; zombies are left out, since they only wait to be reaped."""
    return _proc_table() if (PROC / "self" / "stat").exists() else _ps_table()


def _proc_table() -> dict[int, Row]:
    rows = {}
    for entry in os.scandir(PROC):
        if entry.name.isdigit():
            row = _proc_row(int(entry.name))
            if row is not None:
                rows[row.pid] = row
    return rows


def _proc_row(pid: int) -> Row | None:
    try:
        text = (PROC / str(pid) / "stat").read_bytes()
    except OSError:  # ended while we looked
        return None
    # The name, in parentheses, may hold anything; what follows its last one is plain (proc_pid_stat(5)).
    state, parent, group, session = text[text.rindex(b")") + 2 :].split(maxsplit=4)[:4]
    if state in (b"Z", b"X"):
        return None
    return Row(pid, int(parent), int(group), int(session))


def _ps_table() -> dict[int, Row]:
    listing = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,pgid=,stat="],  # noqa: S607 — found on PATH by design
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    ).stdout
    rows = {}
    for line in listing.splitlines():
        pid, parent, group, state = line.split(maxsplit=3)
        if not state.startswith("Z"):
            rows[int(pid)] = Row(int(pid), int(parent), int(group), 0)
    return rows


def marked(mark: str, rows: Mapping[int, Row]) -> set[int]:
    """Those of `rows` that carry `mark`; empty where environments cannot be read."""
    wanted = f"{MARK}={mark}".encode()
    found = set()
    for pid in rows:
        with contextlib.suppress(OSError):  # ended, or another user's
            if wanted in (PROC / str(pid) / "environ").read_bytes().split(b"\0"):
                found.add(pid)
    return found


def branch(roots: Iterable[int], rows: Mapping[int, Row]) -> set[int]:
    """The living ones of `roots`, all their descendants, and the members of groups any of them leads."""
    children: dict[int, list[int]] = {}
    for row in rows.values():
        children.setdefault(row.parent, []).append(row.pid)
        children.setdefault(row.group, []).append(row.pid)
        children.setdefault(row.session, []).append(row.pid)
    found: set[int] = set()
    waiting = [pid for pid in roots if pid > 1]
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found.add(pid)
            waiting += children.get(pid, ())
    return found & rows.keys()


def whole_tree(root: int, mark: str, rows: Mapping[int, Row], *, ended: bool = False) -> set[int]:
    """`root` and all that it started, however it hides.

    Args:
        root: a process that leads its own group.
        mark: of the whole tree.
        rows: the living processes.
        ended: `root` has ended and was reaped. Its id is not given out again while its group has
            members, so a process with that id is a stranger, and so is its group.
    """
    below = set() if ended and root in rows else branch((root,), rows)
    return below | marked(mark, rows)


def numbered(pid: int, tree: Iterable[int]) -> set[int]:
    """Those of `tree` that are in a process namespace inside of ours and have the id `pid` there."""
    found = set()
    for outer in tree:
        with contextlib.suppress(OSError):  # ended
            status = (PROC / str(outer) / "status").read_bytes().partition(b"\nNSpid:")[2]
            ids = status.partition(b"\n")[0].split()
            if len(ids) > 1 and int(ids[-1]) == pid:
                found.add(outer)
    return found


def subtree(pid: int, root: int, mark: str, rows: Mapping[int, Row], *, inside: bool = False) -> set[int]:
    """`pid` and all below it, as far as they belong to the tree of `root`: a reused id does not.

    Args:
        pid: of a process.
        root: a process that leads its own group.
        mark: of the whole tree.
        rows: the living processes.
        inside: `root` keeps the rest of its tree in a process namespace, and `pid` is an id of that.
    """
    tree = whole_tree(root, mark, rows)
    return branch(numbered(pid, tree) if inside else (pid,), rows) & tree


def strays(root: int, mark: str, rows: Mapping[int, Row], *, inside: bool = False) -> set[int]:
    """What descends from `root` but is no longer below it: its children's daemons.

    `root` itself and its living children with all below them are their own affair.

    Args:
        root: a process that leads its own group.
        mark: of the whole tree.
        rows: the living processes.
        inside: `root` keeps the rest of its tree in a process namespace. There, the first process adopts daemons, and
            the second one takes the place of `root`.
    """
    if inside:
        tree = whole_tree(root, mark, rows)
        first, second = numbered(1, tree), numbered(2, tree)
        return branch([p for p in tree - second if rows[p].parent in first], rows)
    children = [row.pid for row in rows.values() if row.parent == root]
    return whole_tree(root, mark, rows) - {root} - branch(children, rows)


def kill(find: Callable[[Mapping[int, Row]], set[int]], *, seconds: float = 3.0) -> frozenset[int]:
    """SIGKILL what `find` finds, again and again until nothing of it is left. Blocks.

    Args:
        find: which of the living processes to end. What it found once stays a target, since the death
            of a parent hides its children.
        seconds: how long to wait for the last one to go; one stuck in the kernel can't be ended.

    Returns:
        What is still there after that time, normally nothing.
    """
    deadline = time.monotonic() + seconds
    pause = 0.002
    targets: set[int] = set()
    while True:
        rows = table()
        targets = (find(rows) | (targets & rows.keys())) - {os.getpid()}
        if not targets or time.monotonic() > deadline:
            return frozenset(targets)
        for pid in targets:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(pause)
        pause = min(pause * 2, 0.05)
