"""Where do Regreen's own files live: caches that may be deleted, state that should not, and what the user configures?

`REGREEN_CACHE_DIR`, `REGREEN_STATE_DIR` and `REGREEN_CONFIG_DIR` override what the system suggests. Folders are private to the user
(mode 0700), because they hold copies of the user's code.
"""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def cache_dir(*parts: str) -> Path:
    """The folder for what can be made again (mirrors, lent packages), or one inside it; made when missing."""
    return _private(
        _base("REGREEN_CACHE_DIR", platformdirs.user_cache_dir("regreen", appauthor=False)), parts
    )


def state_dir(*parts: str) -> Path:
    """The folder for what is worth keeping (trust, history), or one inside it; made when missing."""
    return _private(
        _base("REGREEN_STATE_DIR", platformdirs.user_state_dir("regreen", appauthor=False)), parts
    )


def config_dir() -> Path:
    """The folder for what the user writes (prompts of their own); it need not exist."""
    return _base("REGREEN_CONFIG_DIR", platformdirs.user_config_dir("regreen", appauthor=False))


def _base(variable: str, suggested: str) -> Path:
    return Path(os.path.abspath(os.environ.get(variable) or suggested))  # noqa: PTH100 — links are kept


def _private(base: Path, parts: tuple[str, ...]) -> Path:
    folder = base.joinpath(*parts)
    for missing in (*reversed(folder.parents), folder):
        if missing.is_relative_to(base):
            missing.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
