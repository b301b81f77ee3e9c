"""The answers that come with the examples heal them, with rounds, consent and cost as if a model gave them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.cli.commands import PLAIN, REPOSITORY, Regreen, events, tree

ANSWERS = REPOSITORY / "examples" / "answers" / "cart.yaml"
ASKED = ("--set", "heal.maxCandidates=0", "--set", "llm.mode=allowed", "--set", "llm.strategies=1")


def cart(folder: Path) -> Path:
    root = folder / "cart"
    shutil.copytree(REPOSITORY / "examples" / "cart", root, ignore=shutil.ignore_patterns(".venv", "*cache*"))
    return root


def test_the_example_is_healed_by_the_answers_that_come_with_it(regreen: Regreen, tmp_path: Path) -> None:
    root = cart(tmp_path)
    before = tree(root)
    model = ("--set", f"llm.model=scripted:{ANSWERS}", "--interpreter", PLAIN)
    done = regreen("heal", root, "--json", "--consent", *ASKED, *model)
    results = events(done, "result")
    assert [result["outcome"] for result in results] == ["VERIFIED"] * 3, done.stdout + done.stderr
    assert all(result["model"]["usd"] > 0 for result in results)
    assert "(an estimate)" in results[0]["evidence"]["text"]
    assert tree(root) == before

    by_test = {result["nodeid"].rpartition("::")[2]: result["heal"] for result in results}
    told = json.loads(
        regreen("runs", "show", by_test["test_average_price_of_an_empty_cart"], "--json").stdout
    )
    assert [one["number"] for one in told["rounds"]] == [0, 1, 2], "the first patch was wrong, and told so"
    shown = regreen("runs", "show", by_test["test_average_price_of_an_empty_cart"], "--prompts").stdout
    assert "STILL_FAILING: still red: 0 is None is false" in shown


def test_without_consent_and_somebody_to_ask_nothing_is_asked(regreen: Regreen, tmp_path: Path) -> None:
    root = cart(tmp_path)
    model = ("--set", f"llm.model=scripted:{ANSWERS}", "--interpreter", PLAIN)
    done = regreen("heal", root, "--json", *ASKED, *model)
    results = events(done, "result")
    assert {result["outcome"] for result in results} == {"NO_FIX"}
    assert "nobody is here to allow it" in done.stderr
    assert regreen("cost", "--json").stdout.count('"calls": 0') >= 1
