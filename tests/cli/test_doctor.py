"""Does `regreen doctor` show everything a run depends on, with a hint wherever it is not right?"""

from __future__ import annotations

import json
import sys
import venv
from pathlib import Path
from typing import Any

import pytest
from tests.cli.commands import Regreen, tree

ITEMS = [
    "project",
    "interpreter",
    "pytest",
    "rootdir",
    "config file",
    "private copy",
    "copied",
    "isolation",
    "watch",
    "trust",
    "model",
]


@pytest.fixture
def shop(regreen: Regreen) -> Path:
    folder = regreen.cwd / "shop"
    folder.mkdir()
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_a.py").write_text("def test_a(): pass\n")
    return folder


def checkup(
    regreen: Regreen, *arguments: str | Path
) -> tuple[int, dict[str, dict[str, Any]], dict[str, Any]]:
    """The exit status, the items by name, and the project's whole object."""
    run = regreen("doctor", "--json", *arguments)
    [project] = json.loads(run.stdout)["projects"]
    return run.returncode, {item["name"]: item for item in project["items"]}, project


def test_everything_a_run_depends_on_is_shown(regreen: Regreen, shop: Path) -> None:
    before = tree(regreen.cwd)
    status, items, project = checkup(regreen, shop, "--interpreter", sys.executable)
    assert status == 0
    assert list(items) == ITEMS
    assert str(shop) in items["project"]["value"]
    assert sys.executable in items["interpreter"]["value"]
    assert items["pytest"]["value"] == pytest.__version__
    assert items["rootdir"]["value"] == str(shop)
    assert items["config file"]["value"] == str(shop / "pytest.ini")
    assert str(regreen.home / "cache") in items["private copy"]["value"]
    assert items["copied"]["value"].startswith("2 files, ")
    assert items["model"]["value"].startswith("off")
    assert [step["chosen"] for step in project["interpreter_search"]] == [True]
    assert tree(regreen.cwd) == before


def test_a_person_reads_the_same_with_marks(regreen: Regreen, shop: Path) -> None:
    run = regreen("doctor", shop, "--interpreter", sys.executable)
    assert run.returncode == 0
    for name in ITEMS:
        assert f"✔ {name} " in run.stdout
    assert f"→ setting regreen.interpreter = {sys.executable}" in run.stdout


def test_every_step_of_the_search_is_explained(regreen: Regreen, shop: Path) -> None:
    _, _, project = checkup(regreen, shop)
    steps = project["interpreter_search"]
    assert "beside the project" in steps[0]["place"]
    assert sum(step["chosen"] for step in steps) == 1
    assert all(step["result"] for step in steps)


def test_a_missing_interpreter_has_a_hint(regreen: Regreen, shop: Path) -> None:
    status, items, project = checkup(regreen, shop, "--interpreter", "./no-such-python")
    assert (status, project["ok"]) == (2, False)
    assert "no-such-python" in items["interpreter"]["value"]
    assert items["interpreter"]["hint"]


def test_a_missing_pytest_has_a_hint_that_installs_it(regreen: Regreen, shop: Path) -> None:
    venv.create(shop / ".venv", symlinks=sys.platform != "win32", with_pip=False)
    status, items, _ = checkup(regreen, shop, "--interpreter", shop / ".venv/bin/python")
    assert status == 2
    assert items["pytest"]["ok"] is False
    assert "-m pip install pytest" in items["pytest"]["hint"]


def test_unittest_projects_are_lent_pytest(regreen: Regreen) -> None:
    folder = regreen.cwd / "old"
    folder.mkdir()
    (folder / "setup.py").write_text("")
    (folder / "test_a.py").write_text(
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n"
    )
    venv.create(folder / ".venv", symlinks=sys.platform != "win32", with_pip=False)
    status, items, _ = checkup(regreen, folder, "--interpreter", folder / ".venv/bin/python")
    assert (status, items["pytest"]["ok"]) == (0, True)
    assert "lends its own" in items["pytest"]["value"]


def test_large_files_that_are_not_copied_are_named(regreen: Regreen, shop: Path) -> None:
    (shop / "pyproject.toml").write_text("[tool.regreen.mirror]\nmaxFileMegabytes = 1\n")
    with (shop / "huge.bin").open("wb") as file:
        file.truncate(2_000_000)
    _, items, _ = checkup(regreen, shop, "--interpreter", sys.executable)
    assert "huge.bin" in items["not copied"]["value"]
    assert "maxFileMegabytes" in items["not copied"]["hint"]


