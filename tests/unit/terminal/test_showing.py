"""Does the terminal show what happened, and nothing that a project could use to confuse it?"""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from tests.unit.terminal import made

from regreen.terminal import blocks, diffs
from regreen.terminal import evidence as ev
from regreen.terminal.progress import LiveReporter, PlainReporter, for_people
from regreen.values import Outcome, Progress


def shown(block: object, **options: object) -> str:
    console = Console(file=io.StringIO(), soft_wrap=True, highlight=False, markup=False, **options)  # type: ignore[arg-type]
    console.print(block)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_the_evidence_is_one_sentence() -> None:
    assert ev.sentence(made.evidence()) == (
        "1 red → green, 37 still green, 3/3 runs, tests untouched, 1 line, 0.8 s"
    )


@pytest.mark.parametrize(
    ("weakness", "words"),
    [
        ({"still_red": ("a", "b")}, "2 still red"),
        ({"isolation": "none"}, "runs not confined"),
        ({"isolation": "partial"}, "runs partly isolated"),
        ({"runs": 1, "runs_wanted": 1, "notes": ("runs reduced to 1: the test takes 7.2 s",)}, "takes 7.2 s"),
    ],
)
def test_what_weakens_the_proof_is_in_the_sentence(weakness: dict[str, object], words: str) -> None:
    assert words not in ev.sentence(made.evidence())
    assert words in ev.sentence(made.evidence(**weakness))


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.84, "0.8 s"), (12.3, "12 s"), (119.4, "119 s"), (200, "3 min 20 s"), (3600, "60 min 0 s")],
)
def test_durations_are_short(value: float, text: str) -> None:
    assert ev.seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 B"), (812, "812 B"), (3_400, "3.4 kB"), (250_000_000, "250 MB"), (2e9, "2.0 GB")],
)
def test_sizes_are_short(value: float, text: str) -> None:
    assert ev.size(int(value)) == text


def test_a_verified_fix_is_shown_with_cause_diff_evidence_and_proof(tmp_path: Path) -> None:
    fix = made.fix(tmp_path / "cart.py", "-=", "+=")
    assert shown(blocks.result_block(made.result(tmp_path, fix))) == (
        "✗ tests/test_cart.py::test_total\n"
        "  expected 3, got -3 — cart.py:4 in total\n"
        "  VERIFIED  `-=` → `+=`\n"
        "    --- a/cart.py\n"
        "    +++ b/cart.py\n"
        "    @@ -1,5 +1,5 @@\n"
        "     def total(prices):\n"
        "         result = 0\n"
        "         for price in prices:\n"
        "    -        result -= price\n"
        "    +        result += price\n"
        "         return result\n"
        "  ✔ 1 red → green, 37 still green, 3/3 runs, tests untouched, 1 line, 0.8 s\n"
        "  • split: 1 of 3 patches that pass behave differently. A: total([]) → 0, B: 6 (A is this one, B is `result = 0` → `result = 6`)\n"
        "  • no test notices total([1]): -1 → 1\n"
        "  reproduce: python -m pytest tests/test_cart.py::test_total\n\n"
    )


def test_a_heal_without_a_fix_says_why(tmp_path: Path) -> None:
    text = shown(blocks.result_block(made.result(tmp_path, outcome=Outcome.NO_FIX)))
    assert "NO_FIX  12 candidates were tried" in text
    assert "reproduce" not in text


def test_other_offers_are_shown_and_said_to_differ(tmp_path: Path) -> None:
    best = made.fix(tmp_path / "cart.py", "-=", "+=")
    other = made.fix(tmp_path / "cart.py", "result = 0", "result = 6")
    other = type(other)(
        **{name: getattr(other, name) for name in other.__slots__ if name != "differs_from"},
        differs_from=(best.fix_id,),
    )
    text = shown(blocks.result_block(made.result(tmp_path, best, other)))
    assert "or `result = 0` → `result = 6`, which behaves differently:" in text
    assert "+    result = 6" in text


