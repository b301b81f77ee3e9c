"""What is known of the cases of a run that did not end? Nothing of it is done twice.

A line for each finished case, appended as soon as it has ended. A line counts for the same case, the same plan and
the same Regreen, its source included; one that was being written when the machine stopped counts for nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, astuple
from functools import cache
from pathlib import Path
from typing import Any

import regreen
from regreen.bench import cases
from regreen.bench.cases import Case
from regreen.bench.trial import Plan, Result


class Journal:
    """The finished cases of one run.

    Args:
        path: the file; None to keep nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._known: dict[str, Mapping[str, Any]] = {}
        if path is not None and path.exists():
            lines = [
                line
                for line in path.read_text(encoding="utf-8").splitlines(keepends=True)
                if line.endswith("\n")
            ]
            path.write_text("".join(lines), encoding="utf-8")
            self._known = {entry["key"]: entry["result"] for entry in map(json.loads, lines)}

    def get(self, case: Case, plan: Plan) -> Result | None:
        """What became of this case under this plan, if it is known."""
        told = self._known.get(_key(case, plan)) if self._known else None
        return None if told is None else from_fields(told)

    def add(self, case: Case, plan: Plan, result: Result) -> None:
        """Keep a result."""
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps({"key": _key(case, plan), "result": fields(result)}) + "\n")

    def end(self) -> None:
        """Forget everything: the run has ended, and its results are where they belong."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def fields(result: Result) -> dict[str, Any]:
    """A result as it stands in JSON."""
    return {"class" if key == "confidence" else key: value for key, value in asdict(result).items()}


def from_fields(told: Mapping[str, Any]) -> Result:
    """The reverse of `fields`.

    Raises:
        TypeError: it is not a result.
    """
    return Result(**{"confidence" if key == "class" else key: value for key, value in told.items()})


def _key(case: Case, plan: Plan) -> str:
    parts = (cases.digest(case), astuple(plan), regreen.__version__, _source())
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@cache
def _source() -> str:
    """The digest of Regreen's own files: while it is being worked on, its version alone says nothing."""
    root = Path(regreen.__file__).parent
    found = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        if path.suffix in {".py", ".json"}:
            found.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()
