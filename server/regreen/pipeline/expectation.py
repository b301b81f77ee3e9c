"""Which change of the test would make it agree with the code, seen to do so?

Never applied by Regreen itself, and never among the fixes: it changes what is asked for.
"""

from __future__ import annotations

from dataclasses import replace

from regreen import edits
from regreen.pipeline.parts import Tools
from regreen.pipeline.screening import Field
from regreen.validation.expectation import rewritten, seen_instead
from regreen.validation.ladder import climb_selection, request_for
from regreen.values import Expectation, RunReport, TestSelection, Verdict


async def stale_expectation(field: Field, tools: Tools, *, proposed: str = "") -> Expectation | None:
    """The change of the failing assertion with which the test passes; None where there is none.

    The other tests of the file that were seen, and other cases of the test, stay as they are: an assertion that
    several of them come to says what each expects.

    Args:
        field: the red test.
        tools: the project's parts.
        proposed: an assertion that somebody proposes; tried where the value that was seen does not do.
    """
    failure = field.target.failure
    beside = TestSelection(_beside(field), "the tests of the file that changes")
    for change in (seen_instead(failure, field.sources), rewritten(failure, field.sources, proposed)):
        if change is None:
            continue
        path = change.edit.path
        overlay = {path: edits.apply_to_bytes(field.texts[path], change.edit)}
        request = replace(
            request_for(field.target, field.snapshot, overlay, "template"), stop_at_first_failure=False
        )
        step = await climb_selection(tools.oracle, field.target, beside, field.known, request)
        if step.verdict is Verdict.PLAUSIBLE and not _reddens(step.report, field.siblings):
            old = edits.decode(field.texts[path]).text
            name = edits.relative(path, field.snapshot.project.root)
            diff = edits.unified_diff(name, old, edits.apply(old, change.edit.edits))
            return replace(change, diff=diff)
    return None


def _beside(field: Field) -> tuple[str, ...]:
    """The other tests of the red test's file, with its cases that have not been run."""
    file = field.target.failure.nodeid.partition("::")[0]
    known = (nodeid for nodeid in field.known.statuses if nodeid.partition("::")[0] == file)
    return tuple(dict.fromkeys((*known, *field.siblings)))


def _reddens(report: RunReport | None, siblings: tuple[str, ...]) -> bool:
    """Whether a case that was not run before is red now: then nobody knows that it was not green."""
    ran = [] if report is None else [report.outcomes[name] for name in siblings if name in report.outcomes]
    return any(outcome.status.is_red for outcome in ran)
