"""Do the commands show what happened, what left and what it cost, help where nothing did, and delete what they should?"""

from __future__ import annotations

import json
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.cli.commands import BRIEF, PLAIN, Regreen
from tests.unit.history import asked
from tests.unit.history.asked import LOCAL, Watch
from tests.unit.terminal import made

from regreen.history import Store
from regreen.history.database import utc
from regreen.llm.consent import ConsentStore
from regreen.values import Lesson, ModelProblem, Outcome, Project, Role, Spent

HEAL, OTHER, UNENDED = "3fa4" + "0" * 28, "3fb5" + "1" * 28, "77aa" + "2" * 28
GOLDEN = Path(__file__).parents[1] / "golden" / "cli"
SHOP = Project(Path("/home/ada/shop"), Path("/home/ada/shop"))


@pytest.fixture
def store(regreen: Regreen) -> Store:
    return Store(regreen.home / "state" / "history.sqlite3", now=Watch())


@pytest.fixture
def told(regreen: Regreen) -> Store:
    """A store in which a model healed one test, another was not healed, and a third is still at work."""
    watch = Watch()
    store = Store(regreen.home / "state" / "history.sqlite3", now=watch)
    fix = made.fix(SHOP.root / "cart.py", "-=", "+=")
    fix = replace(fix, candidate=replace(fix.candidate, template="model.minimal", origin="model"))
    store.record_call(SHOP, asked.call(HEAL, role=Role.DEBUGGER, text="What is wrong?\x1b[2J\nLook."))
    store.record_round(SHOP, asked.round_(HEAL, 0, attempts=(), hint=""))
    watch.go(minutes=1)
    store.record_call(SHOP, asked.call(HEAL, usd=None, problem=ModelProblem.TIMEOUT, tries=2))
    store.record_call(SHOP, asked.call(HEAL, info=LOCAL, usd=0.0))
    store.record_round(SHOP, asked.round_(HEAL, 1, diagnosis=None, stop="verified"))
    store.keep_lessons(SHOP, HEAL, [Lesson("Totals add.", "AssertionError", "total")])
    store.record(SHOP, replace(made.result(SHOP.root, fix), heal=HEAL))
    store.mark(SHOP, fix, undone=False)
    store.keep_lessons(SHOP, OTHER, [Lesson("Names vary.", "KeyError", "find")])
    watch.go(minutes=1)
    other = Project(Path("/home/ada/bank"), Path("/home/ada/bank"))
    unfound = made.result(other.root, outcome=Outcome.NO_FIX, nodeid="test_b.py::test_b")
    store.record(other, replace(unfound, heal=OTHER, seconds=61))
    watch.go(minutes=1)
    store.record_call(other, asked.call(UNENDED))
    return store


def said(regreen: Regreen, *arguments: str | Path) -> str:
    run = regreen(*arguments)
    assert (run.returncode, run.stderr) == (0, ""), run
    return run.stdout


def as_json(regreen: Regreen, *arguments: str | Path) -> Any:
    document = json.loads(said(regreen, *arguments, "--json"))
    assert document.pop("v") == 1
    return document


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["runs", "list"], "There are no runs yet. `regreen heal`"),
        (["runs", "list", "."], "yet. Without a path"),
        (["cost"], "No model was asked in the last 30 days.\n\nToday: $0.00 spent; $2.00 of $2.00 left"),
        (["egress"], "Nothing left this machine."),
        (["egress", "--since", "2026-03-14"], "Nothing left this machine since 2026-03-14."),
        (["egress", "--local"], "No model was asked."),
        (["stats"], "Nothing was healed yet."),
        (["lessons", "list"], "There are no lessons."),
        (["lessons", "clear"], "0 lessons forgotten"),
        (["consent", "list"], "No folder's code may go to a model."),
    ],
)
def test_each_command_helps_where_nothing_happened_and_makes_no_store(
    regreen: Regreen, arguments: list[str], words: str
) -> None:
    assert words in said(regreen, *arguments)
    assert not (regreen.home / "state" / "history.sqlite3").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["runs"], "required"),
        (["runs", "list", "--limit", "0"], "invalid whole number from 1"),
        (["runs", "show", "4711"], "There is no run whose id begins with '4711'"),
        (["runs", "show", "3f"], "is too short for a run's id"),
        (["runs", "export", "3fa4", "no/such/folder/x.json"], "cannot be written"),
        (["cost", "--set", "budget.perDayUsd=-1"], "must be at least 0"),
        (["egress", "--since", "yesterday"], "'yesterday' is no date"),
        (["lessons", "delete", "x"], "invalid whole number"),
        (["consent", "revoke"], "required"),
    ],
)
def test_misuse_is_explained(regreen: Regreen, told: Store, arguments: list[str], words: str) -> None:
    run = regreen(*arguments)
    assert (run.returncode, run.stdout) == (2, "")
    assert words in run.stderr
    assert "Traceback" not in run.stderr


