"""Which change of the test would make it agree with the code, seen to do so?

Never applied by Regreen itself, and never among the fixes: it changes what is asked for.
"""

from __future__ import annotations

from dataclasses import replace

from regreen import edits
from regreen.pipeline.parts import Tools
from regreen.pipeline.screening import Field
from regreen.validation.expectation import rewritten, seen_instead
from regreen.validation.ladder import judge_target, request_for
from regreen.values import Expectation, Verdict


async def stale_expectation(field: Field, tools: Tools, *, proposed: str = "") -> Expectation | None:
    """The change of the failing assertion with which the test passes; None where there is none.

    Args:
        field: the red test.
        tools: the project's parts.
        proposed: an assertion that somebody proposes; tried where the value that was seen does not do.
    """
    failure = field.target.failure
    for change in (seen_instead(failure, field.sources), rewritten(failure, field.sources, proposed)):
        if change is None:
            continue
        path = change.edit.path
        overlay = {path: edits.apply_to_bytes(field.texts[path], change.edit)}
        request = request_for(field.target, field.snapshot, overlay, "template")
        report = await tools.oracle.run(request)
        if judge_target(report, field.target).verdict is Verdict.PLAUSIBLE:
            old = edits.decode(field.texts[path]).text
            name = edits.relative(path, field.snapshot.project.root)
            diff = edits.unified_diff(name, old, edits.apply(old, change.edit.edits))
            return replace(change, diff=diff)
    return None
