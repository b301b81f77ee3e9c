"""When is it no use to go on asking?

Two rounds that show nothing new mean that the model is stuck: after the first the strategy changes, after the second
the heal stops, and can be taken up again with a hint.
"""

from __future__ import annotations

import hashlib
import io
import re
import tokenize
from collections.abc import Iterable, Sequence

from regreen.values import Attempt, Failure, Round

VERIFIED = "verified"
MAX_ROUNDS = "max-rounds"
NO_IMPROVEMENT = "no-improvement"
STUCK = "stuck"
BUDGET = "budget"
INFRASTRUCTURE = "infrastructure"
CANCELLED = "cancelled"
DIAGNOSED = "diagnosed"
REFUSED = "refused"

FRUITLESS = frozenset({MAX_ROUNDS, NO_IMPROVEMENT, STUCK})
"""Ends after which it is worth asking whether the test is right."""

SENTENCES = {
    MAX_ROUNDS: "It had all its rounds (`regreen.llm.maxRounds`).",
    NO_IMPROVEMENT: "Its patches came no nearer.",
    STUCK: "It repeats itself: a hint may help (`regreen runs fork ID --hint …`).",
}

_STANDING = ("PLAUSIBLE", "REGRESSION", "STILL_FAILING", "TIMEOUT", "CRASH")
"""Verdicts of patches that ran, best first; whatever else an attempt ended in comes after them."""

_VALUES = re.compile(r"0x[0-9a-fA-F]+|\d+(?:\.\d+)?")
_SPACES = frozenset(
    {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENCODING,
        tokenize.ENDMARKER,
    }
)


def signature(failure: Failure) -> str:
    """Where and how a test fails, equal for failures that differ only in numbers and addresses."""
    own = [frame for frame in failure.frames if frame.own]
    place = f"{own[-1].path.name}:{own[-1].function}" if own else ""
    first = (failure.message.strip().splitlines() or [""])[0]
    said = failure.comparison
    values = f"{said.left} {said.op} {said.right}" if said is not None else _VALUES.sub("#", first)
    return f"{failure.exception} {place} {values[:300]}"


def general(failure: Failure) -> str:
    """The same without its values, for what is remembered beyond this failure."""
    first = (failure.message.strip().splitlines() or [""])[0]
    return f"{failure.exception.rpartition('.')[2]} {_VALUES.sub('#', first)[:200]}"


def patch_digest(texts: Iterable[tuple[str, str]]) -> str:
    """Equal for patches that make the same code, whatever their blanks and comments.

    Args:
        texts: the path and the whole new text of each file.
    """
    digest = hashlib.sha256()
    for path, text in sorted(texts):
        digest.update(path.encode())
        for word in _words(text):
            digest.update(b"\0" + word.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]


def _words(text: str) -> list[str]:
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):  # of a newer Python, or no Python at all
        return text.split()
    words = []
    for token in tokens:
        if token.type in {tokenize.INDENT, tokenize.DEDENT}:
            words.append(tokenize.tok_name[token.type])
        elif token.type not in _SPACES:
            words.append(token.string)
    return words


def repeats(attempts: Sequence[Attempt], earlier: Sequence[Round]) -> bool:
    """Whether each attempt of a round left a failure, or was a patch, that earlier rounds had already."""
    seen = [one for round_ in earlier for one in round_.attempts]
    signatures = {one.signature for one in seen if one.signature}
    patches = {one.patch_digest for one in seen if one.patch_digest}
    tried = [one for one in attempts if one.signature or one.patch_digest]
    return bool(tried) and all(one.signature in signatures or one.patch_digest in patches for one in tried)


def standing(attempts: Sequence[Attempt]) -> int:
    """How far the best attempt came; less is better."""
    order = {name: place for place, name in enumerate(_STANDING)}
    return min((order.get(one.verdict, len(order)) for one in attempts), default=len(order))


def stop_after(rounds: Sequence[Round], *, limit: int, taken: int = 0) -> str:
    """Why no further round should follow the last one; "" when one should.

    Args:
        rounds: the rounds of patches so far, in order.
        limit: how many there may be.
        taken: how many of these were taken over from an earlier heal: they are known, but count for no end of this one.
    """
    own = rounds[taken:]
    stale = sum(repeats(one.attempts, rounds[: taken + place]) for place, one in enumerate(own))
    if stale >= 2:
        return STUCK
    if len(own) >= 2 and not any(one.diff for round_ in own[-2:] for one in round_.attempts):
        return NO_IMPROVEMENT  # not even a patch
    stood = [standing(one.attempts) for one in own]
    if len(stood) > 3 and min(stood[-3:]) >= min(stood[:-3]):
        return NO_IMPROVEMENT
    return MAX_ROUNDS if len(own) >= limit else ""


def strategies(rounds: Sequence[Round], confidence: float, wanted: int) -> tuple[str, ...]:
    """Which strategies the next round takes.

    A diagnosis that is not sure of itself begins with the broad one; so does a round after one that showed nothing new.

    Args:
        rounds: the rounds of patches so far.
        confidence: the diagnosis', 0 to 1.
        wanted: how many, 1 to 3.
    """
    order = ["minimal", "restructure", "guard"] if confidence >= 0.5 else ["restructure", "minimal", "guard"]
    stale = sum(repeats(one.attempts, rounds[:place]) for place, one in enumerate(rounds))
    turn = stale % len(order)
    return tuple((order[turn:] + order[:turn])[:wanted])
