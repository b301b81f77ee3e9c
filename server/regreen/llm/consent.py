"""Did the user agree that code of this folder goes to this model?

Asked once for each workspace folder, model and address. The answers are kept in the user's own state, outside of every
repository, by real paths: nothing in a repository can give consent. "Never in this folder" holds for every model and
for what is inside of the folder.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from regreen.platform import dirs
from regreen.platform.statefile import StateFile


@dataclass(frozen=True, slots=True, order=True)
class Consent:
    """One answer of the user.

    Args:
        folder: the workspace folder's real path, as the system compares paths.
        model: as litellm spells it; of a refusal the one that was asked about.
        address: where its requests go; "" for a model inside of the worker.
        answer: "allowed" | "refused".
        at: when it was given (ISO 8601, UTC).
    """

    folder: str
    model: str
    address: str
    answer: str
    at: str


class ConsentStore:
    """The user's answers. All methods block, but only for one small file.

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
    def _stored(self) -> StateFile[list[Consent]]:
        path = self._file or dirs.state_dir() / "consent.json"
        return StateFile(path, "consents", _decoded, _encoded, list, "revokes every consent")

    def answer(self, folder: Path, model: str, address: str) -> str:
        """What the user said: "allowed", "refused", or "" when nobody asked yet.

        Raises:
            EnvironmentProblem: the store is damaged; nothing may be sent then.
        """
        real = Path(os.path.realpath(folder))
        above = {os.path.normcase(one) for one in (real, *real.parents)}
        given = self.given()
        if any(one.answer == "refused" and one.folder in above for one in given):
            return "refused"
        wanted = (_key(folder), model, address)
        return "allowed" if any((one.folder, one.model, one.address) == wanted for one in given) else ""

    def allow(self, folder: Path, model: str, address: str) -> None:
        """Code of this folder may go to this model at this address; takes a refusal for the folder itself back.

        Raises:
            EnvironmentProblem: the store is damaged or cannot be written.
        """
        self._give(folder, model, address, "allowed")

    def refuse(self, folder: Path, model: str = "", address: str = "") -> None:
        """Never ask again in this folder, and send nothing of it to any model.

        Raises:
            EnvironmentProblem: the store is damaged or cannot be written.
        """
        self._give(folder, model, address, "refused")

    def revoke(self, folder: Path) -> tuple[Consent, ...]:
        """Forget all answers for exactly this folder, so that it is asked again; those that there were.

        Raises:
            EnvironmentProblem: the store is damaged or cannot be written.
        """
        key = _key(folder)
        before = self._stored.change(lambda given: [one for one in given if one.folder != key])
        return tuple(one for one in before if one.folder == key)

    def given(self) -> tuple[Consent, ...]:
        """Every answer, by folder.

        Raises:
            EnvironmentProblem: the store is damaged.
        """
        return tuple(sorted(self._stored.whole()))

    def _give(self, folder: Path, model: str, address: str, answer: str) -> None:
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        new = Consent(_key(folder), model, address, answer, now)

        def change(given: list[Consent]) -> list[Consent]:
            others = [
                one for one in given if (one.folder, one.model, one.address) != (new.folder, model, address)
            ]
            return [*(one for one in others if one.folder != new.folder or one.answer == answer), new]

        self._stored.change(change)


def _encoded(given: list[Consent]) -> Any:
    return [asdict(one) for one in sorted(given)]


def _decoded(data: Any) -> list[Consent]:
    if not isinstance(data, list):
        raise ValueError("it does not list answers")  # noqa: TRY004 — of a damaged file, not of an argument
    return [_consent(one) for one in data]


def _consent(data: Any) -> Consent:
    names = Consent.__slots__
    if not isinstance(data, dict) or not all(isinstance(data.get(name), str) for name in names):
        raise ValueError("one of its answers is not whole")
    if data["answer"] not in {"allowed", "refused"}:
        raise ValueError(f"{data['answer']!r} is no answer")
    return Consent(**{name: data[name] for name in names})


def _key(folder: Path) -> str:
    return os.path.normcase(os.path.realpath(folder))
