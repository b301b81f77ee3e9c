"""What stands in a prompt in place of a secret?"""

from __future__ import annotations

import re

OPEN, CLOSE = "\u2039", "\u203a"
"""Single angle quotation marks: hardly any code holds them."""

PLACEHOLDER = re.compile(rf"{OPEN}masked: ([^{OPEN}{CLOSE}\r\n]+) (\d+){CLOSE}")
"""One of them: the sort of secret, and its number among those of its sort."""


def placeholder(kind: str, number: int) -> str:
    """Name a secret without saying it: "masked: AWS key 1", between the marks."""
    return f"{OPEN}masked: {kind} {number}{CLOSE}"
