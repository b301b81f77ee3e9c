"""The user of an editor is asked before a model is told anything, and by a command alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml
from tests.lsp.editor import ONE_CLIENT, Editor, read_uri
from tests.lsp.projects import BAD, Shop

DIAGNOSIS = {
    "think": "seen",
    "diagnosis": {
        "category": "wrong operator",
        "path": "cart.py",
        "line": 4,
        "variable": "result",
        "value": "5",
        "cause": "Prices are taken away.",
        "plan": "Add each price.",
        "confidence": 0.9,
    },
}
PATCH = """FILE: cart.py
<<<<<<< SEARCH
        result -= price
=======
        result += price
>>>>>>> REPLACE
"""
NODEID = "test_cart.py::test_total"
SEND, SHOW, NOT_NOW, NEVER = "Send", "Show the text", "Not now", "Never in this folder"


def model(folder: Path, mode: str = "allowed", **more: Any) -> dict[str, Any]:
    """Settings with a model that heals the shop."""
    answers = [
        {"role": "debugger", "text": json.dumps(DIAGNOSIS), "repeat": True},
        {"role": "repairer", "text": PATCH, "repeat": True},
        {
            "role": "critic",
            "text": '{"verdict": "accept", "confidence": 0.7, "issue": "", "counter_example": null}',
            "repeat": True,
        },
        {"role": "summariser", "text": '{"lessons": []}', "repeat": True},
    ]
    path = folder / "answers.yaml"
    document = {"price": {"input": 3e-6, "output": 15e-6}, "address": "api.example.com", "answers": answers}
    path.write_text(yaml.safe_dump(document))
    return {
        "heal.maxCandidates": 0,
        "llm.mode": mode,
        "llm.model": f"scripted:{path}",
        "llm.strategies": 1,
        **more,
    }


async def started(editor: Editor, cart: Shop, settings: dict[str, Any], **options: Any) -> None:
    """Open the shop with its bug, saved, so that the test is seen red."""
    cart.cart.write_text(BAD)
    await editor.start(cart.root, settings=settings, **options)
    editor.open(cart.cart)
    editor.open(cart.tests)
    await editor.command("runTests", root=str(cart.root))
    await editor.until(lambda: editor.red(cart.tests))
    await editor.idle()


async def heal(editor: Editor, cart: Shop) -> None:
    """Ask for a fix, and wait until that heal has ended."""
    ended = f"{NODEID}: "
    before = editor.log.count(ended)
    await editor.command("heal", nodeid=NODEID, root=str(cart.root))
    await editor.until(lambda: editor.log.count(ended) > before)
    await editor.idle()


async def test_the_first_time_provider_model_text_and_price_are_shown(
    editor: Editor, cart: Shop, tmp_path: Path
) -> None:
    settings = model(tmp_path)
    await started(editor, cart, settings)
    assert editor.questions == [], "runs and saves ask nothing"
    editor.answers += [SHOW, SEND]
    await heal(editor, cart)
    first, again = editor.questions
    assert first.message == again.message
    for part in (
        settings["llm.model"],
        "scripted at api.example.com",
        "tokens of shop",
        "at most about $0.",
        "$0.5",
    ):
        assert part in first.message, first.message
    assert [one.title for one in first.actions or ()] == [SEND, SHOW, NOT_NOW, NEVER]
    shown = read_uri(editor.client.shown_documents[-1].uri)
    assert "test: test_cart.py::test_total" in shown
    assert "Role: debugger" in shown
    action = await editor.fix_at(cart.tests, 4)
    assert "Add each price." in action.title
    await editor.take(action)
    assert "result += price" in editor.buffers[cart.cart].text

    editor.type(cart.cart, BAD)
    editor.save(cart.cart)
    await editor.idle()
    await heal(editor, cart)
    assert len(editor.questions) == 2, "what was allowed once holds in this folder"


@ONE_CLIENT
async def test_never_in_this_folder_holds(editor: Editor, cart: Shop, tmp_path: Path) -> None:
    await started(editor, cart, model(tmp_path))
    editor.answers.append(NEVER)
    await heal(editor, cart)
    await heal(editor, cart)
    assert len(editor.questions) == 1
    assert await editor.fixes(cart.tests, 4) == []


@ONE_CLIENT
async def test_not_now_and_asking_each_time_ask_again(editor: Editor, cart: Shop, tmp_path: Path) -> None:
    await started(editor, cart, model(tmp_path, "askEachTime"))
    editor.answers += [NOT_NOW, SEND, SEND]
    await heal(editor, cart)
    assert await editor.fixes(cart.tests, 4) == []
    await heal(editor, cart)
    assert await editor.fixes(cart.tests, 4)
    await heal(editor, cart)
    assert len(editor.questions) == 3


@ONE_CLIENT
async def test_a_plan_is_approved_changed_or_rejected_before_anything_follows(
    editor: Editor, cart: Shop, tmp_path: Path
) -> None:
    await started(editor, cart, model(tmp_path, **{"llm.autonomy": "review"}))
    editor.answers += [SEND, "Reject"]
    await heal(editor, cart)
    assert await editor.fixes(cart.tests, 4) == []
    assert "The plan (cart.py:4: Prices are taken away.)" in editor.questions[-1].message
    editor.answers += ["Approve", "Approve"]
    await heal(editor, cart)
    assert "A patch of cart.py (minimal)" in editor.questions[-1].message
    assert await editor.fixes(cart.tests, 4)


async def test_a_diagnosis_alone_tries_no_patch(editor: Editor, cart: Shop, tmp_path: Path) -> None:
    await started(editor, cart, model(tmp_path, **{"llm.autonomy": "diagnose"}))
    editor.answers.append(SEND)
    await heal(editor, cart)
    page = (await editor.command("explain", nodeid=NODEID, show=False))["markdown"]
    assert "Prices are taken away." in page
    assert await editor.fixes(cart.tests, 4) == []


@ONE_CLIENT
async def test_keys_of_the_client_are_in_no_log(editor: Editor, cart: Shop, tmp_path: Path) -> None:
    key = "sk-of-the-secret-store-0123456789"
    await started(editor, cart, model(tmp_path), keys={"OPENAI_API_KEY": key})
    editor.answers.append(SEND)
    await heal(editor, cart)
    assert await editor.fixes(cart.tests, 4)
    said = editor.log + json.dumps(editor.statuses) + editor.questions[0].message
    assert key not in said


async def test_a_stale_test_can_be_updated_by_hand_and_by_nothing_else(
    editor: Editor, cart: Shop, tmp_path: Path
) -> None:
    settings = model(tmp_path)
    path = tmp_path / "answers.yaml"
    script = yaml.safe_load(path.read_text())
    for answer in script["answers"]:
        if answer["role"] == "repairer":
            answer["text"] = "No patch of the code is right: it does what it says."
    verdict = {"side": "test", "why": "All but this test take prices away.", "confidence": 0.9}
    script["answers"].append({"role": "judge", "text": json.dumps(verdict), "repeat": True})
    path.write_text(yaml.safe_dump(script))
    await started(editor, cart, settings)
    editor.answers.append(SEND)
    await heal(editor, cart)
    found = await editor.actions(cart.tests, 4)
    action = found[-1]
    assert action.title == "Update the expectation (changes a TEST): -5 → 5"
    assert not action.is_preferred
    assert action.edit is not None
    assert await editor.actions(cart.tests, 4, only=["source.fixAll.regreen"]) == []
    before = cart.tests.read_text()
    editor.apply(action.edit)
    assert editor.buffers[cart.tests].text == before.replace("== -5", "== 5")
    assert cart.tests.read_text() == before
    later = await editor.actions(cart.tests, 4)
    assert not [one for one in later if one.title.startswith("Update the expectation")], (
        "made for another text"
    )


@ONE_CLIENT
async def test_a_heal_that_came_to_nothing_goes_on_with_a_hint(
    editor: Editor, cart: Shop, tmp_path: Path
) -> None:
    settings = model(tmp_path)
    path = tmp_path / "answers.yaml"
    script = yaml.safe_load(path.read_text())
    hinted = {"when": "The user says: prices are added", "role": "repairer", "text": PATCH, "repeat": True}
    for answer in script["answers"]:
        if answer["role"] == "repairer":
            answer["text"] = PATCH.replace("+= price", "*= price")
    script["answers"].insert(0, hinted)
    path.write_text(yaml.safe_dump(script))
    await started(editor, cart, settings)
    nothing = await editor.command("resume", nodeid=NODEID, root=str(cart.root), hint="prices are added")
    assert "No model was asked about" in nothing["message"]
    editor.answers.append(SEND)
    await heal(editor, cart)
    assert await editor.fixes(cart.tests, 4) == []
    ended = editor.log.count(f"{NODEID}: ")
    answer = await editor.command("resume", nodeid=NODEID, root=str(cart.root), hint="prices are added")
    assert answer["message"] == "started"
    await editor.until(lambda: editor.log.count(f"{NODEID}: ") > ended)
    assert "Add each price." in (await editor.fix_at(cart.tests, 4)).title


async def test_a_save_never_asks_a_model(editor: Editor, cart: Shop, tmp_path: Path) -> None:
    await editor.start(cart.root, settings=model(tmp_path))
    editor.open(cart.cart)
    editor.open(cart.tests)
    editor.save(cart.cart, BAD)
    await editor.until(lambda: f"{NODEID}: " in editor.log)
    await editor.idle()
    assert editor.questions == []
    assert await editor.fixes(cart.tests, 4) == []
