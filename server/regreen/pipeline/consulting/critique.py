"""Does a patch that passes do what was meant? A model looks for what the tests missed, and must show it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from regreen import edits
from regreen.llm.case import Case
from regreen.llm.desk import Desk, Stop
from regreen.pipeline.consulting.toolbox import ProjectToolbox
from regreen.pipeline.ground import Ground
from regreen.pipeline.search import Found
from regreen.source import docstring, parse
from regreen.values import Attempt, Role

SURE = 0.6
"""A rejection with no more confidence than this is none."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """What a patch gets wrong, seen. `text`: for people and for the next round."""

    text: str


async def doubt(
    found: Found, attempt: Attempt, desk: Desk, case: Case, ground: Ground, toolbox: ProjectToolbox
) -> Doubt | Stop | None:
    """Let a model criticise a plausible patch; its counter-example is run, and counts only if it shows what it says.

    Args:
        found: the patch.
        attempt: its account.
        desk: asks.
        case: the evidence.
        ground: what it was judged against.
        toolbox: runs the counter-example.
    """
    evidence = await case.fitted(Role.CRITIC, beside=len(attempt.diff))
    values = {
        "evidence": evidence.text,
        "diff": attempt.diff,
        "passing": found.mended,
        "docstring": _docstring(found, ground),
    }
    said = await desk.ask_for(Role.CRITIC, "after the tests passed", values, evidence.ranges)
    if isinstance(said, Stop):
        return said
    answer = said.value or {}
    example = answer.get("counter_example")
    if answer.get("verdict") != "reject" or answer["confidence"] <= SURE or not example:
        return None
    texts = ground.field.texts
    overlay = {e.path: edits.apply_to_bytes(texts[e.path], e) for e in found.candidate.edits}
    ran = await toolbox.run_snippet(_telling(example["code"]), overlay)
    expected = example["expected"].strip()
    if ran.ended:
        given = (ran.text.splitlines() or [""])[-1].strip()
    elif ran.exception:
        given = ran.exception.rpartition(".")[2]
    else:
        return None  # it could not be run: nothing was shown
    if given in (expected, expected.partition("(")[0].rpartition(".")[2]):
        return None  # the patch does what the critic asks for
    call = " ".join(example["code"].split())
    return Doubt(f"{answer['issue']} `{call[:200]}` gives {given[:200]}, not {expected[:200]}.")


def _telling(code: str) -> str:
    """The code with its last line, if that is an expression, printed as Python writes it."""
    parsed = parse(Path("example.py"), code.encode())
    last = parsed.top_level[-1] if parsed.top_level else None
    if last is None or last.kind != "expression_statement" or last.text.startswith("print("):
        return code
    return f"{parsed.text[: last.start]}print(repr({last.text}))\n"


def _docstring(found: Found, ground: Ground) -> str:
    """What the function that is patched says of itself."""
    suspect = found.candidate.suspect
    source = ground.field.sources.get(suspect.path)
    function = source.function_at(suspect.line) if source is not None else None
    return docstring(function) if function is not None else ""
