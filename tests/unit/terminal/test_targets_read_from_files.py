"""Are the red tests of a JUnit report and of pytest's cache the ones pytest itself meant?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from regreen.errors import UsageError
from regreen.terminal.junit import red_tests
from regreen.terminal.lastfailed import last_failed

RED = [
    "tests/unit/test_a.py::TestX::TestInner::test_in_class[a.b]",
    "tests/unit/test_a.py::test_setup_error",
    "tests/unit/test_a.py::test_plain[1]",
    "tests/unit/test_a.py::test_plain[x::y]",
    "tests/test_broken.py",
    "tests/test_unit.py::Case::test_method",
]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that a real pytest has run, leaving a report and a cache."""
    root = tmp_path_factory.mktemp("project")
    (root / "tests/unit").mkdir(parents=True)
    (root / "tests/unit/test_a.py").write_text(
        "import pytest\n"
        "class TestX:\n"
        "    class TestInner:\n"
        "        @pytest.mark.parametrize('v', ['a.b'])\n"
        "        def test_in_class(self, v): assert 0\n"
        "@pytest.fixture\n"
        "def broken(): raise OSError\n"
        "def test_setup_error(broken): pass\n"
        "@pytest.mark.parametrize('v', ['1', 'x::y'])\n"
        "def test_plain(v): assert 0\n"
        "def test_green(): pass\n"
    )
    (root / "tests/test_broken.py").write_text("import nothing_of_this_name\n")
    (root / "tests/test_unit.py").write_text(
        "import unittest\nclass Case(unittest.TestCase):\n    def test_method(self): self.fail()\n"
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--junit-xml=report.xml",
        "--continue-on-collection-errors",
    ]
    subprocess.run(
        [*command, "--rootdir=.", "-c", "/dev/null", "tests"], cwd=root, check=False, capture_output=True
    )
    return root


def test_every_red_test_of_a_report_has_its_node_id(project: Path) -> None:
    assert sorted(red_tests(project / "report.xml", project)) == sorted(RED)


def test_every_red_test_of_the_cache_has_its_node_id(project: Path) -> None:
    assert sorted(last_failed(project)) == sorted(RED)


def test_a_report_of_another_project_is_refused(project: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="None of the 6 red tests"):
        red_tests(project / "report.xml", tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{}", "is not XML"),
        ('<!DOCTYPE x [<!ENTITY a "aaaa">]><x>&a;</x>', "document type"),
    ],
)
def test_what_is_no_report_is_named(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "r.xml").write_text(text)
    with pytest.raises(UsageError, match=words):
        red_tests(tmp_path / "r.xml", tmp_path)


def test_a_missing_report_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        red_tests(tmp_path / "r.xml", tmp_path)


def test_a_green_report_has_no_red_tests(tmp_path: Path) -> None:
    (tmp_path / "r.xml").write_text(
        '<testsuites><testsuite><testcase classname="a" name="b"/></testsuite></testsuites>'
    )
    assert red_tests(tmp_path / "r.xml", tmp_path) == ()


def test_no_cache_is_not_the_same_as_nothing_failed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no pytest cache"):
        last_failed(tmp_path)
    (tmp_path / ".pytest_cache/v/cache").mkdir(parents=True)
    assert last_failed(tmp_path) == ()


def test_another_cache_folder_is_respected(tmp_path: Path) -> None:
    folder = tmp_path / "build/cache/v/cache"
    folder.mkdir(parents=True)
    (folder / "lastfailed").write_text('{"test_a.py::test_b": true}')
    assert last_failed(tmp_path, "build/cache") == ("test_a.py::test_b",)


@pytest.mark.parametrize("text", ["{", "[]"])
def test_a_damaged_cache_is_named(tmp_path: Path, text: str) -> None:
    folder = tmp_path / ".pytest_cache/v/cache"
    folder.mkdir(parents=True)
    (folder / "lastfailed").write_text(text)
    with pytest.raises(UsageError, match="last-failed cache"):
        last_failed(tmp_path)
