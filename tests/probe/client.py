"""A small client of the wire format: starts the real probe and reads what it says."""

from __future__ import annotations

import contextlib
import importlib
import itertools
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regreen.oracle.seals import Seal, genuine, taken_apart

if TYPE_CHECKING:
    from typing_extensions import Self

PROBE = Path(__file__).parents[2] / "server/regreen/probe"
BOOT = (
    "import sys; sys.path[:] = [p for p in sys.path if p]; sys.path.insert(0, sys.argv[1]); "
    "from regreen_probe.main import main; main(sys.argv[2])"
)
KEY = bytes(range(16))
LIMIT = 60.0
"""Seconds after which a record that does not come is a failure."""

Record = dict[str, Any]


class Ran:
    """What one run said.

    Args:
        records: in the order they came.
        copy: the copy of the project.
    """

    def __init__(self, records: Sequence[Record], copy: Path) -> None:
        self.records = records
        self.copy = copy

    def of(self, kind: str) -> list[Record]:
        """The records of one kind."""
        return [r for r in self.records if r["ev"] == kind]

    def one(self, kind: str) -> Record:
        """The only record of a kind."""
        (record,) = self.of(kind)
        return record

    @property
    def tests(self) -> dict[str, Record]:
        """The `test` records by node id."""
        return {r["nodeid"]: r for r in self.of("test")}

    @property
    def outcomes(self) -> dict[str, str]:
        """Outcomes by the last part of the node id."""
        return {r["nodeid"].rpartition("::")[2]: r["outcome"] for r in self.of("test")}

    def failure(self, name: str) -> Record:
        """The failure of the test whose node id ends with `::name`."""
        (found,) = [r["failure"] for r in self.of("test") if r["nodeid"].endswith("::" + name)]
        assert found is not None
        return dict(found)

    def lines(self, name: str, file: str) -> list[int]:
        """The lines of a project file that a test executed."""
        (found,) = [r["lines"] for r in self.of("test") if r["nodeid"].endswith("::" + name)]
        return list(found.get(str(self.copy / file), []))


