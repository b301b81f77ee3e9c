"""Runs that are many, long, flaky, stopped, or cut off."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from lsprotocol import types as t
from tests.lsp.editor import BRIEF, NEOVIM, ONE_CLIENT, VS_CODE, Editor, environment, fix_of, read_uri
from tests.lsp.projects import (
    BAD,
    CONFIG,
    GOOD,
    HOPELESS,
    SLOW_TEST,
    Shop,
    hopeless,
    known_green,
    last_run,
    shop,
    write,
)
from tests.processes import left_running


async def test_opening_a_folder_runs_nothing_and_shows_the_known_reds(editor: Editor, cart: Shop) -> None:
    last_run(cart.root, red=("test_cart.py::test_total",))
    await editor.start(cart.root)
    (shown,) = await editor.until(lambda: editor.client.diagnostics.get(cart.tests.as_uri()))
    assert (shown.code, shown.range.start.line) == ("test-failed-before", 3)
    lenses = await editor.client.text_document_code_lens_async(
        t.CodeLensParams(t.TextDocumentIdentifier(cart.tests.as_uri()))
    )
    assert [lens.command.title for lens in lenses or () if lens.command] == [
        "Red in the last run · Find a fix"
    ]
    assert editor.client.progress_reports == {}
    await editor.command("heal", nodeid="test_cart.py::test_total", root=str(cart.root))
    await editor.until(lambda: not editor.client.diagnostics[cart.tests.as_uri()])


async def test_the_whole_story(editor: Editor, cart: Shop) -> None:
    await editor.start(cart.root)
    editor.open(cart.cart)
    editor.open(cart.tests)
    editor.save(cart.cart, BAD)
    action = await editor.fix_at(cart.tests, 4)
    assert action.title.startswith("Fix test_total: `-=` → `+=` in cart.py:4 (")
    assert action.kind == "quickfix.regreen"
    assert action.is_preferred
    assert [d.code for d in action.diagnostics or ()] == ["test-failed"]
    (red,) = editor.red(cart.tests)
    assert "Expected -5, got 5" in red.message
    assert (red.range.start.line, red.range.start.character) == (4, 4)
    assert editor.published[cart.tests].version == editor.buffers[cart.tests].version
    hints = [d for d in editor.client.diagnostics[cart.cart.as_uri()] if d.code == "verified-fix"]
    assert 3 in [hint.range.start.line for hint in hints]
    titles = [a.title for a in await editor.actions(cart.tests, 4)]
    assert [title for title in titles if title.startswith("Show the diff")]
    assert titles[-2:] == ["Explain test_total", "Don't suggest fixes for test_total"]
    assert [a.title for a in await editor.actions(cart.tests, 4, only=["refactor"])] == []
    assert [a.title for a in await editor.actions(cart.tests, 4, only=["quickfix"])] == titles
    fix = fix_of(action)
    diff = await editor.command("diff", fix=fix)
    assert "-        result -= price" in diff["diff"]
    assert (diff["files"][0]["before"], diff["files"][0]["after"]) == (BAD, GOOD)
    after = t.TextDocumentContentParams(diff["files"][0]["afterUri"])
    assert (await editor.client.workspace_text_document_content_async(after)).text == GOOD
    (listed,) = (await editor.command("reds"))["reds"]
    assert (listed["nodeid"], listed["name"]) == ("test_cart.py::test_total", "test_total")
    assert (listed["expected"], listed["actual"]) == ("-5", "5")
    assert (listed["uri"], listed["line"], listed["at"]["line"]) == (cart.tests.as_uri(), 3, 4)
    assert listed["fixes"][0] == {"fix": fix, "title": action.title, "short": "`-=` → `+=`"}
    explanation = await editor.command("explain", nodeid="test_cart.py::test_total", show=False)
    assert "VERIFIED" in explanation["markdown"]
    assert "- thin: " in explanation["markdown"]
    lenses = await editor.client.text_document_code_lens_async(
        t.CodeLensParams(t.TextDocumentIdentifier(cart.tests.as_uri()))
    )
    assert [lens.command and (lens.command.title, lens.command.command) for lens in lenses or ()] == [
        ("Expected -5, got 5 · Fix ready: `-=` → `+=` (thin)", "regreen.server.explain"),
        ("Preview", "regreen.server.showDiff"),
        ("Apply", "regreen.server.apply"),
    ]
    await editor.take(action)
    await editor.until(lambda: not editor.red(cart.tests))
    editor.save(cart.cart)
    assert cart.cart.read_text() == GOOD
    assert any(s["state"] == "healing" for s in editor.statuses)
    kinds = [type(r).__name__ for reports in editor.client.progress_reports.values() for r in reports]
    assert kinds[0] == "WorkDoneProgressBegin"
    assert kinds[-1] == "WorkDoneProgressEnd"


async def test_a_fix_to_look_at_twice_comes_last_says_so_and_is_not_preferred(
    editor: Editor, tmp_path: Path
) -> None:
    store = "import json as pickel\n\n\ndef stored(value):\n    return len(pickle.dumps(value)) > 1\n"
    tests = "from store import stored\n\n\ndef test_stored():\n    assert stored([1])\n"
    right = store.replace("pickle.", "pickel.")
    root = write(tmp_path / "shop", {"pyproject.toml": CONFIG, "store.py": right, "test_store.py": tests})
    known_green(root, "test_store.py::test_stored")
    await editor.start(root, settings={"heal.maxCandidates": 600, "heal.offers": 3})
    editor.open(root / "store.py")
    editor.save(root / "store.py", store)
    first = await editor.fix_at(root / "test_store.py", 4)
    await editor.idle()  # the first one is offered while the others are being proven
    *others, last = await editor.fixes(root / "test_store.py", 4)
    assert (first.title, first.data) == (others[0].title, others[0].data)
    assert first.title.startswith("Fix test_stored: `pickle` → `pickel` in store.py:5 (")
    assert [action.is_preferred for action in (*others, last)] == [True, *[None] * len(others)]
    assert not [action.title for action in others if "Look twice" in action.title]
    assert last.title.endswith(
        " affected test green, split). Look twice: imports a module with much power: pickle."
    )
    assert (await editor.command("diff", fix=fix_of(last)))["title"] == last.title


async def test_a_client_may_wait_for_what_it_asked_for(editor: Editor, cart: Shop) -> None:
    cart.cart.write_text(BAD)
    await editor.start(cart.root)
    assert (await editor.command("heal", root=str(cart.root)))["message"] == "started"
    (project,) = (await editor.command("settled", root=str(cart.root)))["projects"]
    assert (project["state"], project["red"], project["fixes"]) == ("idle", 1, 1)
    assert project["isolation"] in {"full", "partial", "none"}
    await editor.command("settled")  # nothing runs: at once


async def test_who_waits_after_a_save_waits_for_what_follows_from_it(editor: Editor, cart: Shop) -> None:
    await editor.start(cart.root)
    editor.open(cart.cart)
    editor.save(cart.cart, BAD)
    (project,) = (await editor.command("settled"))["projects"]
    assert (project["state"], project["red"], project["fixes"]) == ("idle", 1, 1)


async def test_a_fix_of_two_tests_is_named_after_the_one_that_is_looked_at(
    editor: Editor, tmp_path: Path
) -> None:
    both = "from cart import total\n\n\ndef test_a():\n    assert total([10, -15]) == -5\n\n\ndef test_b():\n    assert total([1, -3]) == -2\n"
    cart = shop(tmp_path / "shop", tests=both)
    await editor.start(cart.root)
    cart.cart.write_text(BAD)
    await editor.command("heal", root=str(cart.root))
    (project,) = (await editor.command("settled"))["projects"]
    assert (project["red"], project["fixes"]) == (2, 2)
    for line, name in ((4, "test_a"), (8, "test_b")):
        action = await editor.fix_at(cart.tests, line)
        assert action.title.startswith(f"Fix {name}: `-=` → `+=`")
    reds = (await editor.command("reds"))["reds"]
    assert len({red["fixes"][0]["fix"] for red in reds}) == 1, "it is one fix"
    assert [red["fixes"][0]["title"].split(":")[0] for red in reds] == ["Fix test_a", "Fix test_b"]


async def test_fix_all_answers_only_to_its_own_name(editor: Editor, cart: Shop) -> None:
    await editor.start(cart.root)
    editor.open(cart.cart)
    editor.save(cart.cart, BAD)
    await editor.fix_at(cart.cart, 3)
    assert await editor.actions(cart.cart, 0, only=["source.fixAll"]) == []
    assert await editor.actions(cart.cart, 0, only=["source"]) == []
    (action,) = await editor.actions(cart.cart, 0, only=["source.fixAll.regreen"])
    assert action.edit is not None
    editor.apply(action.edit)
    assert editor.buffers[cart.cart].text == GOOD


async def test_the_diff_is_shown_as_a_document(editor: Editor, cart: Shop) -> None:
    editor.supports_content = editor.kind == VS_CODE
    await editor.start(cart.root)
    editor.open(cart.cart)
    editor.save(cart.cart, BAD)
    action = await editor.fix_at(cart.cart, 3)
    fix = fix_of(action)
    await editor.command("showDiff", fix=fix)
    (shown,) = editor.client.shown_documents
    if editor.kind == VS_CODE:
        content = await editor.client.workspace_text_document_content_async(
            t.TextDocumentContentParams(shown.uri)
        )
        assert "+        result += price" in content.text
    else:
        assert "+        result += price" in read_uri(shown.uri)


@ONE_CLIENT
async def test_a_fix_that_breaks_a_test_it_is_not_known_to_touch_is_withdrawn_in_idle_time(
    editor: Editor, tmp_path: Path
) -> None:
    cart = shop(tmp_path / "shop", cart=BAD)
    far = (
        'from pathlib import Path\n\n\ndef test_far():\n    assert "+=" not in Path("cart.py").read_text()\n'
    )
    write(cart.root, {"test_far.py": far})
    await editor.start(cart.root, settings=BRIEF)
    editor.open(cart.cart)
    await editor.command("runTests", root=str(cart.root))
    await editor.until(lambda: editor.red(cart.tests))
    await editor.idle()
    await editor.command("heal", root=str(cart.root))
    await editor.fix_at(cart.cart, 3)
    await editor.until(lambda: "The whole suite spoke against the fix" in editor.log)
    assert "test_far.py::test_far turns red" in editor.log
    assert await editor.fixes(cart.cart, 3) == []
    (state,) = await editor.idle()
    assert (state["red"], state["fixes"]) == (1, 0)


async def test_cancel_stops_a_heal_and_leaves_no_process(editor: Editor, tmp_path: Path) -> None:
    root = hopeless(tmp_path / "deep")
    await editor.start(root)
    await editor.command("heal", nodeid="test_deep.py::test_answer", root=str(root))
    await editor.until(lambda: any(s["state"] == "healing" for s in editor.statuses))
    (token,) = editor.client.progress_reports
    if editor.kind == VS_CODE:
        editor.client.window_work_done_progress_cancel(t.WorkDoneProgressCancelParams(token))
    else:
        assert (await editor.command("cancel"))["cancelled"] is True
    (state,) = await editor.idle()
    assert state["fixes"] == 0
    assert "cancelled" in editor.log


async def test_shutdown_in_a_heal_answers_and_leaves_no_process(editor: Editor, tmp_path: Path) -> None:
    root = hopeless(tmp_path / "deep")
    await editor.start(root)
    await editor.command("heal", nodeid="test_deep.py::test_answer", root=str(root))
    await editor.until(lambda: any(s["state"] == "healing" for s in editor.statuses))
    family = psutil.Process(editor.server.pid).children(recursive=True)
    assert family
    await editor.client.shutdown_session()
    assert editor.server.returncode == 0
    assert left_running(family, seconds=10) == []


CLIENT = """
import json, subprocess, sys, time
server = subprocess.Popen([sys.executable, "-m", "regreen", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def send(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    server.stdin.write(b"Content-Length: %d\\r\\n\\r\\n" % len(body) + body)
    server.stdin.flush()
for message in json.loads(sys.argv[1]):
    send(message)
while True:
    headers = iter(server.stdout.readline, b"\\r\\n")
    size = next(int(value) for name, _, value in [h.partition(b":") for h in headers] if name == b"Content-Length")
    message = json.loads(server.stdout.read(size))
    print(json.dumps(message), flush=True)
    if "id" in message and "method" in message:
        send({"id": message["id"], "result": [None] if message["method"] == "workspace/configuration" else None})
"""


def test_a_client_that_is_killed_in_a_heal_leaves_no_process(tmp_path: Path) -> None:
    from lsprotocol.converters import get_converter
    from pytest_lsp import client_capabilities

    root = hopeless(tmp_path / "deep")
    capabilities = get_converter().unstructure(client_capabilities(NEOVIM))
    options = {"trusted": True, "client": {"status": True}, "settings": {"interpreter": sys.executable}}
    heal = {"nodeid": "test_deep.py::test_answer", "root": str(root)}
    folders = [{"uri": root.as_uri(), "name": "deep"}]
    messages = [
        {
            "id": 1,
            "method": "initialize",
            "params": {
                "processId": None,
                "rootUri": None,
                "capabilities": capabilities,
                "workspaceFolders": folders,
                "initializationOptions": options,
            },
        },
        {"method": "initialized", "params": {}},
        {
            "id": 2,
            "method": "workspace/executeCommand",
            "params": {"command": "regreen.server.heal", "arguments": [heal]},
        },
    ]
    with subprocess.Popen(
        [sys.executable, "-c", CLIENT, json.dumps(messages)],
        stdout=subprocess.PIPE,
        env=environment(tmp_path / "regreen"),
        cwd=tmp_path,
    ) as client:
        assert client.stdout is not None
        for line in client.stdout:
            message = json.loads(line)
            if message.get("method") == "regreen/status" and message["params"]["state"] == "healing":
                break
        family = psutil.Process(client.pid).children(recursive=True)
        assert len(family) > 1
        os.kill(client.pid, signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)
        assert left_running(family, seconds=20) == []


@ONE_CLIENT
async def test_four_thousand_failing_tests_are_shown_and_none_is_searched_for(
    editor: Editor, cart: Shop
) -> None:
    many = "import pytest\nfrom cart import total\n\n\n@pytest.mark.parametrize('n', range(4000))\ndef test_many(n):\n    assert total([n, 1]) == n + 1\n"
    known_green(cart.root, *(f"test_cart.py::test_many[{n}]" for n in range(4000)))
    cart.tests.write_text(many)
    await editor.start(cart.root)
    editor.open(cart.cart)
    editor.save(cart.cart, BAD)
    await editor.until(lambda: len(editor.red(cart.tests)) == 4000)
    assert "4000 tests are red, 1 causes" in editor.log
    titles = [a.title for a in await editor.actions(cart.tests, 6)]
    assert titles == ["Find fixes for 12 red tests"]
    assert [s["state"] for s in await editor.idle()] == ["idle"]


async def test_a_hanging_test_is_stopped_and_shown(editor: Editor, cart: Shop) -> None:
    await editor.start(cart.root, settings={"tests.secondsPerTest": 1, "heal.maxSeconds": 5})
    editor.open(cart.cart)
    editor.save(cart.cart, GOOD.replace("    for price", "    while prices:\n        pass\n    for price"))
    (shown,) = await editor.until(lambda: editor.red(cart.tests))
    assert "Timeout" in shown.message
    assert shown.range.start.line >= 3


async def test_a_flaky_test_is_named_so_and_not_healed(editor: Editor, cart: Shop) -> None:
    flaky = "import random\nfrom cart import total\n\n\ndef test_total():\n    assert random.random() < 0.5\n"
    await editor.start(cart.root, settings={"heal.maxSeconds": 3})
    editor.open(cart.tests)

    async def seen() -> bool:
        editor.save(cart.tests, editor.buffers[cart.tests].text + "#\n")
        await asyncio.sleep(0.5)
        await editor.idle()
        return any("FLAKY" in d.message for d in editor.red(cart.tests))

    editor.save(cart.tests, flaky)
    await editor.until(seen)
    assert await editor.fixes(cart.tests, 5) == []


async def test_fifty_saves_in_two_seconds_are_few_runs_and_the_last_text_counts(
    editor: Editor, cart: Shop
) -> None:
    await editor.start(cart.root)
    editor.open(cart.cart)
    for number in range(50):
        editor.save(cart.cart, (BAD if number == 49 else GOOD) + f"# {number}\n")
        await asyncio.sleep(0.04)
    await editor.fix_at(cart.cart, 3)
    assert len(editor.client.progress_reports) <= 5


async def test_more_work_for_a_project_ends_a_search_that_is_out_of_date(editor: Editor, cart: Shop) -> None:
    write(cart.root, {"deep.py": HOPELESS, "test_deep.py": SLOW_TEST})
    await editor.start(cart.root)
    await editor.command("heal", nodeid="test_deep.py::test_answer", root=str(cart.root))
    await editor.until(lambda: any(s["state"] == "healing" for s in editor.statuses))
    editor.open(cart.cart)
    editor.save(cart.cart, BAD)
    await editor.until(lambda: editor.red(cart.tests))


@pytest.mark.parametrize("unknown", ["codeAction", "configuration"])
async def test_what_the_protocol_does_not_know_is_answered(editor: Editor, cart: Shop, unknown: str) -> None:
    await editor.start(cart.root)
    if unknown == "codeAction":
        context = t.CodeActionContext(diagnostics=[], trigger_kind=99)  # type: ignore[arg-type]
        here = t.Range(t.Position(0, 0), t.Position(0, 0))
        params = t.CodeActionParams(t.TextDocumentIdentifier(cart.cart.as_uri()), here, context)
        assert not await editor.client.text_document_code_action_async(params)
    else:
        assert await editor.command("status", extra=[1, {"x": None}])
        params_without = t.ExecuteCommandParams("regreen.server.status")
        assert await editor.client.workspace_execute_command_async(params_without)
