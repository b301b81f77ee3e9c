from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from regreen.errors import EnvironmentProblem
from regreen.oracle import lend

VERSION = sys.version_info[:3]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REGREEN_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_python_without_pytest_runs_tests_with_the_lent_one(tmp_path: Path) -> None:
    (folder,) = lend.lend_pytest(VERSION)
    (tmp_path / "test_a.py").write_text("import pytest\ndef test_a(): assert pytest.__version__\n")
    code = (
        "import sys; sys.path.append(sys.argv[1]); import pytest\n"
        "assert pytest.__file__.startswith(sys.argv[1])\n"
        "sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', sys.argv[2]]))"
    )
    base = Path(sys.base_prefix) / "bin" / f"python{VERSION[0]}.{VERSION[1]}"
    done = subprocess.run(
        [base, "-I", "-S", "-c", code, folder, tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_only_python_text_and_metadata_are_lent(cache: Path) -> None:
    (folder,) = lend.lend_pytest(VERSION)
    assert folder.is_relative_to(cache)
    names = {path.name for path in folder.iterdir()}
    assert {"pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments"} <= names
    suffixes = {path.suffix for path in folder.rglob("*") if path.is_file()}
    assert suffixes == {".py", "", ".txt"}
    version = importlib.metadata.version("pytest")
    found = {dist.name: dist.version for dist in importlib.metadata.distributions(path=[str(folder)])}
    assert found["pytest"] == version


def test_the_second_time_nothing_is_written() -> None:
    (folder,) = lend.lend_pytest(VERSION)
    before = (folder / "pytest" / "__init__.py").stat()
    assert lend.lend_pytest(VERSION) == (folder,)
    after = (folder / "pytest" / "__init__.py").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_two_at_once_lend_the_same_whole_folder() -> None:
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: lend.lend_pytest(VERSION), range(2))
    assert first == second
    assert [path.name for path in first[0].parent.iterdir()] == [first[0].name]


def test_a_python_that_ours_is_too_new_for_is_refused_with_the_reason() -> None:
    needs = importlib.metadata.metadata("pytest")["Requires-Python"]
    with pytest.raises(EnvironmentProblem, match=rf"Python 3\.6\.15.* needs Python {needs}") as caught:
        lend.lend_pytest((3, 6, 15))
    assert "Install pytest" in caught.value.hint


def names_in(folder: Path) -> set[str]:
    return {dist.name for dist in importlib.metadata.distributions(path=[str(folder)])}


def test_an_old_python_gets_what_it_needs_besides() -> None:
    (old,), (new,) = lend.lend_pytest((3, 10, 13)), lend.lend_pytest((3, 13, 0))
    assert names_in(old) - names_in(new) == {"exceptiongroup", "tomli", "typing_extensions"}
    assert old != new


def test_django_projects_get_its_plugin() -> None:
    (folder,) = lend.lend_pytest(VERSION, django=True)
    assert names_in(folder) - names_in(*lend.lend_pytest(VERSION)) == {"pytest-django"}
    assert (
        "django = pytest_django.plugin" in next(folder.glob("pytest_django-*/entry_points.txt")).read_text()
    )


def test_what_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lend, "DJANGO", "regreen-has-no-such-thing")
    with pytest.raises(EnvironmentProblem, match="regreen-has-no-such-thing is not there"):
        lend.lend_pytest(VERSION, django=True)
