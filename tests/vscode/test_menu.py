"""The menu, the report, keys of language models, and every command where there is nothing to do."""

from __future__ import annotations

import json
from pathlib import Path

from .codeserver import MANIFEST
from .conftest import OURS, PLAIN, Start
from .steps import bug, fix_is_ready, known_green, our_log, regreen, regreen_is_up, report, servers
from .window import QUICK_INPUT, texts
from .workbench import Workbench

KEY = "sk-test-0123456789-abcdef"
VARIABLE = "ANTHROPIC_API_KEY"


def menu(code: Workbench) -> list[str]:
    """What the open menu offers."""
    return code.until(lambda: [item for item in code.items() if item])


def closed(code: Workbench) -> None:
    """Leave whatever quick input is open."""
    code.press("Escape")
    code.page.locator(QUICK_INPUT).wait_for(state="hidden")


def test_the_menu_opens_by_click_and_by_keys_and_leads_to_the_preview(project: Path, start: Start) -> None:
    code = start(project, project / "cart.py")
    known_green(code)
    code.click_status("Regreen")
    offered = menu(code)
    assert offered == [
        "Run Tests",
        "Turn Auto-heal on Save On",
        "Settings",
        "Show Log",
        "Restart Server",
    ]
    assert "Isolation of test runs: full · Language model: off · Auto-heal on save: off" in code.prompt()
    closed(code)

    bug(code)
    fix_is_ready(code)
    code.command("Regreen: Show Menu")
    offered = menu(code)
    assert [item for item in offered if item.startswith("test_")] == [
        "test_total Expected -7, got 7 Fix ready: `-=` → `+=`",
        "test_refund Expected -3, got 3 Fix ready: `-=` → `+=`",
    ]
    assert "Find Fixes for the Red Tests" in offered
    code.picture("the menu with red tests")
    code.fill("test_refund")
    code.until(lambda: [item.split()[0] for item in menu(code)] == ["test_refund"])
    code.press("Enter")
    code.until(lambda: code.diff()[1])
    assert "result += price" in code.diff()[1]


def test_the_report_tells_what_failed_what_was_tried_and_each_fix_with_its_evidence(
    project: Path, start: Start
) -> None:
    code = start(project, project / "cart.py")
    known_green(code)
    bug(code)
    fix_is_ready(code)
    page = report(code, "test_total")
    headings = page.locator("h1, h2")
    code.until(lambda: headings.count() == 4)
    code.picture("the report")
    title, cause, tried, fix = headings.all_inner_texts()
    assert (title, cause, tried) == ("test_cart.py::test_total", "Cause", "What was tried")
    assert fix.startswith("Fix test_total: -= → += in cart.py:4 (")
    said = " ".join(texts(page.locator(".markdown-body")))
    for part in (
        "VERIFIED",
        "Expected -7, got 7",
        "no language model was asked",
        "2 red → green",
        "isolation: full",
    ):
        assert part in said
    assert texts(page.locator(".hljs-addition")) == ["+ result += price"]
    assert f"cd {project} && {PLAIN} -m pytest test_cart.py::" in said
    page.get_by_role("link", name="What VERIFIED means").click()
    code.until(lambda: code.active_tab() == "Preview troubleshooting.md")
    page.get_by_role("heading", name="VERIFIED", exact=True).wait_for()


def test_a_key_is_typed_unseen_kept_secret_and_reaches_the_server_alone(project: Path, start: Start) -> None:
    code = start(project, project / "cart.py")
    regreen_is_up(code)
    (before,) = servers(code)
    code.command("Regreen: Set API Key")
    code.choose("Anthropic")
    box = code.page.locator(f"{QUICK_INPUT} input.input")
    code.until(lambda: f"The key for {VARIABLE}" in code.prompt())
    assert box.get_attribute("type") == "password"
    code.type(KEY)
    code.picture("a key is typed")
    code.press("Enter")
    code.until(lambda: [server.pid for server in servers(code)] not in ([], [before.pid]))
    regreen_is_up(code)

    code.command("Regreen: Set API Key")
    assert any(item.startswith(f"Anthropic {VARIABLE} a key is kept") for item in menu(code))
    assert KEY not in code.screen()
    closed(code)
    code.command("Regreen: Show Menu")
    assert KEY not in f"{menu(code)} {code.prompt()}"
    closed(code)
    assert KEY not in our_log(code)
    (server,) = servers(code)
    assert KEY not in " ".join([*server.cmdline(), *server.environ().values()])
    holding = [
        path
        for path in code.server.user_data.rglob("*")
        if path.is_file() and KEY.encode() in path.read_bytes()
    ]
    assert holding == [], "no file holds it as it is"


NOTHING_READY = "Regreen: no verified fix is ready. `Regreen: Find Fixes` looks for some."
NOTHING_RED = "Regreen: no test is red, as far as is known."
ANSWERS: dict[str, str] = {
    "runTests": "",
    "runFileTests": "",
    "findFixes": "Regreen: nothing is red here.",
    "previewFix": NOTHING_READY,
    "applyFix": NOTHING_READY,
    "showReport": NOTHING_RED,
    "resume": NOTHING_RED,
    "stop": "",
    "fetchServer": f"Regreen: nothing was fetched, for {OURS} is in use.",
    "toggleAutoHeal": "",
    "installModels": (
        "Regreen: Regreen's own environment is not in use here. "
        "Install the extra beside the regreen that is: pip install 'regreen[llm]'."
    ),
    "showLog": "",  # last: the panel takes the keys as it opens
}
"""What commands say in a project where all is green; those that do something, and tell so in the status bar, say nothing."""

ELSEWHERE = {"menu", "setApiKey", "tryExample", "restart"}
"""Commands that other scenarios run."""


def says_only(code: Workbench, words: str) -> None:
    """Wait until this is the only notification: the progress of what was asked for fades meanwhile."""
    code.until(lambda: code.notifications() == [words])


def test_every_command_does_something_or_says_why_not_where_nothing_is_red(
    project: Path, start: Start
) -> None:
    code = start(project, project / "cart.py")
    known_green(code)
    contributed = json.loads(MANIFEST.read_text("utf-8"))["contributes"]
    in_previews = {entry["command"] for entry in contributed["menus"]["commandPalette"]}
    titles = {
        command["command"].removeprefix("regreen."): command["title"]
        for command in contributed["commands"]
        if command["command"] not in in_previews
    }
    assert titles.keys() == ANSWERS.keys() | ELSEWHERE
    for name, words in ANSWERS.items():
        code.command(f"Regreen: {titles[name]}")
        if words:
            says_only(code, words)
            code.command("Notifications: Clear All Notifications")
        code.until(lambda: regreen(code).startswith("All green") and code.notifications() == [])
    assert regreen(code) == "All green, auto-heal on save is on"
    code.until(lambda: "regreen.path: " in " ".join(texts(code.page.locator(".part.panel .view-lines"))))
    assert "[error]" not in our_log(code).replace("[error] installModels: ", "")
