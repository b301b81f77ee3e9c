"""What does a program get to read with `--json`: one JSON object a line, in which shapes?

Version 1, kept stable: fields are added, never changed or removed. Lines are 1-based, paths relative to the
project with forward slashes, times in seconds.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from regreen import edits
from regreen.terminal.evidence import sentence
from regreen.values import (
    CandidateVerdict,
    Evidence,
    Expectation,
    Failure,
    HealResult,
    Progress,
    Spent,
    VerifiedFix,
    Vote,
)

VERSION = 1


class NdjsonReporter:
    """Writes every event as it happens; each line is flushed, so that a reader can follow.

    Args:
        stream: where the lines go.
        root: the project that paths are relative to.
    """

    def __init__(self, stream: IO[str], root: Path) -> None:
        self._stream = stream
        self._root = root
        self._began: dict[str, float] = {}  # node id → when the search for it did

    def showing(self) -> AbstractContextManager[object]:
        """Lines need no screen."""
        return nullcontext()

    def paused(self) -> AbstractContextManager[object]:
        """Nor do they stand in the way of a question."""
        return nullcontext()

    def progress(self, progress: Progress) -> None:
        """Note when a search begins. Stages are for people; a program sees what they lead to."""
        if progress.stage == "search":
            self._began.setdefault(progress.nodeid, time.monotonic())

    def failure(self, failure: Failure) -> None:
        """Write a `failure`."""
        write(self._stream, "failure", failure_fields(failure, self._root))

    def candidate(self, failure: Failure, verdict: CandidateVerdict) -> None:
        """Write a `candidate`."""
        now = time.monotonic()
        after = now - self._began.get(failure.nodeid, now)
        write(self._stream, "candidate", candidate_fields(failure, verdict, self._root, after))

    def offer(self, result: HealResult) -> None:
        """Write an `offer`."""
        write(self._stream, "offer", result_fields(result, self._root))

    def result(self, result: HealResult) -> None:
        """Write a `result`."""
        write(self._stream, "result", result_fields(result, self._root))


def write(stream: IO[str], event: str, fields: Mapping[str, Any]) -> None:
    """Write one event."""
    stream.write(json.dumps({"v": VERSION, "event": event, **fields}, ensure_ascii=False) + "\n")
    stream.flush()


def failure_fields(failure: Failure, root: Path) -> dict[str, Any]:
    """A red test as it was seen."""
    return {
        "project": root.as_posix(),
        "nodeid": failure.nodeid,
        "phase": failure.phase,
        "exception": failure.exception,
        "message": failure.message,
        "path": edits.relative(failure.path, root),
        "line": failure.line + 1,
    }


def candidate_fields(failure: Failure, verdict: CandidateVerdict, root: Path, after: float) -> dict[str, Any]:
    """A candidate patch and what became of it; `after`: seconds from the beginning of the search to the verdict."""
    candidate = verdict.candidate
    return {
        "project": root.as_posix(),
        "nodeid": failure.nodeid,
        "template": candidate.template,
        "title": candidate.title,
        "path": edits.relative(candidate.suspect.path, root),
        "line": candidate.suspect.line + 1,
        "verdict": verdict.verdict.value,
        "reason": verdict.reason,
        "seconds": round(verdict.seconds, 3),
        "after": round(after, 3),
    }


def result_fields(result: HealResult, root: Path) -> dict[str, Any]:
    """How the heal of one red test ended; `diff`, `evidence` and `reproduce` are null without a fix."""
    best, *others = result.fixes or (None,)
    return {
        "project": root.as_posix(),
        "nodeid": result.failure.nodeid,
        "outcome": result.outcome.value,
        "cause": result.cause,
        "reason": result.reason,
        "fix": best and best.fix_id,
        "title": best and best.candidate.title,
        "diff": best and best.diff,
        "evidence": best and evidence_fields(best.evidence),
        "reproduce": best and best.evidence.command,
        "flags": best and flag_fields(best),
        "others": [_other_fields(fix) for fix in others if fix],
        "tried": dict(result.tried),
        "seconds": round(result.seconds, 3),
        "heal": result.heal or None,
        "model": result.spent and spent_fields(result.spent),
        "expectation": result.expectation and expectation_fields(result.expectation, root),
    }


def expectation_fields(change: Expectation, root: Path) -> dict[str, Any]:
    """The change of a TEST with which it would agree with the code; never applied."""
    path = edits.relative(change.edit.path, root)
    return {"path": path, "old": change.old, "new": change.new, "diff": change.diff}


def spent_fields(spent: Spent) -> dict[str, Any]:
    """What asking a language model took: calls, tokens, and an estimate in US dollars of those calls with a known price."""
    return {
        "calls": spent.calls,
        "tokens": spent.tokens,
        "usd": round(spent.usd, 6),
        "unpriced": spent.unpriced,
    }


def evidence_fields(evidence: Evidence) -> dict[str, Any]:
    """The proof in numbers; `text` is the sentence that people get."""
    return {
        "text": sentence(evidence),
        "red_to_green": list(evidence.red_to_green),
        "still_green": evidence.still_green,
        "still_red": list(evidence.still_red),
        "runs": evidence.runs,
        "runs_wanted": evidence.runs_wanted,
        "selection": evidence.selection.reason,
        "complete": evidence.complete,
        "canary": evidence.canary,
        "lines_changed": evidence.lines_changed,
        "isolation": evidence.isolation,
        "seconds": round(evidence.seconds, 3),
        "notes": list(evidence.notes),
        **vote_fields(evidence.vote),
    }


def vote_fields(vote: Vote) -> dict[str, Any]:
    """How the fix behaves where no test looks, held against the other plausible patches."""
    return {
        "confidence": vote.confidence.value,
        "confidence_reason": vote.reason,
        "rival": vote.rival and asdict(vote.rival),
        "changes": [asdict(change) for change in vote.changes],
    }


def flag_fields(fix: VerifiedFix) -> list[dict[str, str]]:
    """What to look at twice: its sort, and the words that people get."""
    return [{"name": flag.name, "text": flag.text} for flag in fix.flags]


def summary_fields(
    results: Sequence[HealResult],
    *,
    tests: int,
    applied: Sequence[str],
    undo: str,
    patch: str,
    top: str,
    elapsed: float,
    status: int,
) -> dict[str, Any]:
    """The last line of a run: counts, what was written, and the exit status."""
    return {
        "tests": tests,
        "red": len(results),
        "outcomes": dict(Counter(result.outcome.value for result in results)),
        "applied": list(applied),
        "undo": undo or None,
        "patch": patch or None,
        "top": top or None,
        "seconds": round(elapsed, 3),
        "exit": status,
    }


def _other_fields(fix: VerifiedFix) -> dict[str, Any]:
    return {
        "fix": fix.fix_id,
        "title": fix.candidate.title,
        "diff": fix.diff,
        "evidence": evidence_fields(fix.evidence),
        "flags": flag_fields(fix),
        "behaves_differently": bool(fix.differs_from),
    }
