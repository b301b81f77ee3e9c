"""What do all cases together say, how sure is it, and is it good enough?

What Regreen says of itself (offers that are verified) and what held-out tests say of those offers stand side by
side, for the first can never prove the second.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from regreen.bench.intervals import wilson
from regreen.bench.trial import Result
from regreen.errors import UsageError
from regreen.values import Outcome


def totals(results: Sequence[Result]) -> dict[str, Any]:
    """The figures of all cases; counts are cases, times are seconds.

    `shares` has each proportion as `share`, `hits`, `of` and the interval `low`, `high`, where there is anything
    to divide by. `precision` is the share of offers that are correct, of those that anything could grade;
    `agreed_correct` is that among the offers of the class *agreed*; `classes` has it for each class.
    """
    offers = [one for one in results if one.offered]
    agreed = [one for one in offers if one.confidence == "agreed"]
    graded = [one for one in results if one.correct is not None]
    verified = sum(one.outcome == Outcome.VERIFIED.value for one in results)
    correct = sum(one.correct is True for one in results)
    shares = {
        "verified": _share(verified, len(results)),
        "plausible": _share(sum(one.plausible for one in results), len(results)),
        "offered": _share(len(offers), len(results)),
        "correct": _share(correct, len(graded)),
        "precision": _precision(offers),
        "agreed": _share(len(agreed), len(results)),
        "agreed_correct": _precision(agreed),
    }
    seconds = [one.seconds for one in results]
    first = [one.first_plausible for one in results if one.first_plausible is not None]
    runs = [
        one.offer_seconds / one.pytest_seconds for one in results if one.offer_seconds and one.pytest_seconds
    ]
    return {
        "cases": len(results),
        "verified": verified,
        "plausible": shares["plausible"]["hits"],
        "offered": len(offers),
        "graded": len(graded),
        "correct": correct,
        "precision": shares["precision"].get("share"),
        "agreed": len(agreed),
        "agreed_correct": shares["agreed_correct"]["hits"],
        "seconds_median": percentile(seconds, 0.5),
        "seconds_p90": percentile(seconds, 0.9),
        "first_plausible_median": percentile(first, 0.5),
        "first_plausible_p90": percentile(first, 0.9),
        "pytest_runs_median": percentile(runs, 0.5),
        "tried": sum(one.tried for one in results),
        "tokens": sum(one.tokens for one in results),
        "usd": round(sum(one.usd for one in results), 4),
        "problems": sum(bool(one.problem) for one in results),
        "shares": shares,
        "classes": {
            name: _precision([one for one in offers if one.confidence == name])
            for name in sorted({one.confidence for one in offers} - {""})
        },
    }


def percentile(values: Sequence[float], share: float) -> float | None:
    """The smallest of the values that at least this share of them does not exceed; the median is the usual one."""
    if not values:
        return None
    if share == 0.5:
        return round(statistics.median(values), 3)
    return round(sorted(values)[math.ceil(share * len(values)) - 1], 3)


def _share(hits: int, of: int) -> dict[str, Any]:
    if not of:
        return {"hits": hits, "of": of}
    low, high = wilson(hits, of)
    return {
        "hits": hits,
        "of": of,
        "share": round(hits / of, 4),
        "low": round(low, 4),
        "high": round(high, 4),
    }


def _precision(offers: Sequence[Result]) -> dict[str, Any]:
    graded = [one for one in offers if one.correct is not None]
    return _share(sum(one.correct is True for one in graded), len(graded))


# --------------------------------------------------------------------------- the gate

_BOUND = re.compile(r"\s*(\w+)\s*(>=|<=)\s*([\d.]+)\s*")

Bound = tuple[str, str, float]
"""A figure, ">=" or "<=", and the value that it is held against."""


def parse_gate(text: str) -> tuple[Bound, ...]:
    """Read bounds such as "correct>=0.7,seconds_p90<=20".

    Raises:
        UsageError: it is none, or there is no such figure.
    """
    known = totals(())
    bounds: list[Bound] = []
    for part in text.split(","):
        match = _BOUND.fullmatch(part)
        if not match:
            raise UsageError(f"{part.strip()!r} in --gate is not of the form NAME>=NUMBER or NAME<=NUMBER.")
        name, sign, number = match.groups()
        if name not in known or isinstance(known[name], dict):
            figures = ", ".join(key for key, value in known.items() if not isinstance(value, dict))
            raise UsageError(f"--gate knows no figure {name!r}; there are {figures}.")
        bounds.append((name, sign, float(number)))
    return tuple(bounds)


def missed(bounds: Sequence[Bound], figures: Mapping[str, Any]) -> tuple[str, ...]:
    """A sentence for each bound that the figures of `totals` do not keep; one without a value keeps none.

    Figures that are proportions are held against the bound as such: `correct` is the share of the graded cases.
    """
    sentences: list[str] = []
    for name, sign, bound in bounds:
        value = figures["shares"][name].get("share") if name in figures["shares"] else figures[name]
        kept = value is not None and (value >= bound if sign == ">=" else value <= bound)
        if not kept:
            sentences.append(f"{name} is {'unknown' if value is None else value}, not {sign}{bound:g}")
    return tuple(sentences)