def test_what_to_look_at_twice_stands_below_the_evidence(tmp_path: Path) -> None:
    best = made.fix(tmp_path / "cart.py", "-=", "+=")
    other = replace(
        made.fix(tmp_path / "cart.py", "result = 0", "result = 6"), flags=(made.REMOVED, made.COPIED)
    )
    text = shown(blocks.result_block(made.result(tmp_path, best, other)))
    assert text.count("Look twice") == 1
    assert "-1 → 1\n  ⚠ Look twice: removes an assert; returns a literal of the test: 6.\n" in text


def test_node_ids_with_brackets_are_no_markup(tmp_path: Path) -> None:
    result = made.result(tmp_path, outcome=Outcome.NO_FIX, nodeid="test_a.py::test_b[bold red]")
    assert "test_b[bold red]" in shown(blocks.result_block(result))


def test_added_and_removed_lines_have_colours() -> None:
    text = shown(
        diffs.coloured("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n"),
        force_terminal=True,
        color_system="standard",
    )
    assert "\x1b[31m-old" in text
    assert "\x1b[32m+new" in text


def test_control_characters_of_the_project_do_not_reach_the_terminal() -> None:
    text = shown(diffs.coloured("+x = '\x1b[2J\x07\u202e'\r\n"))
    assert text == "+x = '␛[2J␇\\u202e'\n"


def test_a_fix_that_was_shown_is_only_referred_to(tmp_path: Path) -> None:
    fix = made.fix(tmp_path / "cart.py", "-=", "+=")
    out = io.StringIO()
    reporter = PlainReporter(Console(file=out, soft_wrap=True), Console(file=io.StringIO()))
    reporter.result(made.result(tmp_path, fix))
    reporter.result(made.result(tmp_path, fix, nodeid="tests/test_cart.py::test_other"))
    assert out.getvalue().count("+        result += price") == 1
    assert "the same fix as for tests/test_cart.py::test_total" in out.getvalue()


def test_plain_progress_is_a_line_for_each_stage_on_stderr(tmp_path: Path) -> None:
    out, err = io.StringIO(), io.StringIO()
    reporter = for_people(Console(file=out), Console(file=err, soft_wrap=True))
    with reporter.showing():
        reporter.progress(Progress("baseline", "Running the test suite"))
        for number in range(5):
            reporter.progress(Progress("search", f"candidate {number}", "test_a.py::test_b", number / 5))
        reporter.failure(made.failure(tmp_path))
    assert err.getvalue() == (
        "Running the test suite\n"
        "Trying patches, candidate 0 (0%): test_a.py::test_b\n"
        "red: tests/test_cart.py::test_total\n"
    )
    assert out.getvalue() == ""


def test_the_live_line_leaves_only_results_behind(tmp_path: Path) -> None:
    out = Console(file=io.StringIO(), force_terminal=True, width=80, soft_wrap=True)
    reporter = LiveReporter(out)
    with reporter.showing():
        reporter.progress(Progress("search", "", "test_a.py::test_b"))
        reporter.candidate(made.failure(tmp_path), made.judged(tmp_path / "cart.py"))
        reporter.result(made.result(tmp_path, outcome=Outcome.NO_FIX))
    written = out.file.getvalue()  # type: ignore[attr-defined]
    assert "Trying patches" in written
    after_result = written[written.index("NO_FIX") :]
    assert after_result.rstrip().endswith("\x1b[2K")  # the line is erased at the end


def test_the_summary_counts_outcomes(tmp_path: Path) -> None:
    results = [
        made.result(tmp_path, made.fix(tmp_path / "cart.py", "-=", "+=")),
        made.result(tmp_path, outcome=Outcome.NO_FIX),
        made.result(tmp_path, outcome=Outcome.NO_FIX),
    ]
    assert shown(blocks.summary_line(results, 40, 4.06)) == "3 red tests: 1 VERIFIED, 2 NO_FIX, in 4.1 s\n"
    assert shown(blocks.summary_line([], 40, 1)) == "Nothing is red: 40 tests in 1.0 s.\n"
