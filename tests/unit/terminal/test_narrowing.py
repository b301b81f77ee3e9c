"""Do `--last-failed` and `--junit` keep to what was asked for, and say when they know nothing?"""

from __future__ import annotations

from pathlib import Path

import pytest

from regreen.errors import UsageError
from regreen.terminal.narrowing import from_junit, from_last_failed
from regreen.values import Project
from regreen.workspace.arguments import Target

REPORT = """<testsuites><testsuite>
<testcase classname="tests.test_cart" name="test_a"><failure/></testcase>
<testcase classname="tests.deep.test_b" name="test_b[1]"><failure/></testcase>
</testsuite></testsuites>"""
ALL = ("tests/test_cart.py::test_a", "tests/deep/test_b.py::test_b[1]")
NARROW = [
    ((), ALL),
    (("tests/deep",), ALL[1:]),
    (("tests/deep/test_b.py",), ALL[1:]),
    (("tests/deep/test_b.py::test_b",), ALL[1:]),
    (("tests/deep/test_b.py::test",), ()),
    (("tests/test_cart.py::test_a", "tests/deep"), ALL),
]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "shop"
    (root / "tests/deep").mkdir(parents=True)
    (root / "tests/test_cart.py").write_text("def test_a(): pass")
    (root / "tests/deep/test_b.py").write_text("def test_b(): pass")
    (root / "report.xml").write_text(REPORT)
    cache = root / ".pytest_cache/v/cache"
    cache.mkdir(parents=True)
    (cache / "lastfailed").write_text('{{"{}": true, "{}": true}}'.format(*ALL))
    return Project(root, root)


@pytest.mark.parametrize(("asked", "red"), NARROW)
def test_the_cache_keeps_to_the_arguments(
    project: Project, asked: tuple[str, ...], red: tuple[str, ...]
) -> None:
    assert from_last_failed(Target(project, asked)).nodeids == red


@pytest.mark.parametrize(("asked", "red"), NARROW)
def test_a_report_keeps_to_the_arguments(
    project: Project, asked: tuple[str, ...], red: tuple[str, ...]
) -> None:
    [target] = from_junit([Target(project, asked)], project.root / "report.xml")
    assert target.nodeids == red


def test_a_report_of_several_projects_is_split(project: Project, tmp_path: Path) -> None:
    other = Project(tmp_path, tmp_path)
    first, second = from_junit([Target(other, ()), Target(project, ())], project.root / "report.xml")
    assert (first.nodeids, second.nodeids) == ((), ALL)


def test_a_report_of_another_project_is_refused(project: Project, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"tests\.test_cart"):
        from_junit([Target(Project(tmp_path / "x", tmp_path), ())], project.root / "report.xml")


def test_no_cache_is_not_the_same_as_nothing_failed(project: Project) -> None:
    cache = project.root / ".pytest_cache/v/cache"
    (cache / "lastfailed").unlink()
    assert from_last_failed(Target(project, ())).nodeids == ()
    cache.rmdir()
    with pytest.raises(UsageError, match="no pytest cache"):
        from_last_failed(Target(project, ()))
