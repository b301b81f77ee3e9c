"""Where does output go, and what can the thing at the other end show?"""

from __future__ import annotations

import sys
from typing import TextIO

from rich.console import Console


def outputs(*, machine: bool = False) -> tuple[Console, Console]:
    """Consoles for results (stdout) and for everything else (stderr).

    Args:
        machine: stdout carries NDJSON or JSON: never coloured, never wrapped, always UTF-8.
    """
    for stream in (sys.stdout, sys.stderr):
        _never_fail(stream, utf8=machine)
    return _console(sys.stdout, plain=machine), _console(sys.stderr, plain=machine)


def _console(stream: TextIO, *, plain: bool) -> Console:
    return Console(
        file=stream,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=True,
        color_system=None if plain else "auto",
    )


def _never_fail(stream: TextIO, *, utf8: bool) -> None:
    """Let a terminal that lacks a character show another one instead of ending the program."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is None:  # a stream of a test or of an embedding program
        return
    if utf8:
        reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
    else:
        reconfigure(errors="replace")
