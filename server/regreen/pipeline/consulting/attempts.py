"""What becomes of a model's proposals? The same as of a template's candidates, and an account for the next round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from regreen import edits
from regreen.llm.refusal import Refusal
from regreen.llm.repairer import Proposal
from regreen.pipeline.consulting.stops import patch_digest, signature
from regreen.pipeline.ground import Ground
from regreen.pipeline.parts import Tools
from regreen.pipeline.reasons import cause_of
from regreen.pipeline.search import Found, judge
from regreen.ports import Reporter
from regreen.validation.ladder import request_for
from regreen.values import Attempt, Candidate, CandidateVerdict, Diagnosis, Suspect, Verdict

TITLE = 72
"""How many characters the title of a model's patch has at most."""

_PLACES = 10.0  # a line that far from a suspect is another place


@dataclass(frozen=True, slots=True)
class Judged:
    """One proposal, judged. `found`: when it is plausible."""

    attempt: Attempt
    found: Found | None = None


async def judged(
    proposal: Proposal, diagnosis: Diagnosis, ground: Ground, tools: Tools, reporter: Reporter, order: int
) -> Judged:
    """Run a proposal through the cheap rungs of the ladder.

    Args:
        proposal: what the model answered.
        diagnosis: what it was asked to mend.
        ground: what judges it.
        tools: the project's parts.
        reporter: hears of the verdict.
        order: how many were judged before.
    """
    if isinstance(proposal.patch, Refusal):
        refusal = proposal.patch
        return Judged(Attempt(proposal.strategy, "", refusal.name, refusal.text, degraded=proposal.degraded))
    candidate = _candidate(proposal, diagnosis, ground)
    started = tools.clock.monotonic()
    step, found = await judge(ground.field, candidate, tools, order)
    seconds = tools.clock.monotonic() - started
    reporter.candidate(
        ground.field.target.failure, CandidateVerdict(candidate, step.verdict, step.reason, seconds)
    )
    texts = _texts(candidate, ground)
    root = ground.field.snapshot.project.root
    attempt = Attempt(
        strategy=proposal.strategy,
        diff="".join(edits.unified_diff(edits.relative(path, root), *pair) for path, *pair in texts),
        verdict=step.verdict.value,
        reason=step.reason,
        patch_digest=patch_digest((edits.relative(path, root), new) for path, _, new in texts),
        degraded=proposal.degraded,
    )
    if step.verdict is Verdict.STILL_FAILING:
        attempt = await _explained(attempt, candidate, ground, tools)
    return Judged(attempt, found)


async def _explained(attempt: Attempt, candidate: Candidate, ground: Ground, tools: Tools) -> Attempt:
    """How the test fails with the patch, in as much detail as without: the next round is told."""
    field = ground.field
    overlay = {e.path: edits.apply_to_bytes(field.texts[e.path], e) for e in candidate.edits}
    request = request_for(field.target, field.snapshot, overlay, candidate.origin)
    report = await tools.oracle.run(replace(request, details=True))
    outcome = report.outcomes.get(field.target.failure.nodeid)
    left = outcome.failure if outcome is not None else None
    if left is None:
        return attempt
    return replace(attempt, reason=f"still red: {cause_of(left)}", signature=signature(left))


def _candidate(proposal: Proposal, diagnosis: Diagnosis, ground: Ground) -> Candidate:
    files = proposal.patch.files if not isinstance(proposal.patch, Refusal) else ()
    said = " ".join((diagnosis.plan or diagnosis.cause).split())
    title = said if len(said) <= TITLE else said[: TITLE - 1] + "…"
    return Candidate(
        edits=files,
        template=f"model.{proposal.strategy}",
        title=title or f"a {proposal.strategy} change by the model",
        score=0.5,
        suspect=_suspect(proposal, ground),
        kind="guard" if proposal.strategy == "guard" else "cause",
        origin="model",
    )


def _suspect(proposal: Proposal, ground: Ground) -> Suspect:
    """The suspect that the first edit is at, or the place of the edit itself."""
    file = proposal.patch.files[0]  # type: ignore[union-attr]  # asked for patches only
    source = ground.field.sources.get(file.path)
    line = source.lines.line_at(file.edits[0].start) if source is not None and file.edits else 0
    near = [one for one in ground.suspects if one.path == file.path and abs(one.line - line) <= _PLACES]
    best = min(near, key=lambda one: abs(one.line - line), default=None)
    return replace(best, line=line) if best is not None else Suspect(file.path, line, 0.0)


def _texts(candidate: Candidate, ground: Ground) -> list[tuple[Path, str, str]]:
    texts = []
    for file in candidate.edits:
        old = edits.decode(ground.field.texts[file.path]).text
        texts.append((file.path, old, edits.apply(old, file.edits)))
    return texts


def by_size(found: Sequence[Found], ground: Ground) -> list[Found]:
    """The plausible ones, numbered so that of two equal ones the smaller wins."""

    def size(one: Found) -> int:
        return sum(edits.changed_lines(old, new) for _, old, new in _texts(one.candidate, ground))

    return [replace(one, order=place) for place, one in enumerate(sorted(found, key=size))]
