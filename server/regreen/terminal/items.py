"""What does one line of a checkup say?"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Item:
    """One line of the checkup; `hint` says what to do when it is not `ok`, or what could be better."""

    name: str
    value: str
    ok: bool = True
    hint: str = ""
