"""Results of cases, as tests want them."""

from __future__ import annotations

from regreen.bench.trial import Result


def result(name: str, *, correct: bool | None = None, confidence: str = "", seconds: float = 1.0) -> Result:
    """A case whose fix was offered and graded so; without `correct` nothing was offered."""
    offered = correct is not None
    return Result(
        name,
        "VERIFIED" if offered else "NO_FIX",
        plausible=offered,
        offered=offered,
        correct=bool(correct),
        confidence=confidence,
        patch="--- a/x.py\n+++ b/x.py\n" if offered else "",
        tried=10,
        seconds=seconds,
        first_plausible=seconds / 10 if offered else None,
        offer_seconds=seconds / 2 if offered else None,
        pytest_seconds=0.1 if offered else None,
        families={"comparison": {"tried": 10, "seconds": 0.5, "plausible": int(offered)}},
    )
