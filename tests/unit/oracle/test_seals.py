"""Of what comes through the pipe of a run only our own records, all of them and in order, are believed."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.probe.client import island

from regreen.oracle.records import Record
from regreen.oracle.seals import Seal, genuine, taken_apart

RECORDS = [
    {"id": 3, "ev": "begin", "nodeid": "t::a"},
    {"id": 3, "ev": "test", "outcome": "failed"},
    {"id": 3, "ev": "x"},
]


class Wire(list[bytes]):
    """What the probe's own pipe writes for some records."""

    def __init__(self, key: bytes, records: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        pipe = island("pipe")

        def write(_fd: int, data: bytes) -> int:
            self.append(bytes(data))
            return len(data)

        monkeypatch.setattr(pipe.os, "write", write)
        writing = pipe.Pipe(99)
        writing.seal(key.hex())
        for record in records:
            writing.send(record)


@pytest.fixture
def wire() -> tuple[Seal, list[bytes]]:
    seal = Seal()
    with pytest.MonkeyPatch.context() as patch:
        return seal, list(Wire(seal.key, RECORDS, patch))


def heard(seal: Seal, lines: list[bytes], owner: int = 3) -> list[Record | None]:
    return [genuine(taken_apart(b"%d " % owner + line), owner, seal) for line in lines]


def test_what_the_probe_writes_is_believed(wire: tuple[Seal, list[bytes]]) -> None:
    seal, lines = wire
    assert heard(seal, lines) == RECORDS


@given(st.data())
def test_whatever_is_left_out_repeated_moved_or_changed_is_noticed(data: st.DataObject) -> None:
    seal = Seal()
    with pytest.MonkeyPatch.context() as patch:
        lines = list(Wire(seal.key, RECORDS, patch))
    place = data.draw(st.integers(0, 2))
    what = data.draw(st.sampled_from(["left out", "repeated", "moved", "changed", "another key", "plain"]))
    if what == "left out":
        del lines[place]
        if place == 2:
            return  # the end that is missing is told by `finished`
    elif what == "repeated":
        lines.insert(place, lines[place])
    elif what == "moved":
        lines.insert(0, lines.pop(place)) if place else lines.append(lines.pop(0))
    elif what == "changed":
        byte = data.draw(st.integers(0, len(lines[place]) - 2))
        changed = lines[place][byte] ^ data.draw(st.integers(1, 127))
        if bytes([changed]) in b"\n\r\t\x0b\x0c ":
            return  # another line, or the same
        lines[place] = lines[place][:byte] + bytes([changed]) + lines[place][byte + 1 :]
    elif what == "another key":
        with pytest.MonkeyPatch.context() as patch:
            lines[place] = Wire(Seal().key, RECORDS, patch)[place]
    else:
        lines[place] = json.dumps(RECORDS[place]).encode() + b"\n"
    assert None in heard(seal, lines), (what, lines)


@pytest.mark.parametrize("moment", ["while it is written", "while its text is made"])
def test_a_record_that_interrupts_another_one_leaves_all_of_them_whole_and_in_order(moment: str) -> None:
    seal, lines = Seal(), list[bytes]()
    pipe = island("pipe")
    writing = pipe.Pipe(99)
    writing.seal(seal.key.hex())
    interruptions = [{"id": 3, "ev": "stack", "threads": [n]} for n in range(3)]

    def interrupt() -> None:
        if interruptions:
            writing.send(interruptions.pop(0))

    def write(_fd: int, data: bytes) -> int:
        half = bytes(data[: max(1, len(data) // 2)])
        lines.append(half)
        interrupt()
        return len(half)

    def write_whole(_fd: int, data: bytes) -> int:
        lines.append(bytes(data))
        return len(data)

    def dumps(record: Record, **options: Any) -> str:
        if record["ev"] != "stack":
            interrupt()
        return json.dumps(record, **options)

    with pytest.MonkeyPatch.context() as patch:
        if moment == "while it is written":
            patch.setattr(pipe.os, "write", write)
        else:
            patch.setattr(pipe, "json", SimpleNamespace(dumps=dumps))
            patch.setattr(pipe.os, "write", write_whole)
        for record in RECORDS:
            writing.send(record)
    told = heard(seal, b"".join(lines).splitlines(keepends=True))
    assert None not in told
    assert [record for record in told if record and record["ev"] != "stack"] == RECORDS
    assert len(told) == 6


@pytest.mark.parametrize(
    ("text", "believed"),
    [
        (b'{"id": 3, "ev": "fate", "signal": 9}', True),
        (b'{"id": 3, "ev": "unconfined", "why": "x"}', True),
        (b'{"id": 4, "ev": "fate", "signal": 9}', False),
        (b'{"id": 4, "ev": "ended", "code": 0}', True),  # of a hot run: the channel knows whose fork it is
        (b'{"id": 3, "ev": "test", "outcome": "passed"}', False),
        (b'{"id": 3, "ev": "finished", "exit": 0}', False),
        (b"not json", False),
        (b"[]", False),
        (b"", False),
    ],
)
def test_without_a_seal_only_the_first_process_of_a_run_is_heard(text: bytes, believed: bool) -> None:
    assert (genuine(taken_apart(b"3 " + text + b"\n"), 3, Seal()) is not None) is believed


@pytest.mark.parametrize(
    ("line", "owners", "digits", "text"),
    [
        (b'{"ev": "hello"}\n', (), b"", b'{"ev": "hello"}'),
        (b'7 {"id": 7}\n', (7,), b"", b'{"id": 7}'),
        (b"7 8 " + b"1" * 32 + b' {"id": 8}\n', (7, 8), b"1" * 32, b'{"id": 8}'),
        (b"a" * 32 + b' {"id": 1}\n', (), b"a" * 32, b'{"id": 1}'),
        (b"7\n", (), b"", b"7"),
        (b"7 8\n", (7,), b"", b"8"),
    ],
)
def test_a_line_is_taken_apart(line: bytes, owners: tuple[int, ...], digits: bytes, text: bytes) -> None:
    parts = taken_apart(line)
    assert (parts.owners, parts.digits, parts.text) == (owners, digits, text)
