"""Is the page whole in itself, and safe whatever a patch contains?"""

from __future__ import annotations

import re
from dataclasses import replace

from tests.unit.bench.made import result

from regreen.bench.journal import fields
from regreen.bench.page import page
from regreen.bench.totals import totals


def document(*, ablation: bool = False) -> str:
    results = [
        replace(
            result("<one>", correct=True, confidence="agreed", seconds=7), patch="-a < b\n+<script>x</script>"
        ),
        result("two", correct=False, seconds=13),
        replace(result("three"), problem="stopped after <5 s>"),
    ]
    row = {"family": "calls", "tried": 3, "seconds": 1.5, "rerun": 2, "offered": 1, "correct": 1}
    return page(
        {
            "version": "1",
            "engine": "offline",
            "plan": {"seconds": 20.0},
            "totals": totals(results),
            "cases": [fields(one) for one in results],
            "ablation": [row] if ablation else [],
        }
    )


def test_nothing_is_loaded_from_elsewhere() -> None:
    text = document(ablation=True)
    assert not re.findall(r"""(?:src|href)\s*=|url\(|@import|https?://""", text)


def test_what_comes_from_cases_is_text_and_never_markup() -> None:
    text = document()
    assert text.count("<script>") == 1
    assert "&lt;one&gt;" in text
    assert "+&lt;script&gt;x&lt;/script&gt;" in text
    assert "&lt;5 s&gt;" in text


def test_the_plot_ends_at_the_share_of_offers_and_of_correct_ones() -> None:
    lines = re.findall(r'<polyline points="([^"]+)"', document())
    tops = [float(line.split()[-1].split(",")[1]) for line in lines]
    height = 300 - 36 - 10
    assert tops == [round(10 + height * (1 - 2 / 3), 1), round(10 + height * (1 - 1 / 3), 1)]


def test_self_reported_and_held_out_figures_stand_side_by_side() -> None:
    text = document()
    assert re.search(r"own word</td><td>2 of 3</td>", text)
    assert re.search(r"held-out tests pass, too</td><td>1 of 3</td>", text)


def test_families_are_shown_when_they_were_left_out() -> None:
    assert "left out in turn" in document(ablation=True)
    assert "left out in turn" not in document()
