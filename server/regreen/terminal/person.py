"""How is a person at a terminal asked before a model is told anything, and what do they say to its plans?"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from types import MappingProxyType

from rich.console import Console

from regreen.llm.parts import Sending
from regreen.platform.background import run_blocking
from regreen.platform.editor import edited
from regreen.terminal.diffs import visible

EACH = "─" * 60


class TerminalPerson:
    """Asks on the console for messages; where nobody can answer, nothing is sent.

    Args:
        err: where questions are put.
        paused: while entered, nothing else is drawn on the terminal.
        consent: everything may be sent: the command line says so.
    """

    def __init__(
        self, err: Console, paused: Callable[[], AbstractContextManager[object]], *, consent: bool = False
    ) -> None:
        self._err = err
        self._paused = paused
        self._consent = consent
        self.remembers = not consent
        self.keys: Mapping[str, str] = MappingProxyType({})  # the environment has them

    @property
    def _there(self) -> bool:
        return sys.stdin.isatty() and self._err.is_terminal

    async def may_send(self, sending: Sending) -> bool | None:
        """Show provider, model, text and price, and ask."""
        if self._consent:
            return True
        if not self._there:
            self._err.print(
                f"Nothing was sent to {sending.info.model}: nobody is here to allow it. "
                "Run it at a terminal once, or with --consent."
            )
            return None
        with self._paused():
            return await self._asked(sending)

    async def _asked(self, sending: Sending) -> bool | None:
        self._err.print(question(sending))
        while True:
            said = await ask(self._err, "Send it? [y]es, [s]how the text, not [n]ow, ne[v]er here: ")
            match said.strip().lower()[:2]:
                case "y" | "ye":
                    return True
                case "n" | "no" | "":
                    return None
                case "v":
                    return False
                case "s" | "sh":
                    for message in sending.messages:
                        self._err.print(f"{EACH} {message.role}\n{visible(message.text)}")
                    self._err.print(EACH)

    async def review(self, title: str, text: str) -> str | None:
        """Show a plan or a patch and ask; `e` opens it in the user's editor."""
        if not self._there:
            self._err.print(f"{title}: nobody is here to approve it (`regreen.llm.autonomy` is review).")
            return None
        with self._paused():
            return await self._reviewed(title, text)

    async def _reviewed(self, title: str, text: str) -> str | None:
        shown = ""
        while True:
            if text != shown:
                self._err.print(f"{title}\n{EACH}\n{visible(text)}\n{EACH}")
                shown = text
            said = await ask(self._err, "[a]pprove, [e]dit, [r]eject: ")
            match said.strip().lower()[:1]:
                case "a":
                    return text
                case "r" | "":
                    return None
                case "e":
                    text = await run_blocking(edited, text, os.environ)


async def ask(err: Console, text: str) -> str:
    """What is typed after a question; brackets in it are brackets."""
    return await run_blocking(partial(err.input, text, markup=False))


def question(sending: Sending) -> str:
    """What is asked for, in words: who gets what, and for how much."""
    info = sending.info
    size = sum(len(message.text.encode()) for message in sending.messages)
    price = "of unknown price" if sending.usd is None else f"at most about ${sending.usd:.4f}"
    where = f"{info.provider} at {info.address}" if info.address else f"{info.provider} on this machine"
    return (
        f"A language model may look for a fix. The first request has {sending.tokens} tokens ({size} bytes) of "
        f"{sending.folder}, and is {price}; all of them together may cost ${sending.limit_usd:g} for one red test.\n"
        f"  model     {info.model}\n"
        f"  provider  {where}"
    )
