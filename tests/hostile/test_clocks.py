"""A clock that jumps by an hour, either way, loses no change and ends nothing early."""

from __future__ import annotations

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


async def test_a_server_sees_every_change_and_ends_no_heal_early_when_its_clock_jumps(
    clock: Clock, cart: Shop, tmp_path: Path
) -> None:
    editor = Editor(NEOVIM, {**environment(tmp_path / "regreen"), **clock.environment})
    await editor.start(cart.root, settings={"interpreter": str(PLAIN), "heal.maxSeconds": HOUR / 2})
    editor.open(cart.cart)
    for before, during in ((0, HOUR), (HOUR, 0), (0, -HOUR), (-HOUR, 0)):
        clock.jump(before)
        editor.save(cart.cart, BAD)
        await editor.until(lambda: editor.red(cart.tests))
        clock.jump(during)
        await editor.fix_at(cart.tests, 4)
        await editor.idle()
        editor.save(cart.cart, GOOD)
        await editor.until(lambda: not editor.red(cart.tests))
    await editor.stop()


@pytest.mark.parametrize("hours", [(0, 1, 0), (0, -1, 0)], ids=["on and back", "back and on"])
def test_a_change_that_was_made_at_another_time_is_seen(
    clock: Clock, regreen: Regreen, tmp_path: Path, hours: tuple[int, ...]
) -> None:
    # All of one length: only what the clock says, and the order of things, could tell them apart.
    bugs = {f"assert {-15 + n} == 15": BAD.replace("= 0", f"= {n}") for n in range(3)}
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
