"""Which tests did pytest itself see fail last?"""

from __future__ import annotations

import json
from pathlib import Path

from regreen.errors import UsageError

DEFAULT_CACHE = ".pytest_cache"


def last_failed(root: Path, cache_folder: str = DEFAULT_CACHE) -> tuple[str, ...]:
    """The node ids in pytest's last-failed cache, in its order; empty when nothing failed.

    Args:
        root: the project.
        cache_folder: pytest's `cache_dir`, relative to the root or absolute.

    Raises:
        UsageError: pytest never left a cache here, or it cannot be read.
    """
    folder = root / cache_folder / "v" / "cache"
    try:
        known = json.loads((folder / "lastfailed").read_text(encoding="utf-8"))
    except FileNotFoundError:
        if folder.is_dir():  # pytest removes the file when everything passed
            return ()
        raise UsageError(
            f"{root} has no pytest cache, so its last failures are not known.",
            "Run pytest there once, or leave --last-failed out.",
        ) from None
    except (OSError, ValueError) as error:
        raise UsageError(
            f"pytest's last-failed cache in {folder} cannot be read: {error}.", "Leave --last-failed out."
        ) from error
    if not isinstance(known, dict):
        raise UsageError(
            f"pytest's last-failed cache in {folder} has an unknown form.", "Leave --last-failed out."
        )
    return tuple(str(nodeid) for nodeid in known)