def test_what_the_repository_may_not_set_is_named(regreen: Regreen, shop: Path) -> None:
    (shop / "pyproject.toml").write_text('[tool.regreen]\ninterpreter = "/bin/evil"\n')
    _, items, _ = checkup(regreen, shop)
    assert "regreen.interpreter" in items["settings"]["value"]
    assert "evil" not in items["interpreter"]["value"]


def test_trust_is_shown_with_its_reason(regreen: Regreen, shop: Path) -> None:
    _, items, _ = checkup(regreen, shop)
    assert "not trusted" in items["trust"]["value"]
    assert "regreen trust" in items["trust"]["hint"]
    regreen("trust", regreen.cwd)
    _, items, _ = checkup(regreen, shop)
    assert "is trusted" in items["trust"]["value"]


def test_several_projects_are_all_examined(regreen: Regreen) -> None:
    for name in ("a", "b"):
        (regreen.cwd / name).mkdir()
        (regreen.cwd / name / "pytest.ini").write_text("[pytest]\n")
    run = regreen("doctor", "--json")
    assert [Path(one["root"]).name for one in json.loads(run.stdout)["projects"]] == ["a", "b"]


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("isolation.level=none", "none: test runs can do whatever you can"),
        ("regreen.isolation.network=true", "partial: test runs can use the network"),
    ],
)
def test_isolation_that_a_setting_takes_away_is_not_claimed(
    regreen: Regreen, shop: Path, setting: str, said: str
) -> None:
    status, items, _ = checkup(regreen, shop, "--interpreter", sys.executable, "--set", setting)
    assert status == 0
    assert items["isolation"]["value"].startswith(said)
    assert "regreen.isolation." in items["isolation"]["hint"]


def test_services_of_a_compose_file_are_named_until_they_are_in_the_setting(
    regreen: Regreen, shop: Path
) -> None:
    (shop / "compose.yaml").write_text(
        "services:\n  db:\n    ports:\n      - 5433:5432\n  far:\n    ports: ['10.0.0.7:1:1']\n  cache:\n    ports: ['6380:6379']\n"
    )

    def items(*settings: str) -> dict[str, dict[str, str]]:
        asked = [part for one in settings for part in ("--set", one)]
        return checkup(regreen, shop, "--interpreter", sys.executable, *asked)[1]

    found = items('isolation.services=["6380"]')
    assert found["services"]["value"] == "out of reach of test runs: 127.0.0.1:5433 (db of the compose file)"
    _, _, value = found["services"]["hint"].partition(" = ")
    assert value == '["6380", "127.0.0.1:5433"]'
    found = items(f"isolation.services={value}")
    assert "services" not in found
    assert "127.0.0.1:5433" in found["isolation"]["value"]
    assert "services" not in items("isolation.network=true")


def test_databases_of_djangos_settings_are_named_too_and_no_service_twice(
    regreen: Regreen, shop: Path
) -> None:
    (shop / "compose.yaml").write_text("services:\n  db:\n    ports: ['5432:5432']\n")
    (shop / "manage.py").write_text('os.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings")\n')
    postgres = '"ENGINE": "django.db.backends.postgresql"'
    (shop / "settings.py").write_text(
        f'DATABASES = {{"default": {{{postgres}}}, "old": {{{postgres}, "PORT": "5433"}}}}\n'
    )
    _, items, _ = checkup(regreen, shop, "--interpreter", sys.executable)
    said = '127.0.0.1:5432 (db of the compose file), localhost:5433 (DATABASES["old"] of Django)'
    assert items["services"]["value"] == f"out of reach of test runs: {said}"


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("isolation.netwrok=true", "Did you mean `regreen.isolation.network`?"),
        ("isolation.network=maybe", "must be true or false"),
        ("isolation.network", "is not of the form NAME=VALUE"),
    ],
)
def test_a_setting_that_makes_no_sense_is_named(
    regreen: Regreen, shop: Path, setting: str, said: str
) -> None:
    run = regreen("doctor", shop, "--set", setting)
    assert run.returncode == 2
    assert said in run.stderr
