"""A real Neovim, typed into as a person does, and what its screen shows."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pynvim  # type: ignore[import-untyped]
from tests.processes import MARK, survivors

REPOSITORY = Path(__file__).parents[2]
CLIENT = REPOSITORY / "client-nvim"
COLUMNS, LINES = 120, 40

NvimError = pynvim.NvimError
SERVER = [sys.executable, "-m", "regreen", "--stdio"]


def find_neovim() -> str:
    """The Neovim that the tests use.

    Raises:
        AssertionError: there is none of at least 0.11; it tells how to get one.
    """
    installed = REPOSITORY / ".e2e" / "neovim" / "bin" / "nvim"
    places = [os.environ.get("REGREEN_NVIM"), str(installed), shutil.which("nvim")]
    seen = []
    for place in filter(None, places):
        try:
            output = subprocess.run(
                [place, "--version"], capture_output=True, text=True, check=True, timeout=60
            )
        except (OSError, subprocess.SubprocessError) as error:
            seen.append(f"{place}: {error}")
            continue
        version = output.stdout.split()[1].removeprefix("v")
        if tuple(int(part) for part in version.split("-")[0].split(".")[:2]) >= (0, 11):
            return place
        seen.append(f"{place}: version {version}")
    raise AssertionError(
        f"These tests need Neovim 0.11 or later: run `make deps`, or name one in REGREEN_NVIM. Seen: {seen or 'none'}"
    )


@functools.cache
def found_neovim() -> str:
    """The same, looked for once."""
    return find_neovim()


class Neovim:
    """One running editor.

    Args:
        session: the connection to it.
        mark: what all its processes have in their environment.
    """

    def __init__(self, session: pynvim.Nvim, mark: str) -> None:
        self._session = session
        self.mark = mark

    def lua(self, code: str, *arguments: Any) -> Any:
        """Run Lua; `...` are the arguments."""
        return self._session.exec_lua(code, *arguments)

    def type(self, keys: str) -> None:
        """Press keys, `<CR>` and the like written out, and let Neovim take them."""
        self.answer(keys)
        self.lua("return 1")

    def answer(self, keys: str) -> None:
        """Press keys while Neovim waits for nothing else: it answers no other request then."""
        left = keys
        while left:
            left = left.encode()[self._session.input(left) :].decode()

    def command(self, text: str) -> None:
        """Type an Ex command, as a person does: it starts an undo step of its own, unlike a call of the API."""
        self.type(f"<Esc>:{text.replace('<', '<lt>')}<CR>")

    def until(self, condition: str, *arguments: Any, seconds: float = 120) -> Any:
        """Wait until a Lua expression is true, and return it.

        Raises:
            AssertionError: it did not become true; shows the screen.
        """
        deadline = time.monotonic() + seconds
        while True:
            value = self.lua(f"return {condition}", *arguments)
            if value:
                return value
            if time.monotonic() > deadline:
                raise AssertionError(f"never true: {condition}\n{self.report()}")
            time.sleep(0.05)

    def report(self) -> str:
        """What a person would look at when something went wrong."""
        path = Path(self.lua("return vim.lsp.log.get_filename()"))
        log = path.read_text("utf-8", "replace") if path.exists() else "nothing"
        ours = self.lua("return package.loaded['regreen.log'] and require('regreen.log').lines() or {}")
        return "\n".join(
            [
                *self.screen(),
                "--- status",
                self.status(),
                "--- messages",
                self.messages(),
                "--- log",
                *ours,
                log[-6000:],
            ]
        )

    def screen(self) -> list[str]:
        """The lines of the screen, as drawn."""
        rows = self.lua(
            """
            vim.cmd('redraw')
            local rows = {}
            for row = 1, vim.o.lines do
              local cells = {}
              for column = 1, vim.o.columns do
                cells[column] = vim.fn.screenstring(row, column)
              end
              rows[row] = table.concat(cells)
            end
            return rows
            """
        )
        return [row.rstrip() for row in rows]

    def until_said(self, words: str, seconds: float = 120) -> None:
        """Wait until these words were said in the message line."""
        said = "vim.api.nvim_exec2('messages', { output = true }).output:find(..., 1, true)"
        self.until(said, words, seconds=seconds)

    def messages(self) -> str:
        """Everything that was said in the message line."""
        return str(self.lua("return vim.api.nvim_exec2('messages', { output = true }).output"))

    def open(self, path: Path) -> None:
        """Edit a file and wait until the server knows it."""
        self.command(f"edit {path}")
        self.until("#vim.lsp.get_clients({ bufnr = 0, name = 'regreen' }) > 0")

    def text(self) -> str:
        """The text of the current buffer."""
        return "\n".join(self.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)")) + "\n"

    def replace(self, old: str, new: str) -> None:
        """Change the text of the current buffer as one typed command."""
        before = self.text()
        self.command(f"%s/\\V{old}/{new}/")
        assert self.text() == before.replace(old, new, 1) != before, self.report()

    def save(self) -> None:
        """Write the current buffer."""
        self.command("write")
        self.until("not vim.bo.modified")

    def diagnostics(self) -> list[dict[str, Any]]:
        """Ours in the current buffer: `lnum` (0-based), `code`, `message`."""
        found: list[dict[str, Any]] = self.lua(
            """
            return vim.tbl_map(function(d)
              return { lnum = d.lnum, code = d.code, message = d.message, severity = d.severity }
            end, vim.tbl_filter(function(d) return d.source == 'regreen' end, vim.diagnostic.get(0)))
            """
        )
        return found

    def status(self) -> str:
        """What the status line says; empty without the plug-in."""
        return str(
            self.lua(
                "local found, plugin = pcall(require, 'regreen'); return found and plugin.status() or ''"
            )
        )


@contextmanager
def neovim(tmp: Path, init: str, environment: Mapping[str, str]) -> Iterator[Neovim]:
    """A Neovim with this configuration; when it has ended, no process that it or the server started is left."""
    script = tmp / "init.lua"
    # Without it, Neovim looks for a Python to script it with as soon as a Python file is opened.
    script.write_text(f"vim.g.loaded_python3_provider = 0\n{init}", encoding="utf-8")
    argv = [found_neovim(), "--headless", "--embed", "-n", "-i", "NONE", "-u", str(script)]
    mark = uuid.uuid4().hex
    before = dict(os.environ)
    os.environ.update(environment, **{MARK: mark})
    try:
        session = pynvim.attach("child", argv=argv)
    finally:
        os.environ.clear()
        os.environ.update(before)
    try:
        session.options["columns"], session.options["lines"] = COLUMNS, LINES
        yield Neovim(session, mark)
    finally:
        end(session)
    left = survivors(mark)
    assert not left, f"left running: {left}"


def end(session: pynvim.Nvim, seconds: float = 10) -> None:
    """Let Neovim leave and its pipes be closed.

    By itself pynvim closes its event loop before that has told the transports that they are closed; the garbage
    collector then complains of them in whatever test runs next.
    """
    with suppress(OSError, EOFError):  # it ends without an answer
        session.command("qall!")
    child = session._session.loop
    loop, transports = child._loop, [*child._to_close]

    def turn(pause: float) -> None:
        loop.call_later(pause, loop.stop)
        loop.run_forever()

    deadline = time.monotonic() + seconds
    while transports[-1].get_returncode() is None and time.monotonic() < deadline:
        turn(0.01)
    for transport in transports:
        transport.close()
    for _ in range(3):  # the pipes are closed in the turn after the one that is asked to
        turn(0)
    session.close()


def lua_value(value: Any) -> str:
    """A JSON value as Lua source."""
    return f"vim.json.decode([==[{json.dumps(value)}]==])"