class Probe:
    """One probe process; use it as a context manager."""

    def __init__(
        self,
        python: Path,
        mode: str = "host",
        env: Mapping[str, str | None] | None = None,
        lent: Sequence[Path] = (),
        *,
        wrap: Record | None = None,
        wrapper: Sequence[str] = (),
        package: Path = PROBE,
        ahead: Mapping[str, Any] | None = None,
        **started: Any,
    ) -> None:
        self.mode = mode
        self.ahead = ahead or {}
        self._numbers = itertools.count(1)
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "PYTHON", "COV"))}
        for name, value in (env or {}).items():
            environment.pop(name, None)
            if value is not None:
                environment[name] = value
        options = {"lent": [str(folder) for folder in lent], **({} if wrap is None else {"wrap": wrap})}
        self.process = subprocess.Popen(
            [*wrapper, python, "-c", BOOT, package, mode, json.dumps(options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=package,
            env=environment,
            start_new_session=True,
            **started,
        )
        self.stderr = b""
        self.queue: queue.Queue[Record | None] = queue.Queue()
        self.readers = [threading.Thread(target=self._read), threading.Thread(target=self._read_errors)]
        for reader in self.readers:
            reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        runs: dict[int, Seal] = {}
        for text in self.process.stdout:
            line = taken_apart(text)
            if not line.digits:
                self.queue.put(json.loads(line.text))
                continue
            number = line.owners[-1] if line.owners else int(json.loads(line.text)["id"])
            record = genuine(line, number, runs.setdefault(number, Seal(KEY)))
            self.queue.put({"id": number, "ev": "forged"} if record is None else dict(record))
        self.queue.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        while data := os.read(self.process.stderr.fileno(), 65536):
            self.stderr += data

    def __enter__(self) -> Self:
        if self.mode == "wait":
            self.send({"op": "preload", "modules": [], "never": [], "env": {}, **self.ahead})
        self.hello = self.record()
        assert self.hello["ev"] == "hello"
        return self

    def __exit__(self, *_: object) -> None:
        self.close_input()
        try:
            self.process.wait(LIMIT)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, 9)
            for reader in self.readers:
                reader.join(5)
            for stream in (self.process.stdout, self.process.stderr):
                assert stream is not None
                stream.close()

    def close_input(self) -> None:
        """Let the probe see the end of its input."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()

    def send(self, message: Mapping[str, Any]) -> None:
        """Send one message."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def record(self, seconds: float = LIMIT) -> Record:
        """The next record."""
        record = self.queue.get(timeout=seconds)
        assert record is not None, f"the probe ended: {self.stderr.decode(errors='replace')}"
        return record

    def check(self) -> Record:
        """What it says it holds."""
        number = 1 if self.mode == "wait" else next(self._numbers)
        self.send({"op": "check", "id": number})
        return self.until(number, lambda r: r["ev"] == "checked")[-1]

    def begin(self, copy: Copy, *args: str, **fields: Any) -> int:
        """Start a run; its number."""
        number = next(self._numbers)
        self.send({**copy.request(*args), "id": number, **fields})
        return number

    def until(self, number: int, wanted: Callable[[Record], bool]) -> list[Record]:
        """The records of a run up to the first one that is wanted."""
        records = []
        deadline = time.monotonic() + LIMIT
        while True:
            record = self.record(max(deadline - time.monotonic(), 0.01))
            if record["id"] == number:
                records.append(record)
                if wanted(record):
                    return records

    def run(self, copy: Copy, *args: str, **fields: Any) -> Ran:
        """Do one run to its end."""
        number = self.begin(copy, *args, **fields)
        if self.mode == "host":
            return Ran(self.until(number, lambda r: r["ev"] == "ended"), copy.root)
        records = []
        while (record := self.queue.get(timeout=LIMIT)) is not None:
            records.append(record)
        code = self.process.wait(LIMIT)
        ended = {"id": number, "ev": "ended", "code": code if code >= 0 else None}
        ended["signal"] = None if code >= 0 else -code
        return Ran([*records, ended], copy.root)

    def park(self, copy: Copy, *args: str, **fields: Any) -> tuple[int, Record]:
        """Park a run; its number, and the record that says so or that it ended."""
        number = self.begin(copy, *args, park=True, spectrum=True, details=False, **fields)
        return number, self.until(number, lambda r: r["ev"] in {"parked", "ended"})[-1]

    def ask_hot(self, copy: Copy, park: int, name: str = "", text: str = "") -> int:
        """Start a hot run with a file's new text; its number."""
        number = next(self._numbers)
        temp = copy.temp / f"hot-{number}"
        path = str(copy.root / name) if name else ""
        self.send(
            {
                "op": "hot",
                "id": number,
                "key": KEY.hex(),
                "park": park,
                "path": path,
                "text": text,
                "temp": str(temp),
            }
        )
        return number

    def hot(self, copy: Copy, park: int, name: str = "", text: str = "") -> Ran:
        """Do one hot run to its end."""
        number = self.ask_hot(copy, park, name, text)
        return Ran(self.until(number, lambda r: r["ev"] == "ended"), copy.root)


class Copy:
    """A project of the user and its private copy.

    Args:
        base: an empty folder for both.
        files: the project, path → text or bytes.
        name: of its folder.
    """

    def __init__(self, base: Path, files: Mapping[str, str | bytes], name: str = "shop") -> None:
        self.user = base / "user" / name
        self.root = base / "copies" / "0" / name
        self.temp = base / "copies" / "temp"
        write(self.user, files)
        shutil.copytree(self.user, self.root, symlinks=True)
        self.temp.mkdir()
        self.roots = [[str(self.user), str(self.root)]]

    def request(self, *args: str) -> Record:
        """A `run` message with everything at its quietest."""
        return {
            "op": "run", "id": 1, "key": KEY.hex(), "park": False, "cwd": str(self.root), "rootdir": str(self.root), "roots": self.roots,
            "args": list(args), "leave_out": [], "temp": str(self.temp),
            "overlaid": [], "spectrum": False, "collect_only": False, "details": True, "stop_first": False, "known_red": [],
            "canaries": [], "observe": [], "observe_during": [], "compare": [], "synthesise": [], "synthesise_seconds": 3.0,
            "confine": self.confine(), "env": {}, "kind": "pytest",
        }  # fmt: skip

    def full(self, **fields: Any) -> Record:
        """Fields of a `run` message for full isolation: the copy is where the project is."""
        return {
            "cwd": str(self.user), "rootdir": str(self.user), "roots": [[user, user] for user, _ in self.roots],
            "temp": "/tmp/regreen", "env": {"PROJECT": str(self.user)},
            "confine": self.confine(level="full", network=False, **fields),
        }  # fmt: skip

    def confine(self, **fields: Any) -> Record:
        """How a run is confined where the copy is another folder than the project."""
        return {
            "level": "partial", "copies": [[copy, user] for user, copy in self.roots], "beneath": [], "readable": [],
            "network": True, "services": [], "sockets": [], "relaxed": False, "memory": 4 << 30, "processes": 256, "disk": 1 << 30, "file": 1 << 30,
            "bytecode": "", "keep_bytecode": False, **fields,
        }  # fmt: skip


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files below a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())


def island(module: str) -> Any:
    """A module of the probe, in this process: for what can be tested without running anything."""
    sys.path.insert(0, str(PROBE))
    try:
        return importlib.import_module(f"regreen_probe.{module}")
    finally:
        sys.path.remove(str(PROBE))


@contextlib.contextmanager
def probe(
    python: Path, mode: str = "host", *, lent: Sequence[Path] = (), **env: str | None
) -> Iterator[Probe]:
    """A probe in an interpreter, ended afterwards."""
    with Probe(python, mode, env, lent) as started:
        yield started
