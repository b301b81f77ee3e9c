"""Of several fixes, and of several files: what would change is shown before anything does."""

from __future__ import annotations

from pathlib import Path

from .conftest import Start
from .steps import click_lens, fix_is_ready, known_green
from .workbench import Workbench

LARGER = """\
def larger(one, other):
    return max(one, other)
"""
TESTS = """\
from larger import larger


def test_larger():
    assert larger(1, 2) == 2
"""


def previewed(code: Workbench, *, not_yet: str = "") -> str:
    """Wait for a preview other than this one; the right side of it."""
    return code.until(lambda: code.diff()[1] if code.diff()[1] != not_yet else "")


def test_next_leads_through_all_fixes_of_a_test_and_back_to_the_first(project: Path, start: Start) -> None:
    (project / "larger.py").write_text(LARGER)
    (project / "test_larger.py").write_text(TESTS)
    code = start(
        project, project / "larger.py", settings={"regreen.heal.offers": 3, "regreen.heal.maxCandidates": 200}
    )
    known_green(code)
    code.replace("max", "min")
    code.save()
    fix_is_ready(code)
    code.show(project / "test_larger.py")
    code.until(lambda: any("Fix ready" in lens for lens in code.lenses()))
    click_lens(code, "Preview")
    shown = [previewed(code)]
    while True:
        code.click_title_button("Show the Next Fix")
        after = previewed(code, not_yet=shown[-1])
        if after == shown[0]:
            break
        shown.append(after)
    assert len(shown) == len(set(shown)) > 1, "each once"
    assert LARGER.splitlines()[1] in "".join(shown)
    code.picture("the first fix again")
    code.click_title_button("Discard the Preview")
    code.until(lambda: code.active_tab() == "test_larger.py")
    assert "min" in (project / "larger.py").read_text()
    assert sorted(code.tabs()) == ["larger.py", "test_larger.py"]