def test_an_id_of_several_runs_names_them(regreen: Regreen, store: Store) -> None:
    for last in "ab":
        store.record(SHOP, replace(made.result(SHOP.root, outcome=Outcome.NO_FIX), heal="3fa4" + last))
    run = regreen("runs", "show", "3fa4")
    assert run.returncode == 2
    assert "begin with '3fa4': 3fa4a, 3fa4b" in run.stderr
    assert "run 3fa4a\n" in said(regreen, "runs", "show", "3fa4a")


def test_runs_are_listed_newest_first(regreen: Regreen, told: Store) -> None:
    head, *rows = said(regreen, "runs", "list").splitlines()
    assert head.split() == ["id", "at", "(UTC)", "outcome", "time", "rounds", "models", "(estimate)", "test"]
    assert [row.split()[0] for row in rows] == [UNENDED[:8], OTHER[:8], HEAL[:8]]
    assert [row.split()[3] for row in rows] == ["unfinished", "NO_FIX", "VERIFIED"]
    assert "2 verified  $0.0100 + 1 unknown  tests/test_cart.py::test_total  in /home/ada/shop" in rows[2]
    assert len(said(regreen, "runs", "list", "--limit", "1").splitlines()) == 2
    assert HEAL[:8] in said(regreen, "runs", "list", "/home/ada/shop/src")
    assert [one["id"] for one in as_json(regreen, "runs", "list", "/home/ada/shop")["runs"]] == [HEAL]
    assert len(as_json(regreen, "runs", "list", "/home/ada")["runs"]) == 3


def test_a_run_is_shown_with_all_that_was_tried(regreen: Regreen, told: Store) -> None:
    assert said(regreen, "runs", "show", HEAL[:6]) == (GOLDEN / "run.txt").read_text(encoding="utf-8")


def test_what_was_said_is_shown_when_it_is_asked_for(regreen: Regreen, told: Store) -> None:
    text = said(regreen, "runs", "show", HEAL, "--prompts")
    assert "    What is wrong?␛[2J\n    Look.\n" in text
    assert "\x1b" not in text
    assert "  timeout: 429 slow down" in text
    with closing(sqlite3.connect(regreen.home / "state" / "history.sqlite3")) as db, db:
        db.execute("DELETE FROM texts")
    text = said(regreen, "runs", "show", HEAL, "--prompts")
    assert "is not kept any more" in text
    assert "What is wrong?" not in text


def test_a_run_that_has_not_ended_and_one_without_a_model_can_be_shown(regreen: Regreen, told: Store) -> None:
    text = said(regreen, "runs", "show", UNENDED)
    assert "ended    unfinished" in text
    assert "fork" not in text
    text = said(regreen, "runs", "show", OTHER)
    assert "tried    12 STILL_FAILING" in text
    assert "fork" not in text


def test_an_export_holds_all_of_it_for_its_owner_only(regreen: Regreen, told: Store) -> None:
    shown = json.loads(said(regreen, "runs", "export", HEAL))
    run = regreen("runs", "export", HEAL[:4], "run.json")
    assert (run.returncode, run.stdout) == (0, "")
    file = regreen.cwd / "run.json"
    assert json.loads(file.read_text()) == shown
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert (shown["v"], shown["run"]["id"], shown["run"]["outcome"]) == (1, HEAL, "VERIFIED")
    assert [one["number"] for one in shown["rounds"]] == [0, 1]
    assert [one["verdict"] for one in shown["rounds"][1]["attempts"]] == ["STILL_FAILING", "elided"]
    assert shown["calls"][0]["said"]["prompt"][1]["text"] == "What is wrong?\x1b[2J\nLook."
    assert shown["fixes"][0]["mark"] == "accepted"
    brief = as_json(regreen, "runs", "show", HEAL)
    assert [one["said"] for one in brief["calls"]] == [None, None, None]


