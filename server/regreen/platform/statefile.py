"""How do several processes keep one small JSON file of the user's without losing each other's changes?"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from regreen.errors import EnvironmentProblem
from regreen.platform.files import write_atomic
from regreen.platform.locks import locked

T = TypeVar("T")


@dataclass(frozen=True)
class StateFile(Generic[T]):
    """A file of the form `{"v": 1, name: …}`, readable by its owner only. All methods block, but only shortly.

    Args:
        path: where it is; made when it is first changed.
        name: the member that holds the contents.
        decode: makes a value of that member (None where the file has none); raises ValueError when it is not as it
            should be.
        encode: makes JSON of the value.
        empty: makes the value of a file that is not there.
        lost: what deleting the file means, as the rest of a sentence.
    """

    path: Path
    name: str
    decode: Callable[[Any], T]
    encode: Callable[[T], Any]
    empty: Callable[[], T]
    lost: str

    def read(self) -> T:
        """What it holds.

        Raises:
            ValueError: it is damaged, or cannot be read.
        """
        try:
            data = json.loads(self.path.read_bytes())
        except FileNotFoundError:
            return self.empty()
        except OSError as error:
            raise ValueError(str(error)) from error
        return self.decode(data.get(self.name) if isinstance(data, dict) else None)

    def whole(self) -> T:
        """What it holds.

        Raises:
            EnvironmentProblem: it is damaged, or cannot be read.
        """
        try:
            return self.read()
        except ValueError as error:
            raise self._damaged(error) from error

    def change(self, change: Callable[[T], T]) -> T:
        """Write what `change` makes of the contents; gives what they were before.

        Raises:
            EnvironmentProblem: it is damaged, or cannot be written.
        """
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with locked(self.path.with_suffix(".lock")):
                before = self.read()
                after = {"v": 1, self.name: self.encode(change(before))}
                write_atomic(self.path, json.dumps(after, indent=2, sort_keys=True).encode())
                self.path.chmod(0o600)
        except ValueError as error:
            raise self._damaged(error) from error
        except OSError as error:
            raise EnvironmentProblem(
                f"{self.path} cannot be written: {error}.", "Set REGREEN_STATE_DIR to a folder that can."
            ) from error
        return before

    def _damaged(self, error: ValueError) -> EnvironmentProblem:
        return EnvironmentProblem(
            f"{self.path} is damaged: {error}.", f"Mend or delete it; deleting it {self.lost}."
        )
