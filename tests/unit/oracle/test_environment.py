from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from regreen.oracle.environment import for_interpreter, for_models


def make_venv(folder: Path) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "pyvenv.cfg").touch()
    return folder / "bin" / "python"


def test_the_projects_environment_is_active(tmp_path: Path) -> None:
    python = make_venv(tmp_path / ".venv")
    env = for_interpreter({"PATH": os.pathsep.join(["/usr/bin", "/bin"]), "LANG": "C"}, python)
    assert env["PATH"].split(os.pathsep) == [str(python.parent), "/usr/bin", "/bin"]
    assert env["VIRTUAL_ENV"] == str(tmp_path / ".venv")
    assert env["LANG"] == "C"


def test_another_active_environment_is_not(tmp_path: Path) -> None:
    env = for_interpreter({"VIRTUAL_ENV": "/other"}, tmp_path / "bin" / "python3")
    assert "VIRTUAL_ENV" not in env
    assert env["PATH"] == str(tmp_path / "bin")


def test_what_belongs_to_our_interpreter_or_test_run_is_taken_out(tmp_path: Path) -> None:
    ours = ("PYTHONHOME", "__PYVENV_LAUNCHER__", "PYTEST_CURRENT_TEST", "PYTEST_XDIST_WORKER")
    users = ("PYTHONPATH", "PYTEST_ADDOPTS", "PYTHONWARNINGS", "REGREEN_NO_FORK")
    env = for_interpreter(dict.fromkeys(ours + users, "x"), tmp_path / "python")
    assert set(env) == {*users, "PATH"}


def test_our_own_environment_leaves_path_but_a_system_folder_never_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = os.pathsep.join(["/ours/bin", "/usr/bin"])
    monkeypatch.setattr(sys, "prefix", "/ours")
    monkeypatch.setattr(sys, "base_prefix", "/usr")
    python = tmp_path / "python"
    assert for_interpreter({"PATH": path}, python)["PATH"].split(os.pathsep) == [str(tmp_path), "/usr/bin"]
    monkeypatch.setattr(sys, "base_prefix", "/ours")  # Regreen runs in the system's Python
    assert for_interpreter({"PATH": path}, python)["PATH"].split(os.pathsep)[1:] == ["/ours/bin", "/usr/bin"]


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("OPENAI_API_KEY", "x", False),
        ("ANTHROPIC_AUTH_TOKEN", "x", False),
        ("AZURE_OPENAI_API_KEY", "x", False),
        ("HF_TOKEN", "x", False),
        ("gemini_api_key", "x", False),
        ("MY_KEY", "sk-ant-0123456789abcdefghij", False),
        ("WHATEVER", "AIzaSyA0123456789abcdefghij", False),
        ("OPENAI_BASE_URL", "http://localhost", True),
        ("DJANGO_SECRET_KEY", "x", True),
        ("GITHUB_TOKEN", "x", True),
        ("KEYBOARD", "sk-short", True),
        ("SHOP_OPENAI_API_KEY_NAME", "x", True),
    ],
)
def test_keys_of_language_models_are_not_for_tests(name: str, value: str, kept: bool) -> None:
    assert (name in for_interpreter({name: value}, Path("/usr/bin/python3"))) is kept


def test_what_a_model_wrote_sees_what_programs_need_and_what_is_named(tmp_path: Path) -> None:
    python = make_venv(tmp_path / ".venv")
    needed = ("HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "REGREEN_NO_FORK")
    users = ("FOO", "PYTHONPATH", "AWS_PROFILE", "SSH_AUTH_SOCK", "HOMEBREW", "REGREEN_X")
    env = for_interpreter({**dict.fromkeys(needed + users, "x"), "OPENAI_API_KEY": "x"}, python)
    assert set(for_models(env, ())) == {*needed, "PATH", "VIRTUAL_ENV"}
    assert set(for_models(env, ("FOO", "OPENAI_API_KEY"))) == {*needed, "PATH", "VIRTUAL_ENV", "FOO"}