def test_costs_are_estimates_by_day_role_and_model(regreen: Regreen) -> None:
    now = utc()
    watch = Watch()
    store = Store(regreen.home / "state" / "history.sqlite3", now=watch)
    for days, call in (
        (0, asked.call()),
        (0, asked.call(usd=1.5, role=Role.DEBUGGER)),
        (0, asked.call(usd=None)),
        (2, asked.call(usd=0.2)),
        (9, asked.call(usd=7.0)),
    ):
        watch.now = now - timedelta(days=days)
        store.record_call(SHOP, call)
    watch.now = now
    key, _ = store.reserve("a", Spent(1, 10, 0.25), 600, lambda *_sums: "")
    assert key
    store.lose(key, recorded=True)
    killed = subprocess.Popen([sys.executable, "-c", ""])
    killed.wait()
    with closing(sqlite3.connect(regreen.home / "state" / "history.sqlite3")) as db, db:
        db.execute(
            "INSERT INTO reserved VALUES (99, 'b', ?, ?, '9999', 0, 1, 10, 1.0)",
            (now.isoformat(), killed.pid),
        )
    text = said(regreen, "cost", "--days", "3", "--set", "budget.perDayUsd=5")
    assert "Estimates from list prices" in text
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert f"{now:%Y-%m-%d} 3 450 $1.51 + 1 unknown" in lines
    assert "debugger 1 150 $1.50" in lines
    assert "repairer 3 450 $0.2100 + 1 unknown" in lines
    assert "anthropic/some 4 600 $1.71 + 1 unknown" in lines
    assert "Of 1 call no cost is known" in text
    assert "Today: $1.51 spent, $0.2500 in flight or of unknown cost; $3.24 of $5.00 left" in text
    document = as_json(regreen, "cost", "--days", "3")
    assert round(document["today"]["left_usd"], 6) == 0.24
    assert document["costs_are"] == "estimates"
    assert round(sum(one["spent"]["usd"] for one in document["costs"]), 6) == 1.71


def test_a_repository_may_only_lower_the_days_budget(regreen: Regreen) -> None:
    page = regreen.cwd / "pyproject.toml"
    page.write_text("[tool.regreen]\nbudget.perDayUsd = 0.5\n")
    assert "$0.5000 of $0.5000 left" in said(regreen, "cost")
    page.write_text("[tool.regreen]\nbudget.perDayUsd = 50\n")
    run = regreen("cost")
    assert "$2.00 of $2.00 left" in run.stdout
    assert "can only be restricted" in run.stderr


def test_egress_says_what_left_when_and_to_whom(regreen: Regreen, told: Store) -> None:
    assert said(regreen, "egress") == (GOLDEN / "egress.txt").read_text(encoding="utf-8")
    assert len(as_json(regreen, "egress")["calls"]) == 3
    assert len(as_json(regreen, "egress", "--local")["calls"]) == 4
    assert "this machine  ollama_chat/some" in said(regreen, "egress", "--local")
    (last,) = as_json(regreen, "egress", "--since", "2026-03-14T12:02")["calls"]
    assert (last["heal"], last["masked"], len(last["reply_digest"])) == (UNENDED, {"key": 2}, 64)
    assert as_json(regreen, "egress", "--since", "2026-03-14T13:02:00+01:00")["calls"] == [last]
    assert as_json(regreen, "egress", "--since", "2026-03-15")["calls"] == []
    told.record_call(SHOP, asked.call(info=LOCAL, problem=ModelProblem.REFUSED))
    assert len(as_json(regreen, "egress", "--local")["calls"]) == 4


def test_stats_count_offers_and_what_the_user_made_of_them(regreen: Regreen, told: Store) -> None:
    text = said(regreen, "stats")
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "2 heals: 1 NO_FIX, 1 VERIFIED" in lines
    assert "median 31 s, of the verified ones 1.2 s" in lines
    assert "minimal model 1 1 0" in lines
    assert "guard 1 elided" in lines
    assert "debugger 1 150 $0.0100 1.5 s 0 0" in lines
    assert "repairer 3 450 $0.0100 + 1 unknown 1.5 s 1 0" in lines
    bank = as_json(regreen, "stats", "/home/ada/bank")["stats"]
    assert (bank["outcomes"], bank["taken"], bank["strategies"]) == ({"NO_FIX": 1}, [], [])
    assert as_json(regreen, "stats", "/nowhere")["stats"] is None


