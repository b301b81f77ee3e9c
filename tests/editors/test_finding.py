"""Without a Neovim these tests fail and say how to get one; they are never skipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import nvim


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(nvim, "REPOSITORY", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("REGREEN_NVIM", raising=False)
    return tmp_path


def test_a_missing_neovim_fails_and_names_make_deps(nowhere: Path) -> None:
    with pytest.raises(AssertionError, match="run `make deps`, or name one in REGREEN_NVIM"):
        nvim.find_neovim()


def test_an_old_neovim_is_not_used(nowhere: Path) -> None:
    old = nowhere / "nvim"
    old.write_text("#!/bin/sh\necho NVIM v0.10.4\n", encoding="utf-8")
    old.chmod(0o755)
    with pytest.raises(AssertionError, match=r"nvim: version 0\.10\.4"):
        nvim.find_neovim()
