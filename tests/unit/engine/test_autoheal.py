"""When is a fix applied by itself, and what happens when it is taken back?"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from regreen.engine import Change, fix_title
from regreen.errors import StaleFix
from regreen.values import Confidence, Flag, Outcome, Vote

TEST = "tests/test_cart.py::test_total"


def take_over(bench: Any) -> None:
    """An editor that does what it is asked."""

    def apply(change: Change) -> None:
        for path, data in change.after.items():
            bench.type(path.relative_to(bench.root).as_posix(), data.decode())

    bench.face.on_apply = apply


async def start(bench: Any, **settings: Any) -> None:
    bench.git.top = bench.root
    take_over(bench)
    await bench.open(**{"autoHeal.onSave": True, **settings})
    bench.open_document("cart.py")
    await bench.rest(1)


async def test_a_saved_bug_is_healed_in_the_document_but_not_on_disk(bench: Any, good: str, bad: str) -> None:
    await start(bench)
    bench.save("cart.py", bad)
    await bench.until(lambda: bench.face.changes)
    await bench.rest()
    assert bench.engine.documents.get(bench.root / "cart.py").text == good
    assert (bench.root / "cart.py").read_text() == bad
    assert bench.engine.queries.marks(bench.root / "tests/test_cart.py") == []  # known green: it was verified
    assert bench.history.marks[-1][1] is False


async def test_the_save_of_our_own_text_runs_nothing(bench: Any, good: str, bad: str) -> None:
    await start(bench)
    bench.save("cart.py", bad)
    await bench.until(lambda: bench.face.changes)
    runs = len(bench.runs)
    bench.save("cart.py")
    await bench.rest()
    assert (bench.root / "cart.py").read_text() == good
    assert len(bench.runs) == runs
    assert len(bench.face.changes) == 1


async def test_one_undo_brings_the_text_back_and_the_fix_is_not_forced_again(bench: Any, bad: str) -> None:
    await start(bench)
    bench.save("cart.py", bad)
    await bench.until(lambda: bench.face.changes)
    await bench.rest(1)
    bench.type("cart.py", bad)  # undo
    await bench.rest(1)
    assert bench.history.marks[-1][1] is True
    assert [m.kind for m in bench.engine.queries.marks(bench.root / "tests/test_cart.py")] == ["failure"]
    assert bench.engine.queries.fixes_at(bench.root / "cart.py", 3, 3)  # it waits in the lightbulb
    (red,) = bench.engine.queries.reds_at(bench.root / "cart.py", 3, 3)
    assert not red.preferred
    bench.save("cart.py")
    await bench.rest()
    bench.save("cart.py", bad + "\n")
    await bench.until(lambda: len(bench.heals) == 2)
    await bench.rest()
    assert len(bench.face.changes) == 1
    assert bench.engine.documents.get(bench.root / "cart.py").text == bad + "\n"


async def test_a_fix_that_was_taken_back_is_not_forced_for_another_test_either(bench: Any, bad: str) -> None:
    bench.rule("tests/test_cart.py::test_refund", lambda texts: "+=" in texts["cart.py"])
    await start(bench)
    bench.save("cart.py", bad)
    await bench.until(lambda: bench.face.changes)
    bench.type("cart.py", bad)  # undo
    await bench.rest(1)
    for text in (bad + "\n", bad.replace("result = 0", "result = 0  # mine")):
        bench.save("cart.py", text)
        await bench.rest()
        assert bench.engine.queries.fixes_at(bench.root / "cart.py", 3, 3)
        assert len(bench.face.changes) == 1


@pytest.mark.parametrize(
    "case", ["off", "target only", "look twice", "split", "four lines", "autosave", "dirty", "closed"]
)
async def test_a_fix_waits_in_the_lightbulb_unless_every_condition_holds(
    bench: Any, bad: str, case: str
) -> None:
    await start(bench, **({"autoHeal.onSave": False} if case == "off" else {}))
    if case == "target only":
        bench.rules[TEST].outcome = Outcome.VERIFIED_TARGET_ONLY
    if case == "look twice":
        bench.rules[TEST].flags = (Flag("removed-assert", "removes an assert"),)
    if case == "split":
        bench.rules[TEST].vote = Vote(Confidence.SPLIT, "1 of 2 patches that pass behaves differently")
    if case == "four lines":
        bench.rules[TEST].lines_changed = 4
    bench.save("cart.py", bad, by_hand=case != "autosave")
    if case == "closed":
        bench.engine.closed(bench.root / "cart.py")
    await bench.until(lambda: bench.engine.queries.fixes_at(bench.root / "cart.py", 3, 3))
    if case == "dirty":
        bench.type("cart.py", bad + "# typing\n")
    await bench.rest()
    assert bench.face.changes == []


async def test_what_to_look_at_twice_is_said_wherever_the_fix_is_offered(bench: Any, bad: str) -> None:
    warning = "Look twice: removes an assert."
    bench.rules[TEST].flags = (Flag("removed-assert", "removes an assert"),)
    await start(bench)
    bench.save("cart.py", bad)
    cart, tests = bench.root / "cart.py", bench.root / "tests/test_cart.py"
    await bench.until(lambda: bench.engine.queries.fixes_at(cart, 3, 3))
    [offer] = bench.engine.queries.fixes_at(cart, 3, 3)
    assert fix_title(offer).endswith(f"(2 affected tests green, thin). {warning}")
    assert f"**{warning}**" in bench.engine.queries.explain(TEST)
    [mark] = bench.engine.queries.marks(cart)
    assert mark.message == f"Verified fix: `-=` → `+=` for test_total. {warning}"
    assert [lens.title.partition(" · ")[2] or lens.title for lens in bench.engine.queries.lenses(tests)] == [
        f"Fix ready: `-=` → `+=` (thin) · {warning}",
        "Preview",
        "Apply",
    ]
    [red] = bench.engine.queries.reds_at(cart, 3, 3)
    assert not red.preferred
    assert bench.engine.queries.fixes_of(cart) == []


@pytest.mark.parametrize("by_hand", [True, False])
async def test_a_save_is_known_by_who_made_it_although_a_watcher_was_faster(
    bench: Any, bad: str, by_hand: bool
) -> None:
    await start(bench)
    path = bench.root / "cart.py"
    bench.hold = asyncio.Event()
    bench.type("cart.py", bad)
    bench.write("cart.py", bad)
    bench.engine.changed_on_disk(path)
    await bench.until(lambda: bench.waiting)
    bench.engine.saved(path, by_hand=by_hand)
    await asyncio.sleep(0.1)
    bench.hold.set()
    await bench.until(lambda: bench.engine.queries.fixes_at(path, 3, 3) or bench.face.changes)
    await bench.rest()
    assert len(bench.face.changes) == by_hand
    assert len(bench.runs) == 1


async def test_nothing_is_applied_while_someone_types(bench: Any, bad: str) -> None:
    await start(bench)
    bench.save("cart.py", bad)
    await bench.until(lambda: bench.engine.queries.fixes_at(bench.root / "cart.py", 3, 3))
    for _ in range(5):  # typing that comes back to the same text keeps the fix valid, but waiting
        bench.type("cart.py", bad + "x")
        bench.type("cart.py", bad)
        await bench.rest(1)
        assert bench.face.changes == []
    await bench.until(lambda: bench.face.changes)


async def test_an_editor_that_says_applied_but_did_not_is_not_believed(bench: Any, bad: str) -> None:
    await start(bench)
    bench.face.on_apply = lambda _: None
    bench.save("cart.py", bad)
    await bench.until(lambda: "did not take the fix over" in bench.log)
    assert bench.engine.queries.fixes_at(bench.root / "cart.py", 3, 3)
    assert bench.history.marks == []


async def test_the_toggle_holds_for_the_session_and_survives_new_settings(bench: Any, bad: str) -> None:
    await start(bench, **{"autoHeal.onSave": False})
    assert bench.engine.toggle_auto_heal(bench.root) is True
    bench.configure([{"autoHeal.onSave": False}])
    await bench.rest(1)
    bench.save("cart.py", bad)
    await bench.until(lambda: bench.face.changes)
    assert bench.engine.toggle_auto_heal(bench.root) is False


async def test_a_fix_taken_from_the_menu_is_noticed_by_its_text(bench: Any, bad: str) -> None:
    await start(bench, **{"autoHeal.onSave": False})
    bench.save("cart.py", bad)
    await bench.until(lambda: bench.engine.queries.fixes_at(bench.root / "cart.py", 3, 3))
    (offer,) = bench.engine.queries.fixes_at(bench.root / "cart.py", 3, 3)
    bench.type("cart.py", offer.after[bench.root / "cart.py"].decode())
    await bench.rest(1)
    assert bench.engine.queries.marks(bench.root / "tests/test_cart.py") == []
    assert bench.history.marks == [(offer.fix.fix_id, False)]


async def test_other_fixes_of_the_same_file_are_verified_again_after_one_is_applied(
    bench: Any, good: str
) -> None:
    text = good + "\n\ndef count(prices):\n    return len(prices) - 1\n"
    bench.rule(
        "tests/test_cart.py::test_count",
        lambda texts: "- 1" not in texts["cart.py"],
        fixed=lambda t: t.replace(" - 1", ""),
        line=9,
    )
    await start(bench, **{"autoHeal.onSave": False})
    bench.save("cart.py", text.replace("+=", "-="))
    path = bench.root / "cart.py"
    await bench.until(lambda: len(bench.engine.queries.fixes_at(path, 0, 99)) == 2)
    (offer,) = bench.engine.queries.fixes_at(path, 3, 3)
    bench.type("cart.py", offer.after[path].decode())
    await bench.until(lambda: len(bench.heals) == 2)
    assert bench.heals[1] == ("tests/test_cart.py::test_count",)
    await bench.until(lambda: bench.engine.queries.fixes_at(path, 0, 99))
    (other,) = bench.engine.queries.fixes_at(path, 0, 99)
    assert other.after[path].decode() == good + "\n\ndef count(prices):\n    return len(prices)\n"


async def test_a_fix_taken_back_after_tests_ran_with_it_is_red_again_with_the_next_save(
    bench: Any, good: str, bad: str
) -> None:
    await start(bench)
    bench.save("cart.py", bad)
    await bench.until(lambda: bench.face.changes)
    await bench.rest()
    bench.save("cart.py", good + "\n# nearly done\n")
    await bench.rest()
    bench.save("cart.py", bad)  # all of it undone
    tests = bench.root / "tests/test_cart.py"
    await bench.until(lambda: [m.kind for m in bench.engine.queries.marks(tests)] == ["failure"])
    await bench.rest()
    assert bench.engine.documents.get(bench.root / "cart.py").text == bad
    assert len(bench.face.changes) == 1


@pytest.mark.parametrize("where", ["buffer", "disk", "gone"])
async def test_a_stale_fix_is_refused(bench: Any, bad: str, where: str) -> None:
    await start(bench, **{"autoHeal.onSave": False})
    bench.save("cart.py", bad)
    path = bench.root / "cart.py"
    await bench.until(lambda: bench.engine.queries.fixes_at(path, 3, 3))
    (offer,) = bench.engine.queries.fixes_at(path, 3, 3)
    assert await bench.engine.queries.resolve(offer.fix.fix_id) == offer
    if where == "buffer":
        bench.type("cart.py", bad + "x")
    else:
        bench.engine.closed(path)
        if where == "gone":
            path.unlink()
        else:
            path.write_text(bad + "x")
    with pytest.raises(StaleFix):
        await bench.engine.queries.resolve(offer.fix.fix_id)