def test_families_of_templates_are_counted_together_and_undos_apart(regreen: Regreen, store: Store) -> None:
    for number, template in enumerate(("operator.augmented", "operator.swapped", "calls.drop")):
        fix = made.fix(SHOP.root / "cart.py", "-=", "+=")
        fix = replace(fix, fix_id=str(number), candidate=replace(fix.candidate, template=template))
        store.record(SHOP, made.result(SHOP.root, fix))
        store.mark(SHOP, fix, undone=False)
        store.mark(SHOP, fix, undone=number == 1)
    taken = as_json(regreen, "stats")["stats"]["taken"]
    assert [(one["name"], one["offers"], one["accepted"], one["undone"]) for one in taken] == [
        ("operator", 2, 1, 1),
        ("calls", 1, 1, 0),
    ]


def test_lessons_are_listed_deleted_and_cleared(regreen: Regreen, told: Store) -> None:
    text = said(regreen, "lessons", "list")
    assert "told   3fa40000  Totals add.  [AssertionError] in /home/ada/shop" in text
    assert "waits  3fb51111  Names vary." in text
    keys = [one["key"] for one in as_json(regreen, "lessons", "list")["lessons"]]
    said(regreen, "lessons", "delete", str(keys[1]))
    assert "Totals" not in said(regreen, "lessons", "list")
    again = regreen("lessons", "delete", str(keys[1]))
    assert (again.returncode, "There is no lesson" in again.stderr) == (1, True)
    assert said(regreen, "lessons", "clear") == "1 lesson forgotten.\n"
    assert "There are no lessons" in said(regreen, "lessons", "list")
    assert told.lessons(SHOP, "AssertionError", "total") == ()


def test_consents_are_listed_and_revoked(regreen: Regreen) -> None:
    folder = regreen.cwd / "shop"
    folder.mkdir()
    consents = ConsentStore(regreen.home / "state" / "consent.json")
    consents.allow(folder, "anthropic/some", "api.anthropic.com")
    consents.refuse(regreen.cwd)
    lines = [
        " ".join(line.split()[:1] + line.split()[2:])
        for line in said(regreen, "consent", "list").splitlines()
    ]
    assert lines[1:] == [
        f"refused any model any address {regreen.cwd}",
        f"allowed anthropic/some api.anthropic.com {folder}",
    ]
    assert "1 answer for" in said(regreen, "consent", "revoke", "shop")
    again = regreen("consent", "revoke", "shop")
    assert (again.returncode, "Nothing was answered" in again.stderr) == (1, True)
    assert [one.answer for one in consents.given()] == ["refused"]


@pytest.mark.parametrize("command", [["runs", "list"], ["cost"], ["egress"], ["stats"], ["lessons", "list"]])
def test_a_store_that_cannot_be_read_is_explained(regreen: Regreen, command: list[str]) -> None:
    file = regreen.home / "state" / "history.sqlite3"
    file.parent.mkdir()
    file.write_bytes(b"this is no database" * 100)
    run = regreen(*command)
    assert (run.returncode, run.stdout) == (2, "")
    assert "history.sqlite3 is damaged" in run.stderr
    assert "Move it away" in run.stderr
    file.unlink()
    with closing(sqlite3.connect(file)) as db:
        db.execute("PRAGMA user_version = 99")
    run = regreen(*command)
    assert run.returncode == 2
    assert "was written by a newer Regreen" in run.stderr


def test_the_command_line_opens_no_store_before_it_is_asked_to() -> None:
    program = "import sys; import regreen.cli; print('sqlite3' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


def test_what_heal_did_is_found_again(regreen: Regreen) -> None:
    (regreen.cwd / "adding.py").write_text("def add(first, second):\n    return first - second\n")
    (regreen.cwd / "test_adding.py").write_text(
        "from adding import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n"
    )
    (regreen.cwd / "pyproject.toml").write_text(BRIEF + "\n[tool.pytest.ini_options]\n")
    heal = regreen("heal", "--interpreter", PLAIN, "--apply")
    assert heal.returncode == 0, heal.stderr
    (run,) = as_json(regreen, "runs", "list", ".")["runs"]
    assert (run["nodeid"], run["outcome"], run["spent"]["calls"]) == (
        "test_adding.py::test_add",
        "VERIFIED",
        0,
    )
    text = said(regreen, "runs", "show", run["id"][:8])
    assert "+    return first + second" in text
    assert "accepted" in text
    (taken,) = as_json(regreen, "stats")["stats"]["taken"]
    assert (taken["origin"], taken["accepted"], taken["undone"]) == ("template", 1, 0)
