"""A person at a terminal is asked before anything is sent, can read it, and is heard."""

from __future__ import annotations

import os
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.commands import PLAIN, SECONDS
from tests.models.heals import RIGHT, Week

pty = pytest.importorskip("pty", reason="only POSIX has terminals like these")

SEND = "Send it? [y]es, [s]how the text, not [n]ow, ne[v]er here: "
REVIEW = "[a]pprove, [e]dit, [r]eject: "
_DRAWN = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class Terminal:
    """`regreen heal` at a terminal of its own."""

    def __init__(self, days: Week, model: str, *settings: str, **environment: str) -> None:
        self.ours, theirs = pty.openpty()
        asked = (
            "llm.mode=allowed",
            f"llm.model={model}",
            "llm.strategies=1",
            "heal.maxCandidates=0",
            *settings,
        )
        options = [part for one in asked for part in ("--set", one)]
        self.process = subprocess.Popen(
            days.regreen.command("heal", days.root, "--interpreter", PLAIN, *options),
            env={**days.regreen.environment(), "TERM": "xterm", "COLUMNS": "200", **environment},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self.shown = ""

    def _read(self) -> bool:
        if not select.select([self.ours], [], [], 0.1)[0]:
            return True
        try:
            data = os.read(self.ours, 65_536)
        except OSError:  # Linux's way to say that nobody is at the other end
            return False
        self.shown += _DRAWN.sub("", data.decode("utf-8", "replace"))
        return bool(data)

    def until(self, text: str) -> str:
        """Wait for a text; what was shown before it since the last one."""
        deadline = time.monotonic() + SECONDS
        while text not in self.shown and time.monotonic() < deadline and self._read():
            pass
        before, found, self.shown = self.shown.partition(text)
        assert found, before
        return before

    def type(self, text: str) -> None:
        os.write(self.ours, f"{text}\n".encode())

    def end(self) -> tuple[int, str]:
        """Its exit status, and what it showed last."""
        while self._read():
            pass
        return self.process.wait(SECONDS), self.shown


@pytest.fixture
def terminals() -> Iterator[list[Terminal]]:
    opened: list[Terminal] = []
    yield opened
    for one in opened:
        one.process.kill()
        one.process.wait()
        os.close(one.ours)


def test_who_what_and_how_much_is_said_and_the_text_can_be_read(
    days: Week, terminals: list[Terminal]
) -> None:
    model = days.script(RIGHT, address="api.example.com")
    terminals.append(at := Terminal(days, model))
    asked = at.until(SEND)
    for part in (model, "scripted at api.example.com", str(days.root), "at most about $0.", "tokens"):
        assert part in asked, asked
    at.type("s")
    text = at.until(SEND)
    assert "Role: debugger" in text
    assert "test: test_days.py::test_weekday" in text
    at.type("y")
    status, shown = at.end()
    assert (status, "VERIFIED" in shown) == (0, True), shown

    terminals.append(again := Terminal(days, model))
    status, shown = again.end()
    assert (status, SEND in shown) == (0, False), "what was allowed once holds"


@pytest.mark.parametrize(("key", "asked_again"), [("n", True), ("v", False)])
def test_no_is_heard_for_now_or_for_good(
    days: Week, terminals: list[Terminal], key: str, asked_again: bool
) -> None:
    model = days.script(RIGHT)
    terminals.append(at := Terminal(days, model))
    at.until(SEND)
    at.type(key)
    status, shown = at.end()
    assert (status, "NO_FIX" in shown) == (1, True), shown
    terminals.append(again := Terminal(days, model))
    if asked_again:
        again.until(SEND)
    else:
        assert SEND not in again.end()[1]


def test_a_question_can_be_left_by_stopping_everything(days: Week, terminals: list[Terminal]) -> None:
    terminals.append(at := Terminal(days, days.script(RIGHT)))
    at.until(SEND)
    at.process.send_signal(signal.SIGINT)
    status, _ = at.end()
    assert status == 130


def test_a_plan_can_be_changed_in_the_editor_of_ones_choice(
    days: Week, terminals: list[Terminal], tmp_path: Path
) -> None:
    change = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text('Take one less.')"
    editor = tmp_path / "editor.py"
    editor.write_text(change)
    model = days.script(RIGHT)
    command = shlex.join([sys.executable, str(editor)])
    terminals.append(at := Terminal(days, model, "llm.autonomy=review", EDITOR=command))
    at.until(SEND)
    at.type("y")
    assert "Subtract one." in at.until(REVIEW)
    at.type("e")
    assert "Take one less." in at.until(REVIEW)
    at.type("a")
    assert "NAMES[number - 1]" in at.until(REVIEW), "then the patch, before it runs"
    at.type("a")
    status, shown = at.end()
    assert (status, "VERIFIED  Take one less." in shown) == (0, True), shown
