"""What of a reply is thinking aloud, and what is the answer?"""

from __future__ import annotations

import re

_THOUGHT = re.compile(r"\s*<(think|thinking|thought|reasoning)>(.*?)</\1>", re.DOTALL)
_OPEN = re.compile(r"\s*<(think|thinking|thought|reasoning)>")


def answer(reply: str) -> str | None:
    """Return what follows the thoughts that a reply begins with.

    Models that reason often send their thoughts as part of the text, in a tag, with drafts of the answer in them.

    Returns:
        The answer; None when the thoughts never end, because the reply was cut.
    """
    while found := _THOUGHT.match(reply):
        reply = reply[found.end() :]
    return None if _OPEN.match(reply) else reply
