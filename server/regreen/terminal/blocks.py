"""What is shown for one red test, and at the end of all of them?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from regreen.terminal.diffs import coloured, visible
from regreen.terminal.evidence import plural, seconds, sentence
from regreen.values import HealResult, Outcome, VerifiedFix

OUTCOME_STYLES: Mapping[Outcome, str] = {
    Outcome.VERIFIED: "bold green",
    Outcome.VERIFIED_TARGET_ONLY: "bold yellow",
    Outcome.FLAKY: "bold yellow",
    Outcome.STALE_TEST: "bold yellow",
    Outcome.ENVIRONMENT: "bold magenta",
    Outcome.NOT_REPRODUCED: "bold magenta",
    Outcome.INTERNAL_ERROR: "bold red",
}


def result_block(result: HealResult, *, shown_before: str = "") -> Group:
    """One red test: its name, cause and outcome, and the diff, evidence and proof of the best fix.

    Args:
        result: how its heal ended.
        shown_before: the node id whose block already shows this very fix; its diff is not repeated.
    """
    rows: list[RenderableType] = [
        Text.assemble(("✗ ", "bold red"), (visible(result.failure.nodeid), "bold")),
        Text(f"  {visible(result.cause)}"),
        Text.assemble(
            "  ",
            (result.outcome.value, OUTCOME_STYLES.get(result.outcome, "bold red")),
            f"  {_after_outcome(result)}",
        ),
    ]
    for number, fix in enumerate(result.fixes):
        if number == 0 and shown_before:
            rows.append(Text(f"  the same fix as for {visible(shown_before)}", style="dim"))
        else:
            rows += _fix_rows(fix, other=number > 0)
    if result.fixes:
        rows.append(Text.assemble(("  reproduce: ", "dim"), result.fixes[0].evidence.command))
    if (change := result.expectation) is not None:
        rows.append(
            Text("  with this change of the TEST, it would agree with the code; it is yours to make:")
        )
        rows.append(coloured(change.diff, indent="    "))
    rows.append(Text(""))
    return Group(*rows)


def _after_outcome(result: HealResult) -> str:
    if result.outcome is Outcome.VERIFIED and result.fixes:
        return visible(result.fixes[0].candidate.title)
    return visible(result.reason)


def _fix_rows(fix: VerifiedFix, *, other: bool) -> list[RenderableType]:
    rows: list[RenderableType] = []
    if other:
        differs = ", which behaves differently" if fix.differs_from else ""
        rows.append(Text(f"  or {visible(fix.candidate.title)}{differs}:"))
    rows.append(coloured(fix.diff, indent="    "))
    rows.append(Text.assemble(("  ✔ ", "bold green"), visible(sentence(fix.evidence))))
    rows += [Text.assemble(("  • ", "dim"), visible(line)) for line in fix.evidence.vote.lines]
    if fix.flags:
        rows.append(Text.assemble(("  ⚠ ", "bold yellow"), visible(fix.warning)))
    return rows


def summary_line(results: Sequence[HealResult], tests: int, elapsed: float) -> Text:
    """The closing line: "3 red tests: 2 VERIFIED, 1 NO_FIX, in 4.1 s".

    Args:
        results: every red test's.
        tests: how many tests ran.
        elapsed: seconds.
    """
    if not results:
        return Text(f"Nothing is red: {plural(tests, 'test')} in {seconds(elapsed)}.", style="bold green")
    counts = Counter(result.outcome for result in results)
    text = Text(f"{plural(len(results), 'red test')}: ", style="bold")
    for number, outcome in enumerate(outcome for outcome in Outcome if counts[outcome]):
        text.append(", " if number else "")
        text.append(f"{counts[outcome]} {outcome.value}", style=OUTCOME_STYLES.get(outcome, "bold red"))
    text.append(f", in {seconds(elapsed)}", style="not bold")
    return text
