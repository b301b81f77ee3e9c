"""Which events run what?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

TEST = "tests/test_cart.py::test_total"


async def test_opening_a_folder_runs_nothing_and_shows_the_reds_of_the_users_own_last_run(
    bench: Any, last_run: Callable[..., None]
) -> None:
    last_run(bench.root, failed=[TEST, "tests/gone.py::test_gone"])
    await bench.open()
    bench.open_document("cart.py")
    await bench.rest()
    assert bench.runs == []
    (mark,) = bench.engine.queries.marks(bench.root / "tests/test_cart.py")
    assert (mark.kind, mark.nodeid, mark.line) == ("known", TEST, 3)
    (lens,) = bench.engine.queries.lenses(bench.root / "tests/test_cart.py")
    assert lens.command == "heal"


async def test_a_saved_bug_is_shown_at_the_assertion_and_its_fix_is_at_hand(
    bench: Any, bad: str, last_run: Callable[..., None]
) -> None:
    last_run(bench.root, known=[TEST])
    await bench.open()
    bench.open_document("cart.py")
    bench.save("cart.py", bad)
    await bench.until(lambda: bench.engine.queries.fixes_at(bench.root / "cart.py", 3, 3))
    assert bench.runs == [("tests/test_cart.py",)]
    marks = bench.engine.queries.marks(bench.root / "tests/test_cart.py")
    assert [(m.kind, m.line) for m in marks] == [("failure", 4)]
    assert "Expected 15, got -15" in marks[0].message
    (offer,) = bench.engine.queries.fixes_at(bench.root / "tests/test_cart.py", 3, 3)
    assert offer.after[bench.root / "cart.py"].decode() == bad.replace("-=", "+=")


async def test_a_storm_of_saves_becomes_few_runs_and_the_last_text_is_run(bench: Any, good: str) -> None:
    await bench.open()
    bench.open_document("cart.py")
    for number in range(50):
        bench.save("cart.py", good + f"# {number}\n")
        bench.clock.advance(0.04)
        await asyncio.sleep(0.001)
    await bench.rest()
    assert 1 <= len(bench.runs) <= 3
    assert bench.texts_run[-1]["cart.py"].endswith("# 49\n")


async def test_a_save_that_changes_nothing_runs_nothing(bench: Any, good: str) -> None:
    await bench.open()
    bench.open_document("cart.py")
    bench.save("cart.py", good + "\n")
    await bench.until(lambda: bench.runs)
    bench.save("cart.py", good + "\n")
    bench.engine.changed_on_disk(bench.root / "cart.py")
    await bench.rest()
    assert len(bench.runs) == 1


async def test_newer_work_cancels_older_and_what_that_owed_is_still_run(bench: Any, good: str) -> None:
    bench.write("other.py", good)
    bench.write("tests/test_other.py", "from other import total\n\ndef test_other(): pass\n")
    bench.rule("tests/test_other.py::test_other", lambda _: True, file="other.py")
    await bench.open()
    bench.hold = asyncio.Event()
    bench.save("cart.py", good + "\n")
    await bench.until(lambda: bench.waiting)
    bench.save("other.py", good + "\n")
    await bench.until(lambda: bench.cancelled)
    bench.hold.set()
    await bench.until(lambda: len(bench.runs) >= 1)
    await bench.rest(1)
    ran = {name for run in bench.runs for name in run}
    assert ran == {"tests/test_cart.py", "tests/test_other.py"}


async def test_known_coverage_selects_only_the_tests_of_the_changed_file(bench: Any, good: str) -> None:
    bench.write("other.py", good)
    bench.write("tests/test_other.py", "from other import total\n\ndef test_other(): pass\n")
    bench.rule("tests/test_other.py::test_other", lambda _: True, file="other.py")
    await bench.open()
    bench.engine.run_tests([], bench.engine.queries.projects(None))
    await bench.until(lambda: bench.runs)
    await bench.rest(1)
    bench.save("other.py", good.replace("0", "0 + 0"))
    await bench.until(lambda: len(bench.runs) == 2)
    assert bench.runs == [(), ("tests/test_other.py::test_other",)]


async def test_nothing_runs_in_an_untrusted_folder_until_it_is_trusted(bench: Any, bad: str) -> None:
    await bench.open(trusted=None)
    bench.open_document("cart.py")
    bench.save("cart.py", bad)
    await bench.rest()
    assert bench.engine.heal([TEST], bench.engine.queries.projects(None)).startswith("Regreen runs nothing")
    await bench.rest()
    assert bench.runs == []
    assert [m.kind for m in bench.engine.queries.marks(bench.root / "cart.py")] == ["notice"]
    assert bench.face.statuses[-1].state == "untrusted"
    await bench.engine.trust(bench.root)
    await bench.until(lambda: bench.runs)
    assert bench.trust.folders == {bench.root}
    assert bench.engine.queries.marks(bench.root / "cart.py") == []


async def test_trust_given_in_a_terminal_is_noticed_at_the_next_save(bench: Any, bad: str) -> None:
    await bench.open(trusted=None)
    bench.save("cart.py", bad)
    await bench.rest(1)
    bench.trust.folders.add(bench.root)
    bench.save("cart.py", bad + "\n")
    await bench.until(lambda: bench.runs)


@pytest.mark.parametrize("settings", [{"runTests": "manual"}, {"enable": False}])
async def test_manual_and_disabled_folders_run_nothing_by_themselves(
    bench: Any, bad: str, settings: dict[str, Any]
) -> None:
    await bench.open(**settings)
    bench.save("cart.py", bad)
    await bench.rest()
    assert bench.runs == []


async def test_unsaved_text_of_other_documents_is_part_of_the_run(bench: Any, good: str, bad: str) -> None:
    await bench.open()
    bench.open_document("cart.py")
    await bench.rest(1)
    bench.type("cart.py", bad)
    bench.save(
        "tests/test_cart.py", "from cart import total\n\n\ndef test_total():\n    assert total([1]) == 1\n"
    )
    await bench.until(lambda: bench.runs)
    assert bench.texts_run[0]["cart.py"] == bad
    assert (bench.root / "cart.py").read_text() == good


async def test_after_cancel_nothing_goes_on_and_the_same_text_can_be_run_again(bench: Any, bad: str) -> None:
    await bench.open()
    bench.open_document("cart.py")
    bench.hold = asyncio.Event()
    bench.save("cart.py", bad)
    await bench.until(lambda: bench.waiting)
    bench.face.cancel()
    await bench.until(lambda: not bench.engine._work.busy)
    assert bench.runs == []
    bench.hold.set()
    bench.save("cart.py", bad)
    await bench.until(lambda: bench.runs)


async def test_slow_tests_run_only_when_they_are_asked_for(bench: Any, bad: str) -> None:
    slow = "import pytest\nfrom cart import total\n\n@pytest.mark.slow\ndef test_slow():\n    pass\n\ndef test_quick():\n    pass\n"
    bench.write("tests/test_cart.py", slow)
    bench.rules.clear()
    bench.rule("tests/test_cart.py::test_slow", lambda _: True, markers=frozenset({"slow"}))
    bench.rule("tests/test_cart.py::test_quick", lambda _: True)
    bench.rule("tests/test_long.py::test_long", lambda _: True, seconds=6.0)
    bench.rule("tests/test_named.py::test_named", lambda _: True)
    await bench.open(**{"tests.never": ["tests/test_named.py"]})
    bench.engine.run_tests([], bench.engine.queries.projects(None))
    await bench.until(lambda: bench.runs)
    await bench.rest(1)
    bench.save("cart.py", bad)
    await bench.until(lambda: len(bench.runs) == 2)
    assert bench.runs[1] == ("tests/test_cart.py::test_quick",)
    bench.save("tests/test_cart.py", slow + "\n")
    await bench.until(lambda: len(bench.runs) == 3)
    assert bench.runs[2] == ("tests/test_cart.py::test_quick",)
    await bench.rest(1)
    bench.engine.run_tests(["tests/test_cart.py::test_slow"], bench.engine.queries.projects(None))
    await bench.until(lambda: len(bench.runs) == 4)
    assert bench.runs[3] == ("tests/test_cart.py::test_slow",)


async def test_a_test_that_was_renamed_is_forgotten(bench: Any, bad: str) -> None:
    await bench.open()
    bench.save("cart.py", bad)
    await bench.until(lambda: bench.engine.queries.marks(bench.root / "tests/test_cart.py"))
    rule = bench.rules.pop(TEST)
    bench.rule("tests/test_cart.py::test_sum", rule.is_green)
    text = (bench.root / "tests/test_cart.py").read_text().replace("test_total", "test_sum")
    bench.save("tests/test_cart.py", text)
    await bench.until(
        lambda: (
            {m.nodeid for m in bench.engine.queries.marks(bench.root / "tests/test_cart.py")}
            == {"tests/test_cart.py::test_sum"}
        )
    )


async def test_green_again_clears_everything_that_was_shown(bench: Any, good: str, bad: str) -> None:
    await bench.open()
    bench.open_document("cart.py")
    bench.save("cart.py", bad)
    await bench.until(lambda: bench.engine.queries.marks(bench.root / "tests/test_cart.py"))
    bench.save("cart.py", good)
    await bench.until(lambda: not bench.engine.queries.marks(bench.root / "tests/test_cart.py"))
    assert bench.engine.queries.fixes_at(bench.root / "cart.py", 0, 99) == []
    assert bench.root / "tests/test_cart.py" in bench.face.published[-1]


async def test_a_repository_that_names_an_executable_is_ignored_and_told_once(bench: Any, bad: str) -> None:
    bench.write("pyproject.toml", "[tool.pytest.ini_options]\n[tool.regreen]\ninterpreter = '/tmp/evil'\n")
    await bench.open()
    bench.save("cart.py", bad)
    await bench.until(lambda: bench.runs)
    bench.configure([{}])
    await bench.rest(1)
    assert bench.engine.registry.states[bench.root].settings.interpreter == ""
    assert bench.log.count("`regreen.interpreter` cannot be set by a file in the repository") == 1


async def test_a_save_after_a_change_of_settings_is_judged_by_the_new_ones(bench: Any, bad: str) -> None:
    await bench.open(runTests="manual")
    bench.configure([{"runTests": "onSave"}], after=0.2)
    bench.save("cart.py", bad)
    await bench.until(lambda: bench.runs)


async def test_settings_of_a_saved_pyproject_are_in_force_at_once(bench: Any, bad: str) -> None:
    await bench.open()
    bench.save("pyproject.toml", "[tool.pytest.ini_options]\n[tool.regreen]\nrunTests = 'manual'\n")
    await bench.rest(1)
    bench.runs.clear()
    bench.save("cart.py", bad)
    await bench.rest()
    assert bench.runs == []


async def test_settings_that_change_are_in_force_at_once(bench: Any, bad: str) -> None:
    await bench.open()
    bench.configure([{"runTests": "manual", "nonsense": 1}])
    await bench.rest(1)
    bench.save("cart.py", bad)
    await bench.rest()
    assert bench.runs == []
    assert "There is no setting `regreen.nonsense`" in bench.log


@pytest.mark.parametrize(
    ("change", "again"),
    [
        ({"isolation": {"network": True}}, True),
        ({"isolation": {"level": "none"}}, True),
        ({"isolation": {"readable": ["/srv/data"]}}, True),
        ({"isolation": {"memoryMegabytes": 500}}, True),
        ({"interpreter": "python3"}, True),
        ({"envFile": ".env"}, True),
        ({"mirror": {"maxFileMegabytes": 1}}, True),
        ({"heal": {"offers": 1}}, False),
        ({"tests": {"secondsPerTest": 5}}, False),
    ],
    ids=str,
)
async def test_a_setting_that_tools_are_built_with_builds_them_again(
    bench: Any, bad: str, change: dict[str, Any], again: bool
) -> None:
    await bench.open()
    bench.save("cart.py", bad)
    await bench.until(lambda: bench.runs)
    bench.configure([change])
    await bench.rest(1)
    bench.runs.clear()
    bench.save("cart.py", bad + "# more\n")
    await bench.until(lambda: bench.runs)
    assert len(bench.tools_for) == (2 if again else 1)
    assert bench.tools_for[-1] == bench.engine.registry.states[bench.root].settings or not again


async def test_closing_ends_what_runs_and_closes_the_tools(bench: Any, bad: str) -> None:
    await bench.open()
    bench.hold = asyncio.Event()
    bench.save("cart.py", bad)
    await bench.until(lambda: bench.waiting)
    assert bench.engine.queries.statuses()[0].state == "running"
    closing = asyncio.ensure_future(bench.engine.close())
    await asyncio.wait_for(closing, 10)
    assert bench.runs == []
    assert bench.oracle.closed == 1


async def test_closing_a_folder_takes_back_what_was_shown_of_it(bench: Any, bad: str) -> None:
    await bench.open()
    bench.save("cart.py", bad)
    path = bench.root / "tests/test_cart.py"
    await bench.until(lambda: bench.engine.queries.marks(path))
    bench.engine.close_folder(bench.root)
    assert bench.engine.queries.marks(path) == []
    assert path in bench.face.published[-1]
    await bench.until(lambda: bench.oracle.closed)


async def test_a_test_that_vanished_with_nobody_telling_is_forgotten_and_the_others_run(
    bench: Any, good: str, bad: str
) -> None:
    bench.rule("tests/test_cart.py::test_other", lambda _: True)
    await bench.open()
    bench.engine.run_tests([], bench.engine.queries.projects(None))
    await bench.until(lambda: bench.runs)
    await bench.rest(1)
    del bench.rules["tests/test_cart.py::test_other"]  # a parameter that depended on other code, say
    bench.save("cart.py", bad)
    await bench.until(lambda: bench.engine.queries.marks(bench.root / "tests/test_cart.py"))
    assert bench.runs[-1] == ("tests/test_cart.py",)
    assert set(bench.engine.registry.states[bench.root].outcomes) == {TEST}


async def test_a_deleted_test_file_is_forgotten(bench: Any, bad: str) -> None:
    await bench.open()
    bench.save("cart.py", bad)
    path = bench.root / "tests/test_cart.py"
    await bench.until(lambda: bench.engine.queries.marks(path))
    await bench.rest(1)
    path.unlink()
    bench.engine.changed_on_disk(path)
    await bench.until(lambda: not bench.engine.queries.marks(path))


async def test_tools_are_kept_while_only_the_manner_changes(bench: Any, good: str) -> None:
    await bench.open()
    bench.save("cart.py", good + "\n")
    await bench.until(lambda: bench.runs)
    await bench.rest(1)
    bench.configure([{"autoHeal.onSave": True}])
    await bench.rest(1)
    bench.save("cart.py", good + "\n\n")
    await bench.until(lambda: len(bench.runs) == 2)
    assert bench.oracle.closed == 0
    bench.configure([{"interpreter": "python3"}])
    await bench.rest(1)
    bench.save("cart.py", good)
    await bench.until(lambda: len(bench.runs) == 3)
    assert bench.oracle.closed == 1
