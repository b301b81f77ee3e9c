"""Which values do the tests of the terminal show?"""

from __future__ import annotations

from pathlib import Path

from regreen import edits
from regreen.values import (
    Answer,
    Candidate,
    CandidateVerdict,
    Confidence,
    Evidence,
    Failure,
    FileEdit,
    Flag,
    Frame,
    HealResult,
    Outcome,
    Rival,
    Suspect,
    TestSelection,
    TextEdit,
    Verdict,
    VerifiedFix,
    Vote,
)

BEFORE = "def total(prices):\n    result = 0\n    for price in prices:\n        result -= price\n    return result\n"

COPIED = Flag("test-literal", "returns a literal of the test: 6")
SPLIT = Vote(
    Confidence.SPLIT,
    "1 of 3 patches that pass behave differently",
    Rival("`result = 0` → `result = 6`", "total([])", "0", "6"),
    (Answer("total([1])", "tests/test_cart.py::test_one", "-1", "1"),),
)
REMOVED = Flag("removed-assert", "removes an assert")


def failure(root: Path, nodeid: str = "tests/test_cart.py::test_total") -> Failure:
    frame = Frame(root / "tests/test_cart.py", 4, "test_total", own=True)
    return Failure(
        nodeid, "call", "AssertionError", "assert -3 == 3", (frame,), root / "tests/test_cart.py", 3
    )


def evidence(**changes: object) -> Evidence:
    values: dict[str, object] = {
        "red_to_green": ("tests/test_cart.py::test_total",),
        "still_green": 37,
        "still_red": (),
        "runs": 3,
        "runs_wanted": 3,
        "selection": TestSelection(("tests/test_cart.py::test_total",), "covers cart.py:4"),
        "complete": True,
        "canary": "reached",
        "lines_changed": 1,
        "isolation": "full",
        "seconds": 0.84,
        "command": "python -m pytest tests/test_cart.py::test_total",
        "vote": SPLIT,
    }
    return Evidence(**{**values, **changes})  # type: ignore[arg-type]


def fix(path: Path, old: str, new: str, *, before: str = BEFORE, root: Path | None = None) -> VerifiedFix:
    """A fix of the file's text `before` that replaces the only occurrence of `old`."""
    start = before.index(old)
    file = FileEdit(path, edits.digest(before.encode()), (TextEdit(start, start + len(old), new),))
    name = path.relative_to(root).as_posix() if root else path.name
    after = before.replace(old, new)
    candidate = Candidate(
        (file,), "operator.augmented", f"`{old}` → `{new}`", 0.9, Suspect(path, 3, 0.91, "total")
    )
    return VerifiedFix(
        f"fix-{old}-{new}",
        failure(root or path.parent),
        candidate,
        evidence(),
        {path: file.base_digest},
        edits.unified_diff(name, before, after),
    )


def result(
    root: Path, *fixes: VerifiedFix, outcome: Outcome = Outcome.VERIFIED, nodeid: str = ""
) -> HealResult:
    red = failure(root, nodeid) if nodeid else failure(root)
    return HealResult(
        red,
        outcome,
        "12 candidates were tried: 12 left the test red." if not fixes else "",
        "expected 3, got -3 — cart.py:4 in total",
        fixes,
        {"STILL_FAILING": 12},
        seconds=1.25,
    )


def judged(path: Path, verdict: Verdict = Verdict.STILL_FAILING) -> CandidateVerdict:
    return CandidateVerdict(fix(path, "-=", "*=").candidate, verdict, "the target is still red", 0.0151)
