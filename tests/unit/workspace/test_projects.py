"""Projects are found where pytest would find them, and arguments lead to the right tests of the right project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from _pytest.config.findpaths import load_config_dict_from_file, locate_config
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regreen.errors import UsageError
from regreen.workspace.arguments import Target, resolve, workspace_outside_git
from regreen.workspace.git import GitCommand
from regreen.workspace.projects import discover, locate

CONTENTS = {
    "pytest.toml": ["", "[pytest]\naddopts = []\n", "[pytest]\n"],
    ".pytest.toml": ["[pytest]\naddopts = []\n"],
    "pytest.ini": ["", "[pytest]\n", "[other]\n"],
    ".pytest.ini": ["", "[pytest]\naddopts = -q\n"],
    "pyproject.toml": [
        "",
        "[project]\nname = 'x'\n",
        "[tool.pytest]\naddopts = []\n",
        "[tool.pytest.ini_options]\n",
        "[tool.pytest.ini_options]\naddopts = '-q'\n",
        "[tool.pytest]\n",
    ],
    "tox.ini": ["", "[tox]\n", "[pytest]\n"],
    "setup.cfg": ["", "[metadata]\n", "[tool:pytest]\naddopts = -q\n"],
}


def put(root: Path, name: str, text: str = "") -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


chosen_files = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from(texts) for name, texts in CONTENTS.items()}
)


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(outer=chosen_files, inner=chosen_files)
def test_the_configuration_is_the_one_that_pytest_itself_chooses(
    outer: dict[str, str], inner: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    top = tmp_path_factory.mktemp("conf")
    for name, text in outer.items():
        put(top, name, text)
    for name, text in inner.items():
        put(top, f"inner/{name}", text)
    test = put(top, "inner/tests/test_a.py")
    _, wanted, _, _ = locate_config(top, [test.parent])
    found = locate(test, top)
    if wanted is not None and load_config_dict_from_file(wanted) is not None:
        assert (found.root, found.config_file) == (wanted.parent, wanted)
    else:  # pytest takes the nearest pyproject.toml, and so do we unless a nearer folder is a project
        assert found.config_file in {None, wanted}


def test_the_nearest_pytest_configuration_wins_over_nearer_markers(tmp_path: Path) -> None:
    put(tmp_path, "tox.ini", "[pytest]\n")
    put(tmp_path, "pkg/pyproject.toml", "[project]\n")
    project = locate(tmp_path / "pkg" / "tests" / "test_a.py", tmp_path)
    assert (project.root, project.config_file) == (tmp_path, tmp_path / "tox.ini")


@pytest.mark.parametrize("name", ["pyproject.toml", "setup.cfg", "tox.ini", "setup.py", "manage.py"])
def test_without_pytest_configuration_the_nearest_marker_wins(tmp_path: Path, name: str) -> None:
    put(tmp_path, "setup.py")
    put(tmp_path, f"pkg/{name}")
    assert locate(tmp_path / "pkg" / "tests" / "test_a.py", tmp_path).root == tmp_path / "pkg"


def test_the_workspace_is_not_left_and_is_the_project_when_nothing_tells(tmp_path: Path) -> None:
    put(tmp_path, "pytest.ini")
    work = tmp_path / "work"
    test = put(work, "tests/test_a.py")
    assert locate(test, work).root == work
    assert locate(test.parent, work).root == test.parent
    assert locate(test.parent, work, fallback=work).root == work
    assert locate(work / "not yet" / "there.py", work).root == work


def test_a_file_that_cannot_be_parsed_counts_so_that_pytest_says_so(tmp_path: Path) -> None:
    broken = put(tmp_path, "pkg/pyproject.toml", "[tool.pytest\n")
    put(tmp_path, "pytest.ini")
    assert locate(tmp_path / "pkg" / "test_a.py", tmp_path).config_file == broken


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        (
            {"test_a.py": "import unittest\nclass T(unittest.TestCase):\n  def test_a(self): pass\n"},
            "unittest",
        ),
        ({"test_a.py": "from unittest import TestCase\n", "test_b.py": "import pytest\n"}, "pytest"),
        ({"test_a.py": "def test_a(): pass\n"}, "pytest"),
        ({"test_a.py": "import unittest\n", "pytest.ini": ""}, "pytest"),
        ({"manage.py": "", "app/tests.py": "from django.test import TestCase\n"}, "django"),
        ({"manage.py": "", "setup.cfg": "[tool:pytest]\nDJANGO_SETTINGS_MODULE=x\n"}, "pytest"),
        ({"a.py": ""}, "pytest"),
    ],
)
def test_the_kind_tells_what_tests_are_written_for(tmp_path: Path, files: dict[str, str], kind: str) -> None:
    for name, text in files.items():
        put(tmp_path, name, text)
    assert locate(tmp_path, tmp_path).kind == kind


def test_discover_lists_every_project_and_enters_no_environment(tmp_path: Path) -> None:
    put(tmp_path, "a/pytest.ini")
    put(tmp_path, "a/examples/pyproject.toml")  # belongs to a: its tests run under a's configuration
    put(tmp_path, "a/inner/tox.ini", "[pytest]\n")
    put(tmp_path, "b/setup.py")
    put(tmp_path, "b/sub/pyproject.toml")
    for hidden in (".venv", "node_modules/x", ".git", "envs/conda"):
        put(tmp_path, f"{hidden}/pytest.ini")
    put(tmp_path, ".venv/pyvenv.cfg")
    put(tmp_path, "envs/conda/conda-meta/history")
    (tmp_path / "loop").symlink_to(tmp_path)
    found = discover(tmp_path)
    assert [p.root.relative_to(tmp_path).as_posix() for p in found] == ["a", "a/inner", "b", "b/sub"]
    for project in found:
        assert project == locate(project.root, tmp_path)
    put(tmp_path, "tests/test_loose.py")
    assert discover(tmp_path)[0].root == tmp_path
    assert [project.root for project in discover(tmp_path / "tests")] == [tmp_path / "tests"]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    put(root, "pytest.ini")
    put(root, "tests/test_cart.py")
    put(root, "tests/unit/test_deep.py")
    put(root, "tests/test_odd[1].py")
    return root


async def ids(arguments: list[str], cwd: Path) -> list[tuple[str, tuple[str, ...]]]:
    targets = await resolve(arguments, cwd, GitCommand())
    return [(target.project.root.name, target.nodeids) for target in targets]


@pytest.mark.parametrize(
    ("arguments", "inside", "nodeids"),
    [
        ([], "", ()),
        ([], "tests", ("tests",)),
        (["."], "", ()),
        (["tests"], "", ("tests",)),
        (["test_cart.py::test_a"], "tests", ("tests/test_cart.py::test_a",)),
        (["tests/test_cart.py::T::test_a[x::y/z]"], "", ("tests/test_cart.py::T::test_a[x::y/z]",)),
        (["../test_cart.py", "../test_cart.py"], "tests/unit", ("tests/test_cart.py",)),
        (["tests/test_cart.py::test_a"], "tests/unit", ("tests/test_cart.py::test_a",)),
        (["tests/test_odd[1].py"], "", ("tests/test_odd[1].py",)),
        (["tests/test_cart.py::a", "tests/unit"], "", ("tests/test_cart.py::a", "tests/unit")),
        (["tests/test_cart.py::a", "."], "", ()),
        ([".", "tests/test_cart.py::a"], "", ()),
    ],
)
async def test_arguments_become_node_ids_of_the_project(
    shop: Path, arguments: list[str], inside: str, nodeids: tuple[str, ...]
) -> None:
    assert await ids(arguments, shop / inside) == [("shop", nodeids)]


async def test_an_absolute_argument_leads_to_its_project_from_anywhere(shop: Path, tmp_path: Path) -> None:
    argument = f"{shop / 'tests' / 'test_cart.py'}::test_a"
    assert await ids([argument], tmp_path) == [("shop", ("tests/test_cart.py::test_a",))]


@pytest.mark.parametrize("argument", ["nowhere", "nowhere.py::test_a", "tests/nowhere", "tests[1]"])
async def test_an_argument_that_names_nothing_is_refused(shop: Path, argument: str) -> None:
    with pytest.raises(UsageError, match="no such file"):
        await resolve([argument], shop, GitCommand())


async def test_a_folder_of_projects_stands_for_all_of_them(tmp_path: Path) -> None:
    put(tmp_path, "repo/pyproject.toml", "[tool.ruff]\n")
    for name in ("a", "b"):
        put(tmp_path, f"repo/{name}/pytest.ini")
        put(tmp_path, f"repo/{name}/tests/test_x.py")
    assert await ids(["repo"], tmp_path) == [("a", ()), ("b", ())]
    assert await ids([], tmp_path / "repo") == [("a", ()), ("b", ())]
    assert await ids(["repo/a/tests", "repo/b"], tmp_path) == [("a", ("tests",)), ("b", ())]
    put(tmp_path, "repo/tests/test_own.py")
    assert await ids(["repo"], tmp_path) == [("repo", ()), ("a", ()), ("b", ())]


async def test_without_any_configuration_the_folder_the_person_is_in_is_the_project(tmp_path: Path) -> None:
    put(tmp_path, "plain/tests/test_a.py")
    assert await ids(["tests/test_a.py"], tmp_path / "plain") == [("plain", ("tests/test_a.py",))]
    assert await ids(["tests"], tmp_path / "plain") == [("plain", ("tests",))]
    assert await ids([str(tmp_path / "plain")], tmp_path / "plain" / "tests") == [("plain", ())]


def test_outside_of_git_the_home_folder_is_no_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    put(tmp_path, "pyproject.toml")
    test = put(tmp_path, "code/tests/test_a.py")
    assert workspace_outside_git(test, Path(os.sep)) == Path(os.sep)
    assert workspace_outside_git(test, tmp_path / "code") == tmp_path / "code"
    put(tmp_path, "code/setup.py")
    assert workspace_outside_git(test, tmp_path / "code" / "tests") == tmp_path / "code"


def test_targets_are_values() -> None:
    project = locate(Path.cwd(), Path.cwd())
    assert Target(project, ("a",)) == Target(project, ("a",))
