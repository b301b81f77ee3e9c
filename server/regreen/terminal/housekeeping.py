"""Which folders are trusted, and which private copies are there?"""

from __future__ import annotations

import time
from pathlib import Path

from regreen.terminal.console import outputs
from regreen.terminal.evidence import plural, size
from regreen.terminal.tables import columns
from regreen.workspace.places import clear_mirrors, list_mirrors
from regreen.workspace.trust import TrustStore

DAY = 24 * 3600


def trust_folder(path: Path) -> int:
    """Let editors run what is in the folder."""
    out, _ = outputs()
    TrustStore().trust(path)
    out.print(f"{path} and all that is in it may be run now. `regreen trust --revoke` takes that back.")
    return 0


def revoke_trust(path: Path) -> int:
    """Trust the folder no longer; 1 when it was not trusted by itself."""
    out, err = outputs()
    store = TrustStore()
    if not store.revoke(path):
        err.print(f"{path} itself was not trusted. {store.explain(path).explanation}")
        return 1
    out.print(f"{path} is not trusted any more.")
    still = store.explain(path)
    if still.trusted:
        err.print(f"But: {still.explanation}")
    return 0


def list_trusted() -> int:
    """Print every trusted folder and since when."""
    out, _ = outputs()
    trusted = TrustStore().trusted()
    out.print(
        columns([[since[:10], str(path)] for path, since in trusted]) if trusted else "No folder is trusted."
    )
    return 0


def list_cache() -> int:
    """Print every private copy: size, last use, project."""
    out, _ = outputs()
    mirrors = list_mirrors()
    rows = [
        [
            size(one.size),
            "in use" if one.in_use else _ago(time.time() - one.last_used),  # noqa: TID251 — a file's time is of this clock
            str(one.project),
            str(one.folder),
        ]
        for one in mirrors
    ]
    out.print(
        columns([["size", "used", "project", "copy"], *rows]) if rows else "There are no private copies."
    )
    return 0


def clear_cache(path: Path | None) -> int:
    """Remove the private copies that nobody uses: all, or those of the projects below `path`."""
    out, _ = outputs()
    before = [one for one in list_mirrors() if path is None or one.project.is_relative_to(path)]
    removed = [gone for one in before for gone in clear_mirrors(project=one.project)]
    noun = "copy" if len(removed) == 1 else "copies"
    out.print(f"Removed {len(removed)} {noun}, {size(sum(one.size for one in removed))}.")
    for one in before:
        if one.in_use:
            out.print(f"Kept: the copy of {one.project} is in use.")
    return 0


def _ago(seconds: float) -> str:
    return "today" if seconds < DAY else f"{plural(int(seconds // DAY), 'day')} ago"
