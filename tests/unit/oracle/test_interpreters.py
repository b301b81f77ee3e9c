"""Every case is a real folder tree; the interpreters in it are links to real ones."""

from __future__ import annotations

import base64
import hashlib
import os
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from regreen.errors import EnvironmentProblem
from regreen.oracle import interpreters, places
from regreen.settings import Settings
from regreen.values import Project

BASE = Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"


@pytest.fixture(autouse=True)
def fresh_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreters, "_checked", {})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work" / "shop"
    folder.mkdir(parents=True)
    return folder


def project(root: Path, workspace: Path | None = None) -> Project:
    return Project(root=root, workspace=workspace or root)


def make_env(folder: Path, *, has_pytest: bool = True) -> Path:
    """A real environment without pip; pytest is a folder that looks installed."""
    venv.EnvBuilder(symlinks=True, with_pip=False).create(folder)
    if has_pytest:
        give_pytest(folder)
    return folder / "bin" / "python"


def give_pytest(folder: Path, version: str = "8.0.0") -> None:
    packages = next(folder.glob("lib/python*/site-packages"))
    (packages / "pytest.py").write_text(f"__version__ = {version!r}\n")
    info = packages / f"pytest-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: pytest\nVersion: {version}\n")


def make_link(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(BASE)
    return path


def poetry_name(root: Path, name: str) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(os.path.realpath(root).encode()).digest()).decode()[:8]
    return f"{name}-{digest}"


Tree = Callable[[Path, Path, dict[str, str]], Path]
"""Builds a tree from (project root, home, environment) and gives the interpreter that must be found."""


def dot_venv(root: Path, home: Path, env: dict[str, str]) -> Path:
    make_env(root / "venv")
    return make_env(root / ".venv")


def plain_venv(root: Path, home: Path, env: dict[str, str]) -> Path:
    return make_env(root / "venv")


def odd_name(root: Path, home: Path, env: dict[str, str]) -> Path:
    (root / "env").mkdir()  # the name alone makes none
    return make_env(root / "my-python")


def parent_folder(root: Path, home: Path, env: dict[str, str]) -> Path:
    return make_env(root.parent / ".venv")


def nearest_first(root: Path, home: Path, env: dict[str, str]) -> Path:
    make_env(root.parent / ".venv")
    return make_env(root / "venv")


def venv_file(root: Path, home: Path, env: dict[str, str]) -> Path:
    (root / ".venv").write_text("../elsewhere\n")
    return root / ".." / "elsewhere" / "bin" / "python" if make_env(root.parent / "elsewhere") else root


def with_pytest_first(root: Path, home: Path, env: dict[str, str]) -> Path:
    make_env(root / ".venv", has_pytest=False)
    return make_env(root / ".tox" / "py311")


def without_pytest_rather_than_a_strange_one(root: Path, home: Path, env: dict[str, str]) -> Path:
    env["VIRTUAL_ENV"] = str(make_env(home / "other").parent.parent)
    return make_env(root / ".venv", has_pytest=False)


def broken_is_passed_over(root: Path, home: Path, env: dict[str, str]) -> Path:
    broken = make_env(root / ".venv")
    broken.unlink()
    broken.symlink_to("/nowhere/python3.7")
    (broken.parent / "python3").unlink()
    return make_env(root / "venv")


def tox(root: Path, home: Path, env: dict[str, str]) -> Path:
    (root / ".tox" / ".pkg").mkdir(parents=True)
    return make_env(root / ".tox" / "py")


def nox(root: Path, home: Path, env: dict[str, str]) -> Path:
    return make_env(root / ".nox" / "tests")


def uv_variable(root: Path, home: Path, env: dict[str, str]) -> Path:
    (root / "uv.lock").touch()
    env["UV_PROJECT_ENVIRONMENT"] = str(home / "uv-env")
    return make_env(home / "uv-env")


def pdm(root: Path, home: Path, env: dict[str, str]) -> Path:
    python = make_env(home / "pdm-env")
    (root / ".pdm-python").write_text(f"{python}\n")
    return python


def poetry(root: Path, home: Path, env: dict[str, str]) -> Path:
    (root / "pyproject.toml").write_text('[tool.poetry]\nname = "My Shop"\n')
    parent = home / ".cache" / "pypoetry" / "virtualenvs"
    make_env(parent / (poetry_name(root, "my_shop") + "-py3.9"))
    make_env(parent / "other-AAAAAAAA-py3.11")
    return make_env(parent / (poetry_name(root, "my_shop") + "-py3.10"))


def poetry_chosen(root: Path, home: Path, env: dict[str, str]) -> Path:
    (root / "poetry.lock").touch()
    (root / "pyproject.toml").write_text('[project]\nname = "shop"\n')
    env["POETRY_VIRTUALENVS_PATH"] = str(home / "envs")
    make_env(home / "envs" / (poetry_name(root, "shop") + "-py3.12"))
    (home / "envs" / "envs.toml").write_text(
        f'[{poetry_name(root, "shop")}]\nminor = "3.9"\npatch = "3.9.18"\n'
    )
    return make_env(home / "envs" / (poetry_name(root, "shop") + "-py3.9"))


