"""Does an environment inside the project stay where it is, while everything else is the copy's?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROBE = Path(__file__).resolve().parents[2] / "server" / "regreen" / "probe"

QUESTION = """
import json, sys
sys.path.insert(0, sys.argv[1])
sys.prefix = sys.argv[2]
from regreen_probe.redirect import Roots
roots = Roots([["/w/project/.venv/src/lib", "/copy/lib"], ["/w/project", "/copy/project"]])
print(json.dumps([roots.to_copy(path) for path in sys.argv[3:]]))
"""


def _turned(prefix: str, *paths: str) -> list[str]:
    asked = [sys.executable, "-c", QUESTION, str(PROBE), prefix, *paths]
    turned: list[str] = json.loads(subprocess.run(asked, capture_output=True, check=True, text=True).stdout)
    return turned


def test_the_environment_inside_the_project_is_not_looked_for_in_the_copy() -> None:
    packages = "/w/project/.venv/lib/python3.11/site-packages"
    assert _turned("/w/project/.venv", packages, "/w/project/src") == [packages, "/copy/project/src"]


def test_a_project_checked_out_inside_an_environment_is_turned_to_its_copy() -> None:
    assert _turned("/w/project/.venv", "/w/project/.venv/src/lib/a.py") == ["/copy/lib/a.py"]
    assert _turned("/w/project/.venv/src", "/w/project/.venv/src/lib/a.py") == ["/copy/lib/a.py"]


def test_an_environment_around_the_project_changes_nothing() -> None:
    assert _turned("/w", "/w/project/a.py") == ["/copy/project/a.py"]
