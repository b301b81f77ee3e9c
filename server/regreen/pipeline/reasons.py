"""What is a person told about the cause and about how the heal ended?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from regreen.pipeline.consulting import stops
from regreen.pipeline.consulting.values import Consulted
from regreen.pipeline.search import Search
from regreen.values import VERDICT_WORDS, Failure, Outcome, Spent, Suspect, Verdict, VerifiedFix


def cause_of(failure: Failure) -> str:
    """Say in one line where and how the test fails: the value that was not as expected, or the exception."""
    own = [frame for frame in failure.frames if frame.own]
    place = f" at {own[-1].path.name}:{own[-1].line + 1}" if own else ""
    name = failure.exception.rpartition(".")[2]
    if failure.comparison is not None:
        one = failure.comparison
        if one.op == "==":
            return f"expected {_short(one.right)}, got {_short(one.left)}{place}"
        return f"{_short(one.left)} {one.op} {_short(one.right)} is false{place}"
    first = failure.message.strip().splitlines()
    return f"{name}: {first[0][:160]}{place}" if first else f"{name}{place}"


def counted(number: int, noun: str) -> str:
    """Say a number of things: "1 suspect", "2 suspects"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "…"


def offer_reason(fixes: Sequence[VerifiedFix]) -> str:
    """Say what is offered and, when there are several, whether they behave alike."""
    best = fixes[0]
    sentence = f"{best.candidate.title} in {best.candidate.suspect.path.name}."
    if len(fixes) > 1:
        alike = not best.differs_from
        sentence += f" {len(fixes)} fixes pass" + (
            "; they behave alike." if alike else "; they behave differently."
        )
    if best.evidence.still_red:
        sentence += f" Still red, though they run the patched code: {counted(len(best.evidence.still_red), 'other test')}."
    elif best.target_only:
        sentence += " Not every test that it may affect was run."
    return sentence


def no_fix_reason(hunt: Search, suspects: Sequence[Suspect], refused: Counter[str], spared: int) -> str:
    """Say what was tried and why it failed."""
    if not suspects:
        why = "No line that a patch may change is involved: the failure lies in test code, in configuration or in packages."
        return (
            why
            if not spared
            else f"{spared} suspicious functions delete, overwrite, spawn or send; {_UNPROTECTED}"
        )
    parts = [
        f"{count} {VERDICT_WORDS[name]}"
        for name, count in sorted(hunt.tried.items())
        if name in VERDICT_WORDS and name != Verdict.PLAUSIBLE.value
    ]
    sentence = f"{counted(hunt.total, 'candidate')} tried at {counted(len(suspects), 'place')}"
    sentence += f": {', '.join(parts)}." if parts else "."
    if refused:
        sentence += (
            " Plausible at first, then refused: " + "; ".join(f"{r} ({n})" for r, n in refused.items()) + "."
        )
    if spared:
        sentence += (
            f" {spared} functions got none because they delete, overwrite, spawn or send; {_UNPROTECTED}"
        )
    if not hunt.exhausted:
        sentence += " The budget ended the search (`regreen.heal.maxSeconds`, `--max-seconds`)."
    return sentence


def said_cause(failure: Failure, asked: Consulted | None) -> str:
    """The cause in one line; where a model said what is wrong, in its words."""
    if asked is None or asked.diagnosis is None or not asked.diagnosis.confidence:
        return cause_of(failure)
    said = asked.diagnosis
    shown = f" ({said.variable} is {_short(said.value)})" if said.variable else ""
    return f"{_short(said.cause)}{shown} at {said.path}:{said.line + 1}, says the model; {cause_of(failure)}"


def model_reason(asked: Consulted) -> str:
    """Say how asking a model ended, and what it cost."""
    told = f"A model took {spent_text(asked.spent)}: no fix." if asked.spent.calls else "No model was asked."
    said = asked.judgement
    stale = (
        f" It takes the {said.side} to be out of date: {said.why}" if said and said.side != "unclear" else ""
    )
    return f"{told} {asked.text}{stale}".strip()


def spent_text(spent: Spent) -> str:
    """Say what asking a model cost: calls, tokens and the estimate of its price."""
    price = f"about ${spent.usd:.4f} (an estimate)" if spent.usd else "free"
    if spent.unpriced:
        price = f"{price}, {spent.unpriced} of them with no known price" if spent.usd else "no known price"
    return f"{counted(spent.calls, 'call')}, {counted(spent.tokens, 'token')}, {price}"


def ended_by(asked: Consulted, otherwise: Outcome) -> Outcome:
    """The outcome of a heal in which asking a model gave no fix."""
    return {stops.STUCK: Outcome.STUCK, stops.BUDGET: Outcome.OVER_BUDGET}.get(asked.stop, otherwise)


_UNPROTECTED = "this system does not protect files from test runs (see `regreen doctor`)."