def pipenv(root: Path, home: Path, env: dict[str, str]) -> Path:
    (root / "Pipfile").touch()
    parent = home / ".local" / "share" / "virtualenvs"
    make_env(parent / "shop-AAAAAAAA")
    (parent / "shop-AAAAAAAA" / ".project").write_text("/another/shop")
    python = make_env(parent / "shop-BBBBBBBB")
    (parent / "shop-BBBBBBBB" / ".project").write_text(str(root))
    return python


def hatch(root: Path, home: Path, env: dict[str, str]) -> Path:
    (root / "pyproject.toml").write_text('[project]\nname = "My.Shop"\n[tool.hatch.envs.default]\n')
    env["HATCH_DATA_DIR"] = str(home / "hatch")
    parent = home / "hatch" / "env" / "virtual" / "my-shop" / "Xy12"
    make_env(parent / "my-shop")
    return make_env(parent / "hatch-test.py3.11")


def conda_beside(root: Path, home: Path, env: dict[str, str]) -> Path:
    (root / "conda" / "conda-meta").mkdir(parents=True)
    python = make_env(root / "conda")
    (root / "conda" / "pyvenv.cfg").unlink()
    return python


def conda_named(root: Path, home: Path, env: dict[str, str]) -> Path:
    (root / "environment.yml").write_text("name: shop\ndependencies: [python]\n")
    (home / ".conda").mkdir()
    (home / ".conda" / "environments.txt").write_text(f"{home / 'envs/other'}\n{home / 'envs/shop'}\n")
    return make_env(home / "envs" / "shop")


def virtual_env(root: Path, home: Path, env: dict[str, str]) -> Path:
    env["VIRTUAL_ENV"] = str(home / "active")
    return make_env(home / "active")


def conda_prefix(root: Path, home: Path, env: dict[str, str]) -> Path:
    env["CONDA_PREFIX"] = str(home / "conda")
    return make_env(home / "conda")


def on_path(root: Path, home: Path, env: dict[str, str]) -> Path:
    env["PATH"] = os.pathsep.join([str(home / "nothing"), str(home / "one"), str(home / "two")])
    (home / "one").mkdir()
    (home / "one" / "python3").write_text("#!/bin/sh\nexit 3\n")
    (home / "one" / "python3").chmod(0o755)
    return make_link(home / "two" / "python")


def own_as_the_last(root: Path, home: Path, env: dict[str, str]) -> Path:
    env["PATH"] = str(Path(sys.prefix) / "bin")
    return Path(sys.executable)


TREES: list[Tree] = [
    dot_venv, plain_venv, odd_name, parent_folder, nearest_first, venv_file, with_pytest_first,
    without_pytest_rather_than_a_strange_one, broken_is_passed_over, tox, nox, uv_variable, pdm, poetry,
    poetry_chosen, pipenv, hatch, conda_beside, conda_named, virtual_env, conda_prefix, on_path, own_as_the_last,
]  # fmt: skip


@pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.__name__)
async def test_finds_the_interpreter_of(tree: Tree, root: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    env = {"HOME": str(home), "PATH": ""}
    expected = tree(root, home, env)
    result = await interpreters.search(project(root, root.parent), Settings(), env)
    assert result.interpreter is not None
    assert result.interpreter.executable == expected
    assert result.interpreter.version == sys.version_info[:3]
    (chosen,) = [step for step in result.steps if step.chosen]
    assert chosen.place == result.interpreter.found_by
    assert chosen.result.startswith("Python 3.")
    assert result.interpreter.steps == result.steps


@pytest.mark.parametrize("form", ["absolute", "relative", "folder", "variable", "home", "name", "env"])
async def test_the_setting_outranks_everything(
    form: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_env(root / ".venv")
    python = make_env(tmp_path / "home" / "mine")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    env = {"HOME": str(tmp_path / "home"), "PATH": str(tmp_path / "named"), "MINE": str(python)}
    if form == "name":
        python = make_link(tmp_path / "named" / "python3.99")
    setting = {
        "absolute": str(python),
        "relative": "../../home/mine/bin/python",
        "folder": str(tmp_path / "home" / "mine"),
        "variable": "${workspaceFolder}/../../home/mine/bin/python",
        "home": "~/mine/bin/python",
        "name": "python3.99",
        "env": "${env:MINE}",
    }[form]
    result = await interpreters.search(project(root), Settings(interpreter=setting), env)
    assert result.interpreter is not None
    assert result.interpreter.executable == python
    assert len(result.steps) == 1


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ("/nowhere/python", "not there"),
        ("python3.99", "not on PATH"),
        ("empty", "no Python in it"),
        ("script", "status 3"),
    ],
)
async def test_a_wrong_setting_is_a_problem_and_nothing_else_is_tried(
    setting: str, why: str, root: Path
) -> None:
    make_env(root / ".venv")
    (root / "empty").mkdir()
    (root / "script").write_text("#!/bin/sh\necho oops >&2; exit 3\n")
    (root / "script").chmod(0o755)
    with pytest.raises(EnvironmentProblem, match=why) as caught:
        await interpreters.find(project(root), Settings(interpreter=setting), {"PATH": ""})
    assert "Correct the setting" in caught.value.hint


