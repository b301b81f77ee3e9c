"""What pytest remembers and what a build reported become the node ids that pytest takes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from regreen.errors import UsageError
from regreen.workspace.known_failures import KnownFailures, junit, last_failed
from regreen.workspace.projects import locate

TESTS = {
    "tests/test_cart.py": """
import pytest
class TestOuter:
    class TestInner:
        def test_deep(self): assert 0
    @pytest.mark.parametrize("x", ["a.b::c", "sl/ash", "sp ace", "[]", "é"])
    def test_many(self, x): assert 0
def test_green(): pass
def test_red(): assert 0
@pytest.fixture
def broken(): raise ValueError
def test_error(broken): pass
@pytest.fixture
def torn():
    yield
    raise ValueError
def test_teardown(torn): assert 0
@pytest.mark.skip
def test_skipped(): assert 0
""",
    "tests/dotted.folder/test_dots.py": "def test_dots(): assert 0\n",
    "tests/test_unit.py": "import unittest\nclass T(unittest.TestCase):\n    def test_u(self): self.fail()\n",
    "tests/base.py": "class Base:\n    def test_inherited(self): assert 0\n",
    "tests/test_child.py": "from base import Base\nclass TestChild(Base): pass\n",
    "tests/test_syntax.py": "def (:\n",
    "docs/guide.rst": ">>> 1\n2\n",
    "top_test.py": "def test_top(): assert 0\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "proj"
    for name, text in TESTS.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "pytest.ini").write_text(
        "[pytest]\naddopts = --doctest-glob=*.rst --continue-on-collection-errors --import-mode=prepend\n"
    )
    return folder


def run(root: Path, *options: str) -> None:
    """A real pytest in a process of its own; everything but its report is unimportant here."""
    command = [sys.executable, "-m", "pytest", "-q", *options]
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    subprocess.run(command, cwd=root, check=False, capture_output=True, env=environment)


RED = {
    "tests/test_cart.py::TestOuter::TestInner::test_deep",
    "tests/test_cart.py::TestOuter::test_many[a.b::c]",
    "tests/test_cart.py::TestOuter::test_many[sl/ash]",
    "tests/test_cart.py::TestOuter::test_many[sp ace]",
    "tests/test_cart.py::TestOuter::test_many[[]]",
    "tests/test_cart.py::TestOuter::test_many[\\xe9]",
    "tests/test_cart.py::test_red",
    "tests/test_cart.py::test_error",
    "tests/test_cart.py::test_teardown",
    "tests/dotted.folder/test_dots.py::test_dots",
    "tests/test_unit.py::T::test_u",
    "tests/test_child.py::TestChild::test_inherited",
    "tests/test_syntax.py",
    "docs/guide.rst::guide.rst",
    "top_test.py::test_top",
}


@pytest.mark.parametrize(
    ("family", "prefix"), [("xunit1", "build.linux"), ("xunit2", ""), ("xunit2", "build.linux")]
)
def test_a_report_of_pytest_and_its_cache_give_back_the_node_ids(
    root: Path, tmp_path: Path, family: str, prefix: str
) -> None:
    report = tmp_path / "report.xml"
    run(root, f"--junitxml={report}", f"--junit-prefix={prefix}", "-o", f"junit_family={family}")
    found = junit(locate(root, root), report)
    assert set(found.nodeids) == RED
    assert len(found.nodeids) == len(RED)
    assert found.unmatched == ()
    assert set(last_failed(locate(root, root)).nodeids) == RED


@pytest.mark.parametrize(
    "setting",
    [
        "cache_dir = my/cache",
        "cache_dir = $PLACE/cache",
        "addopts = -o cache_dir=other",
        'addopts = "-ocache_dir=a b"',
    ],
)
def test_the_cache_is_found_where_the_configuration_puts_it(
    root: Path, setting: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PLACE", str(tmp_path / "elsewhere"))
    (root / "pytest.ini").write_text(f"[pytest]\n{setting}\n")
    run(root, "top_test.py")
    assert last_failed(locate(root, root)).nodeids == ("top_test.py::test_top",)
    assert not (root / ".pytest_cache").exists()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"gone.py::test_a": true, "top_test.py::test_top": true}'])
def test_a_cache_that_is_damaged_or_stale_says_only_what_is_there(root: Path, text: str) -> None:
    folder = root / ".pytest_cache" / "v" / "cache"
    assert last_failed(locate(root, root)) == KnownFailures(())
    folder.mkdir(parents=True)
    (folder / "lastfailed").write_text(text)
    found = last_failed(locate(root, root))
    assert found.nodeids == (("top_test.py::test_top",) if "top" in text else ())
    assert found.unmatched == (("gone.py::test_a",) if "top" in text else ())


def test_a_report_of_another_machine_and_tool_is_matched_by_its_file(root: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(
        '<testsuite><testcase classname="Odd" name="test_top" file="/home/ci/build/top_test.py"><failure/></testcase>'
        '<testcase classname="a.b" name="gone"><error/></testcase>'
        '<testcase classname="x" name="up" file="../../top_test.py"><error/></testcase></testsuite>'
    )
    assert junit(locate(root, root), report) == KnownFailures(
        ("top_test.py::test_top",), ("a.b.gone", "x.up")
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<html/>",
        "<testsuite>",
        '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><testsuite>&b;</testsuite>',
    ],
)
def test_what_is_no_report_is_refused(root: Path, tmp_path: Path, text: str) -> None:
    report = tmp_path / "report.xml"
    report.write_text(text)
    for path in (report, tmp_path / "missing.xml", tmp_path):
        with pytest.raises(UsageError, match=path.name):
            junit(locate(root, root), path)
