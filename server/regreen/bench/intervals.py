"""How sure is a figure that was measured on so few cases? Intervals of 95 %, each with its source."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import TypeVar

T = TypeVar("T")

Z = NormalDist().inv_cdf(0.975)
RESAMPLES = 2000


def wilson(hits: int, of: int) -> tuple[float, float]:
    """The interval of a proportion.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927); recommended
    for small samples by Brown, Cai and DasGupta, Statistical Science 16 (2001).

    Args:
        hits: how often it was so.
        of: of how many, at least one.
    """
    share = hits / of
    middle = share + Z**2 / (2 * of)
    reach = Z * math.sqrt(share * (1 - share) / of + Z**2 / (4 * of**2))
    scale = 1 + Z**2 / of
    return max(0.0, (middle - reach) / scale), min(1.0, (middle + reach) / scale)


def paired(gained: int, lost: int, of: int) -> tuple[float, float]:
    """The interval of the difference of two proportions that were measured on the same cases.

    D. G. Bonett and R. M. Price, "Adjusted Wald confidence interval for a difference of binomial proportions based on
    paired data", Journal of Educational and Behavioral Statistics 37 (2012).

    Args:
        gained: in how many cases only the second one was so.
        lost: in how many only the first one was.
        of: how many cases there are.
    """
    up, down = (gained + 1) / (of + 2), (lost + 1) / (of + 2)
    reach = Z * math.sqrt((up + down - (up - down) ** 2) / (of + 2))
    return max(-1.0, up - down - reach), min(1.0, up - down + reach)


def mcnemar(gained: int, lost: int) -> float:
    """The probability of a difference at least as uneven if there were none: McNemar's test in its exact form.

    Q. McNemar, Psychometrika 12 (1947): the cases that differ are tosses of a fair coin.
    """
    tosses = gained + lost
    tail = sum(math.comb(tosses, heads) for heads in range(min(gained, lost) + 1))
    return min(1.0, float(2 * tail / 2**tosses))


def bootstrap(
    sample: Sequence[T], statistic: Callable[[Sequence[T]], float | None]
) -> tuple[float, float] | None:
    """The interval of any statistic, by the percentiles of its values on samples drawn anew from the sample.

    B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13. The same sample gives the
    same interval. None when the statistic has no value.

    Args:
        sample: what was measured.
        statistic: None where it has no value.
    """
    draw = random.Random(1)  # noqa: S311 — statistics, and the same each time
    values = sorted(
        value
        for _ in range(RESAMPLES if sample else 0)
        if (value := statistic(draw.choices(sample, k=len(sample)))) is not None
    )
    if not values:
        return None
    return values[int(0.025 * len(values))], values[int(0.975 * len(values))]
