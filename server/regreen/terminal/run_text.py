"""How does one heal look on a terminal: its rounds, what was tried, and what was said?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import Group, RenderableType
from rich.text import Text

from regreen.history.shown import Asked, Offered, Said, WholeRun
from regreen.terminal.archive import SHORT, calls, dollars, line, when
from regreen.terminal.diffs import coloured, visible
from regreen.terminal.evidence import plural, seconds
from regreen.terminal.tables import columns
from regreen.values import Attempt, Diagnosis, Round

PASSED = frozenset({"PLAUSIBLE", "VERIFIED"})


def run_text(whole: WholeRun, *, prompts: bool) -> Group:
    """All of it; with `prompts` also every message."""
    parts: list[RenderableType] = [*_head(whole)]
    for one in whole.rounds:
        parts += ["", *_round(one)]
    for fix in whole.fixes:
        parts += ["", *_fix(fix)]
    if whole.calls:
        parts += ["", Text("calls", style="bold"), _calls(whole.calls)]
    if prompts:
        for call in whole.calls:
            parts += ["", *_said(call, whole.said.get(call.call))]
    elif whole.said:
        parts += [f"  all that was said: regreen runs show {whole.run.id[:SHORT]} --prompts"]
    if whole.rounds:
        last = whole.rounds[-1].number
        parts += ["", f'go on: regreen runs fork {whole.run.id[:SHORT]} --round {last} --hint "…"']
    return Group(*parts)


def _head(whole: WholeRun) -> Iterator[RenderableType]:
    run = whole.run
    yield Text.assemble(("run ", "bold"), line(run.id))
    yield Text(f"  test     {line(run.nodeid) or 'unknown, the run has not ended'}")
    yield Text(f"  project  {line(run.project)}")
    ended = f"{run.outcome} in {seconds(run.seconds)}" if run.outcome else "unfinished"
    yield Text(f"  ended    {ended}, {when(run.at)} UTC")
    if whole.tried:
        yield Text(f"  tried    {_counts(whole.tried)}")
    if run.spent.calls:
        yield Text(f"  models   {calls(run.spent)}")
    if run.stop:
        yield Text(f"  stopped  {line(run.stop)}")


def _round(one: Round) -> Iterator[RenderableType]:
    title = "diagnosis" if one.number == 0 else f"round {one.number}"
    by = f", by {line(one.model)}" if one.model else ""
    yield Text.assemble((title, "bold"), by)
    if one.hint:
        yield Text(f"  hint: {line(one.hint)}")
    if one.diagnosis is not None:
        yield from _diagnosis(one.diagnosis)
    for attempt in one.attempts:
        yield from _attempt(attempt)
    if one.stop:
        yield Text(f"  stopped: {line(one.stop)}")


def _diagnosis(one: Diagnosis) -> Iterator[RenderableType]:
    shown = f", {line(one.variable)} = {line(one.value)}" if one.variable else ""
    yield Text(
        f"  {line(one.category)}, {line(one.path)}:{one.line + 1}{shown} (confidence {one.confidence:.1f}{_degraded(one.degraded)})"
    )
    yield Text(f"  cause: {line(one.cause)}")
    yield Text(f"  plan: {line(one.plan)}")


def _attempt(one: Attempt) -> Iterator[RenderableType]:
    mark = ("✔ ", "green") if one.verdict in PASSED else ("✗ ", "red")
    reason = f" – {line(one.reason)}" if one.reason else ""
    yield Text.assemble(
        "  ",
        mark,
        (line(one.strategy), "bold"),
        f"  {line(one.verdict)}{reason}{_degraded(one.degraded)}",
    )
    if one.diff:
        yield coloured(one.diff, indent="    ")


def _fix(one: Offered) -> Iterator[RenderableType]:
    mark = f", {one.mark}" if one.mark else ""
    yield Text.assemble(
        (f"fix {one.rank + 1}", "bold"),
        f" ({one.origin}: {line(one.template)}{mark})",
        f"  {one.still_green} still green, {plural(one.runs, 'run')}",
    )
    yield coloured(one.diff, indent="  ")


def _calls(asked: tuple[Asked, ...]) -> Text:
    head = ["  round", "role", "for", "model", "tokens", "estimate", "time", "tries", "ended"]
    return columns(
        [
            head,
            *(
                [
                    f"  {one.round}",
                    line(one.role),
                    line(one.purpose),
                    line(one.model),
                    f"{one.prompt_tokens:,} → {one.completion_tokens:,}",
                    "unknown" if one.usd is None else dollars(one.usd),
                    seconds(one.seconds),
                    str(one.tries),
                    (one.problem or "well") + _degraded(one.degraded),
                ]
                for one in asked
            ),
        ]
    )


def _said(call: Asked, said: Said | None) -> Iterator[RenderableType]:
    yield Text(
        f"call {call.call}: {line(call.role)} ({line(call.purpose)}), {line(call.prompt_version)}",
        style="bold",
    )
    if said is None:
        yield Text("  What was said is not kept any more: the run store holds the newest texts only.")
        return
    for message in said.prompt:
        yield Text(f"  {line(message.role)}:", style="bold")
        yield _quoted(message.text)
    yield Text("  reply:", style="bold")
    yield _quoted(said.reply)
    if said.detail:
        yield Text(f"  {line(call.problem)}: {line(said.detail)}")


def _quoted(text: str) -> Text:
    return Text("\n".join(f"    {visible(one)}" for one in text.split("\n")), no_wrap=True, overflow="ignore")


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {line(name)}" for name, count in counts.items())


def _degraded(degraded: bool) -> str:
    return ", degraded" if degraded else ""
