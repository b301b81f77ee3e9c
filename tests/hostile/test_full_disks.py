"""A full disk: what happened, where, and what to do is said, nothing half-made stays, and with room again it goes on."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.cli.commands import PLAIN, Regreen, tree
from tests.lsp.editor import NEOVIM, Editor, environment
from tests.lsp.projects import BAD, CONFIG, TESTS, write
from tests.probe.environments import lacking

BRIEF = "\n[tool.regreen]\nheal.maxCandidates = 12\nheal.offers = 1\n"


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    files: dict[str, str | bytes] = {
        "pyproject.toml": CONFIG + BRIEF,
        "cart.py": BAD,
        "test_cart.py": TESTS,
        "data.bin": os.urandom(200_000),
    }
    root = write(tmp_path / "shop", files)
    before = tree(root)
    yield root
    assert tree(root) == before


def with_a_small_disk(
    folder: Path, kilobytes: int, command: Sequence[str | Path], *, filled: bool = False
) -> list[str]:
    """A command that runs where `folder` is a disk of its own with so much room, perhaps none of it left."""
    if subprocess.run(["unshare", "-rm", "true"], check=False).returncode != 0:
        lacking("user and mount namespaces")
    folder.mkdir(parents=True, exist_ok=True)
    place, words = shlex.quote(str(folder)), shlex.join(map(str, command))
    script = f"mount -t tmpfs -o size={kilobytes}k none {place} || exit 99\n"
    if filled:
        script += f"dd if=/dev/zero of={place}/filler bs=1k 2>/dev/null\n"
    script += f'{words} "$@"\ncode=$?\nfind {place} -type f -name "*tmp*"\nexit $code\n'
    return ["unshare", "-rm", "sh", "-c", script, "sh"]


@pytest.mark.parametrize("kilobytes", [100, 400, 700, 1000])
def test_a_full_cache_is_named_with_what_to_do_whenever_it_fills(
    root: Path, regreen: Regreen, kilobytes: int
) -> None:
    cache = regreen.home / "cache"
    heal = regreen.command("heal", root, "--interpreter", PLAIN)
    done = subprocess.run(
        with_a_small_disk(cache, kilobytes, heal),
        env=regreen.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert f"The private copy of {root} in {cache}" in done.stderr
    assert "No space left on device" in done.stderr
    assert "Free some disk space there, or set REGREEN_CACHE_DIR" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""  # nothing half-written was left, either
    assert "1 VERIFIED" in regreen("heal", root, "--interpreter", PLAIN).stdout


@pytest.mark.parametrize("place", ["state", "temporary"])
def test_a_heal_needs_room_for_its_copies_alone(root: Path, regreen: Regreen, place: str) -> None:
    folder = regreen.home / place
    heal = regreen.command("heal", root, "--interpreter", PLAIN, "--json")
    done = subprocess.run(
        with_a_small_disk(folder, 64, heal, filled=True),
        env={**regreen.environment(), "TMPDIR": str(regreen.home / "temporary")},
        capture_output=True,
        text=True,
        check=False,
    )
    usual = regreen("heal", root, "--interpreter", PLAIN, "--json")
    for said in (done.stdout, usual.stdout):
        assert '"outcome": "VERIFIED"' in said
        assert '"isolation": "full"' in said or '"isolation": "full"' not in usual.stdout


async def test_a_server_whose_cache_was_full_heals_when_there_is_room(root: Path, tmp_path: Path) -> None:
    state = tmp_path / "regreen"
    editor = Editor(NEOVIM, environment(state))
    command = with_a_small_disk(state / "cache", 4000, [sys.executable], filled=True)
    script = tmp_path / "python"
    script.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
    script.chmod(0o755)
    editor.python = str(script)
    await editor.start(root, settings={"interpreter": str(PLAIN)})
    heal = {"nodeid": "test_cart.py::test_total", "root": str(root)}
    await editor.command("heal", **heal)
    await editor.until(lambda: any("No space left" in status["message"] for status in editor.statuses))
    assert "REGREEN_CACHE_DIR" in editor.log
    inside = Path(f"/proc/{editor.server.pid}/root")
    (inside / (state / "cache/filler").relative_to("/")).unlink()
    await editor.command("heal", **heal)
    await editor.fix_at(root / "test_cart.py", 4)
    await editor.stop()
