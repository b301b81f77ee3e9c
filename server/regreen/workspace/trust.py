"""May anything of this folder run?

Nothing of a folder runs before its user trusts it. Trust is kept in the user's own state, outside of every
repository, by real paths: a link cannot lend a folder the trust of another. Trusting a folder trusts what
is inside it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from regreen.errors import EnvironmentProblem
from regreen.platform import dirs
from regreen.platform.statefile import StateFile


@dataclass(frozen=True, slots=True)
class Trust:
    """Whether a folder is trusted, and why.

    Args:
        trusted: the answer.
        by: the trusted folder that it follows from; None when untrusted.
        since: when that one was trusted (ISO 8601, UTC); empty when untrusted.
        store: the file that was asked.
        explanation: one sentence for people.
    """

    trusted: bool
    by: Path | None
    since: str
    store: Path
    explanation: str


class TrustStore:
    """The folders that the user trusts. All methods block, but only for one small file.

    Args:
        file: where they are kept; the user's own file when None.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file

    @property
    def file(self) -> Path:
        """The file that holds them."""
        return self._stored.path

    @property
    def _stored(self) -> StateFile[dict[str, str]]:
        path = self._file or dirs.state_dir() / "trust.json"
        return StateFile(path, "trusted", _decoded, dict, dict, "revokes all trust")

    def is_trusted(self, folder: Path) -> bool:
        """Whether `folder` or a folder above it is trusted."""
        return self.explain(folder).trusted

    def explain(self, folder: Path) -> Trust:
        """The same with the reasons. A damaged store trusts nothing."""
        try:
            known = self._stored.read()
        except ValueError as error:
            return Trust(
                False, None, "", self.file, f"Nothing is trusted, because {self.file} is damaged: {error}."
            )
        real = Path(_real(folder))
        for candidate in (real, *real.parents):
            since = known.get(os.path.normcase(candidate))
            if since is not None:
                how = "it was trusted" if candidate == real else f"{candidate}, which holds it, was trusted"
                return Trust(
                    True, candidate, since, self.file, f"{folder} is trusted: {how} on {since[:10]}."
                )
        return Trust(
            False,
            None,
            "",
            self.file,
            f"{folder} is not trusted yet, so nothing of it runs. `regreen trust` changes that.",
        )

    def trust(self, folder: Path) -> None:
        """Trust a folder and all that is inside it, for good.

        Raises:
            EnvironmentProblem: it is no folder, or the store is damaged or cannot be written.
        """
        if not folder.is_dir():
            raise EnvironmentProblem(f"{folder} is not a folder, so it cannot be trusted.")
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        self._stored.change(lambda known: {_key(folder): now} | known)

    def revoke(self, folder: Path) -> bool:
        """Take the trust in exactly this folder back; whether there was any.

        Raises:
            EnvironmentProblem: the store is damaged or cannot be written.
        """
        key = _key(folder)
        return key in self._stored.change(
            lambda known: {path: since for path, since in known.items() if path != key}
        )

    def trusted(self) -> tuple[tuple[Path, str], ...]:
        """Every trusted folder and since when, by path.

        Raises:
            EnvironmentProblem: the store is damaged.
        """
        return tuple(sorted((Path(path), since) for path, since in self._stored.whole().items()))


def _decoded(known: Any) -> dict[str, str]:
    if not isinstance(known, dict) or not all(isinstance(since, str) for since in known.values()):
        raise ValueError("it does not list folders")
    return known


def _real(folder: Path) -> str:
    return os.path.realpath(folder)


def _key(folder: Path) -> str:
    return os.path.normcase(_real(folder))
