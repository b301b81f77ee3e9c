"""What does VS Code add to the server: when it starts, between a save and what the user sees, and in memory?

The same server with the same settings is driven over plain stdio before and after, in the same run.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import statistics
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from tests.bench.measures import Measure
from tests.editors.conftest import BRIEF, CART, write_shop
from tests.lsp.editor import VS_CODE, Editor
from tests.processes import marked
from tests.vscode import codeserver
from tests.vscode.conftest import OURS, PLAIN, variables
from tests.vscode.steps import is_green, known_green, regreen_is_up
from tests.vscode.window import browser
from tests.vscode.workbench import Workbench

ROUNDS = 7
PATIENCE_SECONDS = 60
BUG_LINE = 3
BRIEFLY = {f"{part}.{name}": value for part, names in BRIEF.items() for name, value in names.items()}

WATCH = """
window.regreen = {};
document.addEventListener('keydown', event => {
  if ((event.ctrlKey || event.metaKey) && event.key === 's') window.regreen = {save: performance.now()};
}, true);
const look = () => {
  const seen = window.regreen;
  if (!seen.save) return;
  if (!seen.squiggle && document.querySelector('.squiggly-error')) seen.squiggle = performance.now() - seen.save;
  if (!seen.bulb && document.querySelector('[class*="lightbulb-auto-fix"], [class*="lightbulb-autofix"]'))
    seen.bulb = performance.now() - seen.save;
};
new MutationObserver(look).observe(document, {subtree: true, childList: true, attributes: true, attributeFilter: ['class']});
"""
"""In the page: when the file is saved, and when the first squiggle and the bulb of a preferred fix are drawn."""


def numbered(number: int) -> str:
    """The line with the bug: each time another text, for a fix that was taken back is not preferred again."""
    return f"result += price  # {number}"


@dataclass(frozen=True)
class Seen:
    """Milliseconds from a save to the squiggle and to the lightbulb, of several saves."""

    squiggle: list[float]
    bulb: list[float]

    def __add__(self, other: Seen) -> Seen:
        return Seen(self.squiggle + other.squiggle, self.bulb + other.bulb)


def vscode(work: Path) -> list[Measure]:
    """Activation, the way from a save to the squiggle and to the lightbulb, and memory."""
    vsix = _packed(work / "packed")
    with_it, without = work / "extensions", work / "no-extensions"
    codeserver.install(vsix, with_it)
    without.mkdir()
    before = asyncio.run(_over_stdio(_place(work / "before")))
    activation, drawn, memory = _in_vscode(_place(work / "vscode"), with_it)
    plain = before + asyncio.run(_over_stdio(_place(work / "after")))
    bare = _bare_memory(_place(work / "bare"), without)
    return [
        Measure(
            "extension: activation", activation, "ms", 50, "as Developer: Show Running Extensions tells it"
        ),
        _added("save → squiggle, added by VS Code", drawn.squiggle, plain.squiggle, 150),
        _added("save → lightbulb, added by VS Code", drawn.bulb, plain.bulb, 400),
        Measure(
            "extension host, added memory", memory - bare, "MB", 50, f"{bare:.0f} MB without the extension"
        ),
    ]


def _added(name: str, drawn: list[float], plain: list[float], target: float) -> Measure:
    there, here = statistics.median(drawn), statistics.median(plain)
    how = f"{there:.0f} ms, the server alone {here:.0f} ms; medians of {len(drawn)} and {len(plain)} saves"
    return Measure(name, there - here, "ms", target, how)


def _packed(folder: Path) -> Path:
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError("there is no npm")
    command = [npm, "run", "--silent", "package", "--", str(folder)]
    subprocess.run(command, check=True, cwd=codeserver.REPOSITORY, capture_output=True, timeout=300)
    return next(folder.glob("*.vsix"))


def _place(folder: Path) -> Path:
    """A folder with the project in it, all green."""
    write_shop(folder / "shop")
    return folder


# ------------------------------------------------------------------ the server alone


async def _over_stdio(folder: Path) -> Seen:
    environment = variables(folder)
    cart, tests = folder / "shop" / "cart.py", folder / "shop" / "test_cart.py"
    editor = Editor(VS_CODE, environment)
    seen = Seen([], [])
    try:
        await editor.start(folder / "shop", settings={"interpreter": str(PLAIN), **BRIEFLY})
        editor.open(cart)
        editor.open(tests)
        await editor.command("runTests", root=str(folder / "shop"))
        await editor.command("settled")
        loop = asyncio.get_running_loop()
        for number in range(ROUNDS):
            good = CART.replace("result += price", numbered(number))
            editor.type(cart, good.replace("+=", "-="))
            await asyncio.sleep(1)
            began = loop.time()
            editor.save(cart)
            await _soon(lambda: bool(editor.red(tests)))
            seen.squiggle.append(1000 * (loop.time() - began))
            await _soon(lambda: _preferred(editor, cart))
            seen.bulb.append(1000 * (loop.time() - began))
            editor.type(cart, good.replace(numbered(number), numbered(-1)))
            editor.save(cart)
            await editor.until(lambda: not editor.red(tests))
            await asyncio.sleep(0.5)
            await editor.command("settled")
    finally:
        await editor.stop()
    return seen


async def _soon(condition: Callable[[], bool | Awaitable[bool]]) -> None:
    """Look again and again, as a client that draws would."""
    end = asyncio.get_running_loop().time() + PATIENCE_SECONDS
    while asyncio.get_running_loop().time() < end:
        answer = condition()
        if answer if isinstance(answer, bool) else await answer:
            return
        await asyncio.sleep(0.002)
    raise RuntimeError("the server showed nothing")


async def _preferred(editor: Editor, path: Path) -> bool:
    return any(action.is_preferred for action in await editor.fixes(path, BUG_LINE))


# ------------------------------------------------------------------ in VS Code


def _settings() -> dict[str, Any]:
    chosen = {"path": str(OURS), "interpreter": str(PLAIN), **BRIEFLY}
    trusted = {"security.workspace.trust.enabled": False}
    return {**trusted, **{f"regreen.{name}": value for name, value in chosen.items()}}


@contextmanager
def _window(folder: Path, extensions: Path) -> Iterator[Workbench]:
    environment = variables(folder)
    data = folder / "data"
    data.mkdir()
    with (
        codeserver.code_server(data, extensions, _settings(), environment) as server,
        browser() as new_page,
    ):
        code = Workbench(new_page(), server, folder / "pictures")
        code.page.add_init_script(WATCH)
        code.open(folder / "shop", folder / "shop" / "cart.py")
        yield code


def _in_vscode(folder: Path, extensions: Path) -> tuple[float, Seen, float]:
    """Milliseconds of activation, what was seen, and megabytes of the extension host."""
    with _window(folder, extensions) as code:
        regreen_is_up(code)
        known_green(code)
        code.show(folder / "shop" / "test_cart.py")
        code.command("View: Move Editor into Next Group")  # both files are on the screen
        code.focus()
        seen = Seen([], [])
        shown = "result += price"
        for number in range(ROUNDS):
            code.replace(shown, numbered(number).replace("+=", "-="))
            code.go(BUG_LINE + 1, 9)
            code.page.wait_for_timeout(1000)
            code.press("Control+s")
            code.until(lambda: code.page.evaluate("Boolean(window.regreen.squiggle && window.regreen.bulb)"))
            seen.squiggle.append(code.page.evaluate("window.regreen.squiggle"))
            seen.bulb.append(code.page.evaluate("window.regreen.bulb"))
            shown = numbered(number + 1)
            code.replace(numbered(number).replace("+=", "-="), shown)
            code.save()
            is_green(code)
            code.page.wait_for_timeout(500)
        memory = _host_memory(code)
        return _activation(code), seen, memory


def _activation(code: Workbench) -> float:
    """What VS Code says of the extension's activation, in milliseconds."""
    code.command("Developer: Show Running Extensions")
    row = code.page.locator(".runtime-extensions-editor .extension", has_text="Regreen").first
    told: list[str] = code.until(lambda: re.findall(r"(\d+)\s*ms", row.inner_text()))
    return float(told[0])


def _bare_memory(folder: Path, extensions: Path) -> float:
    with _window(folder, extensions) as code:
        code.page.wait_for_timeout(5000)
        return _host_memory(code)


def _host_memory(code: Workbench) -> float:
    """Resident megabytes of the extension host."""
    for process in marked(code.server.mark):
        with suppress(psutil.Error):  # it ended meanwhile
            if "--type=extensionHost" in process.cmdline():
                return float(process.memory_info().rss) / 1e6
    raise RuntimeError("there is no extension host")
