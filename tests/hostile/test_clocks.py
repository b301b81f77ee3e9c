"""A clock that jumps by an hour, either way, loses no change and ends nothing early."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path

import pytest
from tests.cli.commands import BRIEF, PLAIN, Regreen, events
from tests.lsp.editor import NEOVIM, Editor, environment
from tests.lsp.projects import BAD, CONFIG, GOOD, TESTS, Shop, write

HOUR = 3600
JUMPING = """\
import os, time

PLACE = os.environ["CLOCK"]


def _off():
    try:
        with open(PLACE) as file:
            return int(file.read() or 0)
    except OSError:  # inside of an isolated run
        return 0


real, real_ns = time.time, time.time_ns
time.time = lambda: real() + _off()
time.time_ns = lambda: real_ns() + _off() * 10**9
"""


class Clock:
    """What time it is for a Regreen that runs in `environment`."""

    def __init__(self, folder: Path) -> None:
        write(folder, {"sitecustomize.py": JUMPING, "off": "0"})
        self.place = folder / "off"
        self.environment = {"PYTHONPATH": str(folder), "CLOCK": str(self.place)}

    def jump(self, seconds: int) -> None:
        self.place.write_text(str(seconds))


@pytest.fixture
def clock(tmp_path: Path) -> Clock:
    return Clock(tmp_path / "clock")


async def test_a_server_sees_every_change_when_its_clock_jumps(
    clock: Clock, cart: Shop, tmp_path: Path
) -> None:
    editor = Editor(NEOVIM, {**environment(tmp_path / "regreen"), **clock.environment})
    await editor.start(cart.root, settings={"interpreter": str(PLAIN)})
    editor.open(cart.cart)
    for there in (HOUR, -HOUR):
        jumping = asyncio.create_task(_to_and_fro(clock, there))
        editor.save(cart.cart, BAD)
        await editor.fix_at(cart.tests, 4)
        jumping.cancel()
        await editor.idle()
        editor.save(cart.cart, GOOD)
        await editor.until(lambda: not editor.red(cart.tests))
    await editor.stop()


async def _to_and_fro(clock: Clock, there: int) -> None:
    while True:
        for off in (there, 0):
            clock.jump(off)
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("jump", [HOUR, -HOUR])
def test_a_heal_takes_the_time_that_it_takes_when_the_clock_jumps(
    clock: Clock, cart: Shop, regreen: Regreen, jump: int
) -> None:
    cart.cart.write_text(BAD)
    environment = {**regreen.environment(), **clock.environment}
    limits = ("--set", f"heal.maxSeconds={HOUR / 2}", "--set", "heal.maxCandidates=30")
    command = ("heal", cart.root, "--json", "--interpreter", PLAIN, *limits)
    said = {}
    with regreen.start(*command, environment=environment) as heal:
        assert heal.stdout is not None
        for event in map(json.loads, heal.stdout):
            said[event["event"]] = event
            clock.jump(jump)  # at the latest when it has found a red test
    assert said["result"]["outcome"] == "VERIFIED"
    for kind in ("candidate", "result", "summary"):
        assert 0 <= said[kind]["seconds"] < HOUR / 2


@pytest.mark.parametrize("hours", [(0, 1, 0), (0, -1, 0)], ids=["on and back", "back and on"])
def test_a_change_that_was_made_at_another_time_is_seen(
    clock: Clock, regreen: Regreen, tmp_path: Path, hours: tuple[int, ...]
) -> None:
    # All of one length: only what the clock says, and the order of things, could tell them apart.
    bugs = {f"assert {5 + n} == -5": BAD.replace("= 0", f"= {n}") for n in range(3)}
    config = CONFIG + BRIEF.replace("30", "1")
    root = write(tmp_path / "shop", {"pyproject.toml": config, "test_cart.py": TESTS})
    environment = {**regreen.environment(), **clock.environment}
    command = ("heal", root, "--json", "--interpreter", PLAIN)
    for hour, (message, bug) in zip(hours, bugs.items(), strict=True):
        clock.jump(hour * HOUR)
        (root / "cart.py").write_text(bug)
        now = time.time() + hour * HOUR
        os.utime(root / "cart.py", (now, now))
        (failure, *_) = events(regreen(*command, environment=environment), "failure")
        assert failure["message"].startswith(message)
