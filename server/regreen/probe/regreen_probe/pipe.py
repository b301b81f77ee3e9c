"""How do records leave this process, whatever the project prints, forks or closes?"""

from __future__ import annotations

import hashlib
import json
import os
import sys

HIGH = 200
"""Private descriptors start here, out of the way of tests that close or count the first ones."""


class Pipe:
    """The writing end. Only the process that made it (or adopted it) sends; forks of it are silent.

    Once it has a key, each record is sealed with it: a line is 32 hexadecimal digits, a space and the record. The
    digits are the BLAKE2b digest (RFC 7693, keyed) of the record's number, counted from 0, a space and the record.

    Args:
        fd: where records go.
    """

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.owner = os.getpid()
        self.run: int | None = None
        self._key: bytes | None = None
        self._number = 0
        self._waiting: list[bytes] = []
        self._busy = False

    def seal(self, key: str) -> None:
        """Seal all that is sent from now on; `key` in hexadecimal digits."""
        self._key, self._number = bytes.fromhex(key), 0

    def adopt(self, other: Pipe, run: int, key: str) -> None:
        """In a fork: what was sent here goes to another pipe, as the records of another run."""
        self.fd, self.owner, self.run = other.fd, os.getpid(), run
        self._waiting, self._busy = [], False
        self.seal(key)

    def send(self, record: dict[str, object]) -> None:
        """Send one record; a signal handler may call this in the middle of another send."""
        if os.getpid() != self.owner:
            return
        self._waiting.append(self._text(record))
        if self._busy:
            return
        self._busy = True
        try:
            while self._waiting:
                # Numbered here, in the order in which they leave: who interrupts a send only adds to what waits.
                data = memoryview(self._sealed(self._waiting[0], b"%d" % self._number))
                self._number += 1
                while data:
                    data = data[os.write(self.fd, data) :]
                del self._waiting[0]
        finally:
            self._busy = False

    def send_from_fork(self, record: dict[str, object]) -> None:
        """Send a short record, also from a fork of the owner: one write that the system does not split."""
        if os.getpid() == self.owner:
            self.send(record)
            return
        os.write(self.fd, self._sealed(self._text(record), b"fork"))

    def send_plainly(self, record: dict[str, object]) -> None:
        """Send a short record without a seal, from a process beside the run."""
        os.write(self.fd, self._text(record) + b"\n")

    def _text(self, record: dict[str, object]) -> bytes:
        if self.run is not None:
            record = {"id": self.run, **record}
        return json.dumps(record, ensure_ascii=True).encode("ascii")

    def _sealed(self, text: bytes, number: bytes) -> bytes:
        if self._key is None:
            return text + b"\n"
        seal = hashlib.blake2b(number + b" " + text, key=self._key, digest_size=16).hexdigest()
        return seal.encode("ascii") + b" " + text + b"\n"


def private_pipes() -> tuple[int, Pipe]:
    """Move the protocol from descriptors 0 and 1 to private ones; 0 becomes the null device, 1 a copy of 2."""
    reader, writer = private(0), private(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    if null != 0:
        os.close(null)
    os.dup2(2, 1)
    if sys.platform == "win32":
        import msvcrt

        for fd in (reader, writer):
            msvcrt.setmode(fd, os.O_BINARY)
    return reader, Pipe(writer)


def private(fd: int) -> int:
    """A copy of a descriptor that programs started from here do not inherit, with a high number where possible."""
    try:
        import fcntl
    except ImportError:
        return os.dup(fd)
    try:
        return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, HIGH)
    except OSError:  # fewer descriptors are allowed than that
        return os.dup(fd)
