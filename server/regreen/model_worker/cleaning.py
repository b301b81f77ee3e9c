"""How does a provider's own word about a problem lose the secrets in it?

Errors quote what was sent: keys, addresses with a password, headers. What is kept is one line, without them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

MOST = 500
"""How much of it is kept, in characters."""

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|COOKIE", re.IGNORECASE)
_SHAPES = re.compile(
    r"(?<=://)[^/\s@]+@"  # the user of an address
    r"|(?i:bearer|basic)\s+[\w.~+/=-]{8,}"
    r"|(?i:(?<=api.key=)|(?<=[?&]key=))[\w.~+/=-]{8,}"
    r"|\b(?:sk|pk|rk|gsk|hf|xai|r8|pplx|nvapi|ghp|glpat)[-_][\w-]{6,}[\w*.-]*"
    r"|\bAIza[\w-]{10,}"
)
SHORTEST = 6
"""Values of fewer characters are words: masking them would mask the sentence."""


def clean(text: str, environment: Mapping[str, str]) -> str:
    """One line of at most `MOST` characters without what the environment keeps secret, or what looks like a key."""
    secrets = sorted(
        (v for name, v in environment.items() if len(v) >= SHORTEST and _SECRET_NAME.search(name)),
        key=len,
        reverse=True,
    )
    for secret in secrets:
        text = text.replace(secret, "***")
    line = " ".join(_SHAPES.sub("***", text).split())
    return line if len(line) <= MOST else line[: MOST - 1] + "…"
