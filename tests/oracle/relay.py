"""Starts a command and carries bytes between it and whoever started this; on the way back it may do what a file says.

Arguments: the file, the command. The file holds nothing, or what is to be done to the records of which sort:
`{"what": "drop", "ev": "test"}`. That it was done is written into a file beside it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

FORGED = b'{"id": %s, "ev": "test", "nodeid": "test_it.py::test_it", "outcome": "passed"}\n'
seen: dict[str, bytes] = {}


def number(line: bytes) -> bytes:
    """The id of the run that a line tells of."""
    found = re.search(rb'"id": (\d+)', line)
    assert found is not None
    return found[1]


def owner(line: bytes) -> bytes:
    """What the zygote writes in front of the lines of a run."""
    word, space, _ = line.partition(b" ")
    return word + space if word.isdigit() else b""


def replayed(line: bytes, ev: str) -> bytes:
    """What an earlier run said at this place, as if this one had said it."""
    old = seen[ev]
    said = old[len(owner(old)) :]
    return owner(line) + said.replace(b'"id": ' + number(old), b'"id": ' + number(line))


FAULTS: dict[str, Callable[[bytes], bytes]] = {
    "flip a bit": lambda line: line[: len(line) // 2] + bytes([line[len(line) // 2] ^ 1]) + line[len(line) // 2 + 1 :],
    "lose a byte": lambda line: line[: len(line) // 2] + line[len(line) // 2 + 1 :],
    "drop": lambda _: b"",
    "repeat": lambda line: line * 2,
    "inject a record": lambda line: owner(line) + FORGED % number(line) + line,
    "inject noise": lambda line: owner(line) + b"\xff\x00 noise\n" + line,
    "tell a better outcome": lambda line: line.replace(b"failed", b"passed"),
}  # fmt: skip


def spoiled(line: bytes, plan: Path) -> bytes:
    """The line as it goes on."""
    fault = json.loads(plan.read_text() or "{}")
    for ev in ("started", "collected", "begin", "test", "finished"):
        if b'"ev": "%s"' % ev.encode() in line:
            if fault.get("ev") == ev:
                plan.with_suffix(".done").touch()
                if fault["what"] == "cut":
                    os._exit(1)
                return replayed(line, ev) if fault["what"] == "replay" else FAULTS[fault["what"]](line)
            seen[ev] = line
    return line


def main(plan: Path, command: list[str]) -> int:
    """Carry until the command has ended; its exit status, as a shell tells it."""
    probe = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    assert probe.stdin is not None
    assert probe.stdout is not None
    to = probe.stdin

    def forward() -> None:
        while data := os.read(0, 1 << 16):
            to.write(data)
            to.flush()
        to.close()

    threading.Thread(target=forward, daemon=True).start()
    for line in probe.stdout:
        os.write(1, spoiled(line, plan))
    code = probe.wait()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    os._exit(main(Path(sys.argv[1]), sys.argv[2:]))