async def test_nothing_at_all_is_a_problem_that_says_what_to_do(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    result = await interpreters.search(project(root), Settings(), {"PATH": "", "HOME": str(root)})
    assert result.interpreter is None
    assert result.problem is not None
    assert "python3 -m venv .venv" in result.problem.hint
    assert [step.result for step in result.steps[:4]] == ["not there", "not there", "not set", "not set"]


def fake_python(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("""echo '{"version": [3, 8, 10], "pytest": null}'""", "is Python 3.8.10, too old: 3.9 or newer"),
        ("""echo '{"version": [2, 7, 18], "pytest": null}'""", "is Python 2.7.18, too old"),
        ("echo hello", "is not a Python"),
        ("""echo '{"version": 3}'""", "is not a Python"),
        ("echo broken >&2; exit 127", "exit status 127, broken"),
        ("kill -SEGV $$", "exit status -11"),
    ],
)
async def test_an_interpreter_that_cannot_be_used_says_why(text: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentProblem, match=why):
        await interpreters.check(fake_python(tmp_path / "python", text))


async def test_a_file_that_is_no_program_does_not_start(tmp_path: Path) -> None:
    (tmp_path / "python").write_text("text")
    with pytest.raises(EnvironmentProblem, match="does not start: Permission denied"):
        await interpreters.check(tmp_path / "python")
    with pytest.raises(EnvironmentProblem, match="cannot be read"):
        await interpreters.check(tmp_path / "nothing")


async def test_an_interpreter_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreters, "CHECK_SECONDS", 0.2)
    with pytest.raises(EnvironmentProblem, match=r"does not answer within 0\.2 s"):
        await interpreters.check(fake_python(tmp_path / "python", "sleep 3600"))


async def test_chatter_of_site_customisations_is_no_answer(tmp_path: Path) -> None:
    path = fake_python(tmp_path / "python", f'echo "welcome"; exec {BASE} "$@"')
    assert (await interpreters.check(path))[0] == sys.version_info[:3]


async def test_pytest_is_seen_once_it_is_installed_and_then_remembered(root: Path) -> None:
    python = make_env(root / ".venv", has_pytest=False)
    assert (await interpreters.check(python))[1] is None
    give_pytest(root / ".venv", "7.4.4")
    assert (await interpreters.check(python))[1] == "7.4.4"
    packages = next((root / ".venv").glob("lib/python*/site-packages"))
    (packages / "pytest.py").write_text("raise SystemExit")
    assert (await interpreters.check(python))[1] == "7.4.4"  # from memory


async def test_a_module_called_pytest_in_the_folder_is_not_pytest(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "pytest.py").write_text("print('ran')")
    (root / "json.py").write_text("raise SystemExit('shadowed')")
    monkeypatch.chdir(root)
    assert (await interpreters.check(make_env(root / ".venv", has_pytest=False)))[1] is None


@pytest.mark.parametrize("layout", ["Scripts/python.exe", "python.exe"])
def test_windows_layouts_are_found(layout: str, root: Path) -> None:
    python = root / ".venv" / layout
    python.parent.mkdir(parents=True)
    python.write_text("MZ")
    first = next(iter(places.places(project(root), "", {"PATH": ""}, windows=True)))
    assert (first.executable, first.rank) == (python, places.PROJECT)


def test_the_stub_of_the_windows_shop_is_left_out(root: Path, tmp_path: Path) -> None:
    for name, content in (("WindowsApps", ""), ("Python311", "MZ")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "python.exe").write_text(content)
        (tmp_path / name / "python.exe").chmod(0o755)
    env = {
        "PATH": os.pathsep.join([str(tmp_path / "WindowsApps"), str(tmp_path / "Python311")]),
        "USERPROFILE": str(root),
    }
    found = [p for p in places.places(project(root), "", env, windows=True) if p.rank == places.SYSTEM]
    assert [place.executable for place in found] == [tmp_path / "Python311" / "python.exe"]


def test_our_own_environment_is_named_but_not_taken(root: Path) -> None:
    env = {"PATH": str(Path(sys.prefix) / "bin"), "VIRTUAL_ENV": sys.prefix}
    looked = list(places.places(project(root), "", env))
    assert [p.note for p in looked if p.text.startswith("VIRTUAL_ENV")] == ["is Regreen's own environment"]
    assert all(p.executable is None for p in looked if p.rank in (places.ACTIVE, places.SYSTEM))
    assert looked[-1].executable == Path(sys.executable)


def test_a_broken_environment_says_what_is_gone(root: Path) -> None:
    (root / ".venv" / "bin").mkdir(parents=True)
    (root / ".venv" / "bin" / "python").symlink_to("/nowhere/python3.7")
    first = next(iter(places.places(project(root), "", {"PATH": ""})))
    assert first.note == "broken: its Python /nowhere/python3.7 is gone"


def test_a_broken_pyproject_stops_nothing(root: Path) -> None:
    (root / "pyproject.toml").write_text("[[[")
    assert list(places.places(project(root), "", {"PATH": ""}))
