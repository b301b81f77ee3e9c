"""All that is known about a red test, as a page to read: what failed, what was tried, what it cost, and the fixes."""

from __future__ import annotations

from collections.abc import Iterator

from regreen.engine.state import Offer, ProjectState, short_name
from regreen.engine.views import describe, fix_title
from regreen.values import VERDICT_WORDS, HealResult, Spent


def explain(state: ProjectState, nodeid: str, *, docs: str = "") -> str:
    """A red test as Markdown.

    Args:
        state: its project.
        nodeid: of the test.
        docs: where the documentation lies, a URI without a slash at its end; "" names its pages only.

    Returns:
        The page; "" when nothing is known of the test.
    """
    if nodeid in state.known_reds:
        return (
            f"# {nodeid}\n\n{short_name(nodeid)} failed in the last pytest run; Regreen did not run it yet.\n"
        )
    if (outcome := state.outcomes.get(nodeid)) is None:
        return ""
    failure = outcome.failure
    lines = [f"# {nodeid}", "", describe(failure) if failure else outcome.status.value]
    if (result := state.results.get(nodeid)) is not None:
        lines += _result(result, docs)
    for offer in state.offers_for(nodeid):
        lines += _offer(offer)
    return "\n".join(lines) + "\n"


def _result(result: HealResult, docs: str) -> Iterator[str]:
    name = result.outcome.value
    page = f"troubleshooting.md#{name.lower()}"
    yield from ("", f"**{name}**: {result.reason}" if result.reason else f"**{name}**")
    yield from ("", f"[What {name} means]({docs}/{page})" if docs else f"What {name} means: docs/{page}")
    if result.cause:
        yield from ("", "## Cause", "", result.cause, "")
    yield from (f"- suspect {s.path.name}:{s.line + 1} ({s.suspiciousness:.2f})" for s in result.suspects)
    yield from ("", "## What was tried", "")
    yield from (f"- {count} {VERDICT_WORDS.get(verdict, verdict)}" for verdict, count in result.tried.items())
    yield f"- {result.seconds:.1f} s in all; {_cost(result.spent)}"


def _cost(spent: Spent | None) -> str:
    if spent is None:
        return "no language model was asked"
    unpriced = f", {spent.unpriced} of them without a known price" if spent.unpriced else ""
    return f"{spent.calls} calls of a language model, {spent.tokens} tokens, about ${spent.usd:.4f}{unpriced}"


def _offer(offer: Offer) -> Iterator[str]:
    e = offer.fix.evidence
    yield from ("", f"## {fix_title(offer)}", "", "```diff", offer.fix.diff.rstrip("\n"), "```", "")
    if offer.fix.flags:
        yield f"- **{offer.fix.warning}**"
    yield f"- {len(e.red_to_green)} red → green, {e.still_green} still green, {e.runs}/{e.runs_wanted} runs"
    yield from (f"- {line}" for line in e.vote.lines)
    yield f"- tests beside it: {e.selection.reason}"
    yield f"- canary: {e.canary}; isolation: {e.isolation}; {e.seconds:.1f} s"
    if e.still_red:
        yield f"- still red: {', '.join(map(short_name, e.still_red))}"
    yield from (f"- {note}" for note in e.notes)
    yield from ("", "Run it yourself, once the fix is applied:", "", f"    {e.command}")
