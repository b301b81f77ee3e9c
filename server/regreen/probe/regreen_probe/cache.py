"""Which project files are compiled already, and how?

Filled in the zygote, so that every fork finds the code in memory. Keyed by path, content and variant.
"""

from __future__ import annotations

import hashlib

from regreen_probe import instrument, markers

PLAIN, MARKED = "plain", "marked"

Compiled = "tuple[CodeType, markers.Table | None]"

_known: dict[tuple[str, bytes, str], Compiled] = {}


def compiled(path: str, source: bytes, variant: str) -> tuple[Compiled, bool]:
    """The code of a file, and whether it had to be compiled now.

    Raises:
        SyntaxError, ValueError: as compile() does.
    """
    key = (path, hashlib.sha256(source).digest(), variant)
    found = _known.get(key)
    if found is not None:
        return found, False
    for old in [k for k in _known if k[0] == path and k[2] == variant and k[1] != key[1]]:
        del _known[old]
    made = _known[key] = _compile(path, source, variant)
    return made, True


def _compile(path: str, source: bytes, variant: str) -> Compiled:
    table = markers.Table(path) if variant == MARKED else None
    return instrument.compiled(path, source, table=table), table


def precompile(path: str) -> None:
    """Compile one file for later; what cannot be compiled will be told by the run that needs it."""
    try:
        with open(path, "rb") as file:
            source = file.read()
        for variant in (PLAIN, MARKED):
            compiled(path, source, variant)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return
