"""Why is a reply of no use, in words that can be sent back to the model that gave it?"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refusal:
    """A reply that cannot be used.

    Args:
        name: the sort of reason, for programs and the run store ("no-match", "elided", …).
        text: what is wrong and what to do instead, for the model. Project text in it is fenced.
    """

    name: str
    text: str
