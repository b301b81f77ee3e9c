"""Where does a heal by a model begin, and what does it end in?"""

from __future__ import annotations

from dataclasses import dataclass, field

from regreen.values import Diagnosis, Judgement, Round, Spent, VerifiedFix


@dataclass(frozen=True, slots=True)
class Resume:
    """Where to take up an earlier heal.

    Args:
        rounds: what it did, up to the round to go on from.
        hint: what the user says.
        model: asked instead of that of the settings; "" for that.
    """

    rounds: tuple[Round, ...] = ()
    hint: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class Consulted:
    """How a model's heal ended.

    Args:
        stop: why, as in `stops`.
        text: the same for people.
        fixes: best first.
        spent: what it cost.
        diagnosis: what was said to be wrong; None where it came to nothing.
        judgement: whether test or code is out of date, where no patch was found; None where nobody was asked.
    """

    stop: str
    text: str
    fixes: tuple[VerifiedFix, ...] = ()
    spent: Spent = field(default_factory=Spent)
    diagnosis: Diagnosis | None = None
    judgement: Judgement | None = None
