"""What does `regreen heal` make of one injected bug, as its user sees it?

Only the command line and its NDJSON lines are used: what is measured here is what anybody gets.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.real.places import Place

SEARCH_SECONDS = 25
GRACE_SECONDS = 150
"""What a heal may take beside its search: the first run of the tests, the coverage map, the last proof."""


_running: set[subprocess.Popen[str]] = set()


@dataclass(frozen=True, slots=True)
class Heal:
    """One run of the command.

    Args:
        outcomes: by node id, as the `result` lines name them.
        reasons: by node id, for people.
        first: the node id whose result held the first fix that was offered; "" without any.
        diff: that fix, empty without any.
        tried: verdict → how many candidates ended so.
        origins: template → how many of its candidates were tried.
        suspects: places that candidates were aimed at ("file:line"), in the order they were first tried.
        seconds: until the first fix was told; until the end without any.
        status: the command's exit status; None when it had to be killed.
        tail: the last lines of its error output.
    """

    outcomes: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    first: str = ""
    diff: str = ""
    tried: dict[str, int] = field(default_factory=dict)
    origins: dict[str, int] = field(default_factory=dict)
    suspects: tuple[str, ...] = ()
    seconds: float = 0.0
    status: int | None = None
    tail: str = ""

    @property
    def outcome(self) -> str:
        """The outcome of the first fix, else of the first failure, else that there was none."""
        return self.outcomes.get(self.first) or next(iter(self.outcomes.values()), "NO_RESULT")


def heal(at: Place, nodeids: Sequence[str], private: Path, seconds: float = SEARCH_SECONDS) -> Heal:
    """Run `regreen heal` on these red tests, in the project's folder.

    Args:
        private: a folder for Regreen's own caches and state, so that nothing is known from earlier runs.
        seconds: how long it may search.
    """
    environment = {
        **os.environ,
        "REGREEN_CACHE_DIR": str(private / "cache"),
        "REGREEN_STATE_DIR": str(private / "state"),
    }
    environment.pop("VIRTUAL_ENV", None)  # ours, not the project's
    command = [_regreen(), "heal", "--json", "--max-seconds", str(seconds), *nodeids]
    begun = time.monotonic()
    with subprocess.Popen(
        command,
        cwd=at.root,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=os.name != "nt",
    ) as process:
        _running.add(process)
        late = threading.Timer(seconds + GRACE_SECONDS, _kill, [process])
        late.start()
        said: list[str] = []
        listener = threading.Thread(target=lambda: said.extend(process.stderr or ()), daemon=True)
        listener.start()
        events = [(time.monotonic() - begun, line) for line in process.stdout or ()]
        process.wait()
        _running.discard(process)
        killed = late.finished.is_set()
        late.cancel()
        listener.join(5)
    ended = time.monotonic() - begun
    return read(events, None if killed else process.returncode, ended, "".join(said[-20:]))


def read(events: Iterable[tuple[float, str]], status: int | None, ended: float, tail: str) -> Heal:
    """Put the (seconds, line) pairs of one run together.

    Raises:
        ValueError: a line is not an event of the wire format.
    """
    outcomes: dict[str, str] = {}
    reasons: dict[str, str] = {}
    tried: Counter[str] = Counter()
    origins: Counter[str] = Counter()
    suspects: dict[str, None] = {}
    offered: dict[str, float] = {}
    first, diff, seconds = "", "", ended
    for at, line in events:
        event: dict[str, Any] = json.loads(line)
        if event["v"] != 1:
            raise ValueError(f"an event of another version: {line!r}")
        if event["event"] == "candidate":
            tried[event["verdict"]] += 1
            origins[event["template"]] += 1
            suspects[f"{event['path']}:{event['line']}"] = None
        elif event["event"] == "offer":
            offered.setdefault(event["nodeid"], at)
        elif event["event"] == "result":
            outcomes[event["nodeid"]] = event["outcome"]
            reasons[event["nodeid"]] = event["reason"]
            better = event["outcome"] == "VERIFIED" and outcomes.get(first) != "VERIFIED"
            if event["diff"] and (not diff or better):
                first, diff = event["nodeid"], event["diff"]
                seconds = offered.get(first, at)
    return Heal(
        outcomes,
        reasons,
        first,
        diff,
        dict(tried),
        dict(origins),
        tuple(suspects),
        round(seconds, 2),
        status,
        tail,
    )


def apply(diff: str, root: Path) -> None:
    """Write the fix with git, as someone would who was sent the patch.

    Raises:
        ValueError: git does not take it.
    """
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(root.parent)}
    done = subprocess.run(
        ["git", "apply", "--whitespace=nowarn", "-"],
        cwd=root,
        env=environment,
        input=diff.encode(),
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise ValueError(f"git does not take the fix: {done.stderr.decode(errors='replace').strip()}\n{diff}")


def stop_all() -> None:
    """Leave no heal behind: they have process groups of their own."""
    for process in tuple(_running):
        _kill(process)


def _regreen() -> str:
    beside = shutil.which("regreen", path=str(Path(sys.executable).parent))
    if beside is None:
        raise FileNotFoundError("the `regreen` command is not installed beside this Python")
    return beside


def _kill(process: subprocess.Popen[str]) -> None:
    if os.name == "nt":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)
