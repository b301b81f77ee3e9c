"""Is what the README shows what the demo prints, and does the demo change nothing?"""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.commands import PLAIN, REPOSITORY, Regreen, tree

README = REPOSITORY / "README.md"
EXAMPLE = REPOSITORY / "examples" / "cart"


def blocks(text: str) -> list[str]:
    """The output's blocks without what differs from run to run: times, places, and which test was fastest."""
    text = re.sub(r"\d+(\.\d)? s\b", "0.0 s", text)
    text = re.sub(r"cd \S+ && \S+ -m pytest", "cd … && python -m pytest", text)
    return sorted(block.strip() for block in text.split("\n\n"))


def source(folder: Path) -> dict[str, bytes]:
    return {name: data for name, data in tree(folder).items() if not name.startswith(".venv/")}


def test_the_readme_shows_what_the_demo_prints(regreen: Regreen) -> None:
    page = README.read_text(encoding="utf-8")
    recorded = page.split("$ regreen heal examples/cart\n")[1].split("\n```")[0]
    before = source(EXAMPLE)
    run = regreen("heal", "examples/cart", "--interpreter", PLAIN, cwd=REPOSITORY)
    assert run.returncode == 0, run.stderr
    assert blocks(recorded) == blocks(run.stdout)
    assert source(EXAMPLE) == before


def test_every_link_of_the_readme_and_the_docs_leads_somewhere() -> None:
    pages = [README, REPOSITORY / "CHANGELOG.md", *(REPOSITORY / "docs").glob("*.md")]
    for page in pages:
        for link in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
            if not link.startswith("https://"):
                assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_every_outcome_has_a_section() -> None:
    from regreen.values import Outcome

    page = (REPOSITORY / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    assert re.findall(r"^## ([A-Z_]+)$", page, re.MULTILINE) == [outcome.value for outcome in Outcome]
