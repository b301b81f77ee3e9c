"""Is every small project healed by the real command: seen red, fixed, proven, and nothing else changed?"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.cli.commands import BRIEF, PLAIN, Regreen, events, tree

PROJECTS = Path(__file__).parent / "projects"
NAMES = sorted(folder.name for folder in PROJECTS.iterdir() if (folder / "before").is_dir())


def copied(name: str, to: Path) -> Path:
    project = to / name
    shutil.copytree(PROJECTS / name / "before", project)
    if (project / "pyproject.toml").exists():  # the others are searched as far as it goes
        with (project / "pyproject.toml").open("a") as config:
            config.write(BRIEF)
    return project


def shell(line: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_ADDOPTS": "-p no:cacheprovider"}
    return subprocess.run(
        line, shell=True, env=environment, capture_output=True, encoding="utf-8", check=False
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_red_test_gets_a_verified_fix(
    name: str, regreen: Regreen, request: pytest.FixtureRequest
) -> None:
    project = copied(name, regreen.cwd)
    python = request.getfixturevalue("editable") if name == "editable_install" else PLAIN
    before = tree(project)

    patch = regreen.cwd / "fix.patch"
    run = regreen("heal", project, "--json", "--patch", patch, "--interpreter", python)

    results = events(run, "result")
    assert {(one["nodeid"], one["outcome"]) for one in results} == {
        (one["nodeid"], "VERIFIED") for one in events(run, "failure")
    }, run.stderr
    assert results
    assert run.returncode == 0
    assert tree(project) == before, "nothing is written without --apply"

    assert all(shell(one["reproduce"]).returncode != 0 for one in results), "the proof needs the fix"
    subprocess.run(["git", "apply", str(patch)], cwd=project, check=True)
    for one in results:
        proof = shell(one["reproduce"])
        assert proof.returncode == 0, proof.stdout
    whole = shell(f"cd {project} && {python} -m pytest")
    assert whole.returncode == 0, whole.stdout

    changed = {file for file, data in tree(project).items() if data != before[file]}
    assert changed == set(tree(PROJECTS / name / "after")), "only the file with the bug"


def test_applied_fixes_can_be_taken_back(regreen: Regreen) -> None:
    project = copied("parametrised", regreen.cwd)
    before = tree(project)
    run = regreen("heal", project, "--json", "--apply", "--interpreter", str(PLAIN))
    assert run.returncode == 0, run.stderr
    [summary] = events(run, "summary")
    assert summary["applied"] == [str(project / "lib/roman.py")]
    assert tree(project)["lib/roman.py"] == (PROJECTS / "parametrised/after/lib/roman.py").read_bytes()
    again = regreen("heal", project, "--interpreter", str(PLAIN))
    assert again.stdout.startswith("Nothing is red: 10 tests")
    assert shell(summary["undo"]).returncode == 0
    assert tree(project) == before
