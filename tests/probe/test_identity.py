"""What replaces the machinery that judges is told, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from .client import Copy, Probe


def _replaced(host: Probe, folder: Path, top: str, inside: str = "pass", **fields: object) -> set[str]:
    copy = Copy(
        folder, {"shop.py": top, "test_it.py": f"import shop\ndef test_it(monkeypatch):\n    {inside}\n"}
    )
    return set(host.run(copy, **fields).one("finished")["replaced"])


@pytest.mark.parametrize(
    ("top", "inside", "name"),
    [
        ("import builtins\nbuiltins.AssertionError = ValueError\n", "pass", "builtins.AssertionError"),
        ("import _pytest.runner as r\nr.runtestprotocol = len\n", "pass", "_pytest.runner.runtestprotocol"),
        (
            "import _pytest.reports as r\nr.TestReport.from_item_and_call = len\n",
            "pass",
            "_pytest.reports.TestReport.from_item_and_call",
        ),
        (
            "import unittest\nunittest.TestCase.fail.__code__ = (lambda self, msg=None: None).__code__\n",
            "pass",
            "unittest.case.TestCase.fail",
        ),
        ("", "import builtins; builtins.input = sum", "builtins.input"),
    ],
)
def test_what_the_project_replaced_is_named(
    host: Probe, tmp_path: Path, top: str, inside: str, name: str
) -> None:
    usual = _replaced(host, tmp_path / "0", "")
    assert _replaced(host, tmp_path / "1", top, inside) - usual == {name}
    assert _replaced(host, tmp_path / "2", "") == usual


def test_what_a_test_puts_back_is_not_told(host: Probe, tmp_path: Path) -> None:
    usual = _replaced(host, tmp_path / "0", "")
    inside = "import builtins; monkeypatch.setattr(builtins, 'input', lambda: '')"
    assert _replaced(host, tmp_path / "1", "", inside) == usual
