"""How do results look in a browser? One file, with nothing in it that is loaded from elsewhere."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from regreen.bench.report import ROWS, percent

COLUMNS = ("case", "outcome", "plausible", "offered", "correct", "class", "tried", "seconds", "patch")
WIDTH, HEIGHT, LEFT, RIGHT, BOTTOM = 640, 300, 44, 24, 36


def page(document: Mapping[str, Any]) -> str:
    """The page of what `regreen bench --json` writes."""
    figures, plan = document["totals"], document["plan"]
    rows = [(label, figures["shares"][name]) for name, label in ROWS]
    rows += [(f"correct among the offers of class {name}", one) for name, one in figures["classes"].items()]
    about = (
        f"Regreen {document['version']}, engine {document['engine']}, {plan['seconds']:g} s to search; "
        f"{figures['cases']} cases. Self-reported (verified) and held-out (correct) figures stand side by side: "
        "only tests that the repair never saw tell whether a fix is right."
    )
    template = Template(files("regreen.bench").joinpath("page.html").read_text(encoding="utf-8"))
    return template.substitute(
        about=escape(about),
        totals="\n".join(_total(label, share) for label, share in rows),
        plot=_plot(document["cases"]),
        columns="".join(f"<th><button>{name}</button></th>" for name in COLUMNS),
        cases="\n".join(_case(case) for case in document["cases"]),
        ablation=_ablation(document["ablation"]),
    )


def _total(label: str, share: Mapping[str, Any]) -> str:
    sure = [percent(share[name]) for name in ("share", "low", "high")] if "share" in share else ["", "", ""]
    interval = f"{sure[1]} to {sure[2]}" if sure[1] else ""
    return _row([label, f"{share['hits']} of {share['of']}", sure[0], interval])


def _case(case: Mapping[str, Any]) -> str:
    patch = f"<details><summary>show</summary><pre>{escape(case['patch'])}</pre></details>"
    outcome = escape(case["outcome"]) + (f"<br>{escape(case['problem'])}" if case["problem"] else "")
    cells = [
        f"<td>{escape(case['id'])}</td>",
        f"<td>{outcome}</td>",
        *(_mark(case[name]) for name in ("plausible", "offered", "correct")),
        f"<td>{escape(case['class'])}</td>",
        f"<td class=number>{case['tried']}</td>",
        f'<td class=number data-key="{case["seconds"]:.3f}">{case["seconds"]:.1f}</td>',
        f"<td>{patch if case['patch'] else ''}</td>",
    ]
    return f"<tr>{''.join(cells)}</tr>"


def _mark(value: bool | None) -> str:
    return {True: "<td class=yes>yes</td>", False: "<td class=no>no</td>", None: "<td>unknown</td>"}[value]


def _row(cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"


def _ablation(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return ""
    heads = ("family", "adds offers", "adds correct", "healed again", "tried", "seconds")
    body = "\n".join(
        _row([str(row[name]) for name in ("family", "offered", "correct", "rerun", "tried", "seconds")])
        for row in rows
    )
    return (
        "<h2>Each family left out in turn</h2>\n<p>Healed again were only the cases in which it gave a plausible "
        f"candidate.</p>\n<table>\n<tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr>\n{body}\n</table>"
    )


def _plot(cases: Sequence[Mapping[str, Any]]) -> str:
    """The share of cases that had an offer, and a correct one, after so many seconds, as an SVG."""
    offers = [case for case in cases if case["offered"] and case["offer_seconds"] is not None]
    longest = max((case["seconds"] for case in cases), default=1.0) or 1.0
    step = 10 ** math.floor(math.log10(longest))
    last = step * math.ceil(longest / step)

    def at(seconds: float, share: float) -> str:
        x = LEFT + (WIDTH - LEFT - RIGHT) * seconds / last
        return f"{x:.1f},{10 + (HEIGHT - BOTTOM - 10) * (1 - share):.1f}"

    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="offers against time">']
    for share in (0, 0.25, 0.5, 0.75, 1):
        x, y = at(0, share).split(",")
        parts.append(f'<path d="M{x} {y}H{WIDTH - RIGHT}" stroke="currentColor" opacity=".2"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{float(y) + 4:.1f}" text-anchor="end">{share:.0%}</text>')
    for tick in range(math.ceil(last / step) + 1):
        x = at(tick * step, 0).partition(",")[0]
        parts.append(f'<text x="{x}" y="{HEIGHT - 18}" text-anchor="middle">{tick * step:g} s</text>')
    lines = (
        ("offered", "#888", offers),
        ("correct", "#2a7d3f", [case for case in offers if case["correct"]]),
    )
    for number, (name, colour, those) in enumerate(lines):
        points, share = [at(0, 0)], 0.0
        for count, seconds in enumerate(sorted(case["offer_seconds"] for case in those), 1):
            points.append(at(seconds, share))
            share = count / len(cases)
            points.append(at(seconds, share))
        points.append(at(last, share))
        parts.append(
            f'<polyline points="{" ".join(points)}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
        parts.append(f'<text x="{LEFT + 90 * number}" y="{HEIGHT - 2}" style="fill:{colour}">— {name}</text>')
    return "\n".join([*parts, "</svg>"])
