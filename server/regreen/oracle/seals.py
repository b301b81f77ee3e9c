"""Who said a line, and is it what our own code in the run said?

The zygote writes in front of each line whose it is; a run seals its records with a key of its own and in order. What
the code under test writes into the pipe is told apart.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field

from regreen.errors import OracleFailed
from regreen.oracle import records
from regreen.oracle.records import Record

DIGITS = 32
"""Of a seal, hexadecimal."""
PLAIN = frozenset({"checked", "fate", "unconfined"})
"""What a run's first process, or one that waits for its run, says without a seal."""
OF_PARKED = frozenset({"ended", "unswappable"})
"""What a parked run says of its hot runs, without a seal."""


@dataclass(slots=True)
class Seal:
    """The seals of one run, in the order in which they come (BLAKE2b with a key, RFC 7693)."""

    key: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    number: int = 0

    def fits(self, digits: bytes, text: bytes) -> bool:
        """Whether `digits` seal `text` as the next record, or as one that a fork of the run sent."""
        if hmac.compare_digest(digits, self._digits(b"%d" % self.number, text)):
            self.number += 1
            return True
        return hmac.compare_digest(digits, self._digits(b"fork", text)) and b'"ev": "canary"' in text

    def _digits(self, number: bytes, text: bytes) -> bytes:
        return hashlib.blake2b(number + b" " + text, key=self.key, digest_size=16).hexdigest().encode()


@dataclass(frozen=True, slots=True)
class Line:
    """One line, taken apart.

    Args:
        owners: the run it came from, outermost first: a parked run, then its hot run; empty for the zygote itself.
        digits: the seal, empty for a plain line.
        text: the record.
    """

    owners: tuple[int, ...]
    digits: bytes
    text: bytes


def taken_apart(line: bytes) -> Line:
    """The parts of a line."""
    owners: list[int] = []
    rest = line.rstrip(b"\n")
    while True:
        word, space, behind = rest.partition(b" ")
        if not space or not word.isdigit() or len(word) >= DIGITS:
            break
        owners.append(int(word))
        rest = behind
    if len(word) == DIGITS and space:
        return Line(tuple(owners), word, behind)
    return Line(tuple(owners), b"", rest)


def genuine(line: Line, owner: int, seal: Seal) -> Record | None:
    """The record of a line that a run wrote; None when it is not our code's.

    Args:
        line: of the run.
        owner: its number.
        seal: its seals.
    """
    try:
        record = records.parse(line.text)
    except OracleFailed:  # the code under test wrote it
        return None
    if not line.digits:
        event = record.get("ev")
        return record if event in OF_PARKED or (event in PLAIN and record.get("id") == owner) else None
    return record if record.get("id") == owner and seal.fits(line.digits, line.text) else None
