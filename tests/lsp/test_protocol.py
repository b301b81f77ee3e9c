"""The server's manners, seen byte by byte."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types as t
from tests.lsp.editor import apply_edits, environment
from tests.processes import close_pipes

from regreen.edits import LineIndex
from regreen.lsp import from_proto, to_proto
from regreen.lsp.client import Client


class Wire:
    """A client that knows nothing of the protocol but its framing."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, message: Mapping[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._writer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        await self._writer.drain()

    async def receive(self) -> dict[str, Any]:
        size = 0
        while (header := await self._reader.readline()).strip():
            name, _, value = header.partition(b":")
            assert name in (b"Content-Length", b"Content-Type")  # nothing else is ever among the messages
            size = int(value) if name == b"Content-Length" else size
        assert size
        message: dict[str, Any] = json.loads(await self._reader.readexactly(size))
        return message

    async def answer_to(self, identity: int) -> dict[str, Any]:
        while True:
            message = await self.receive()
            if message.get("id") == identity and "method" not in message:
                return message

    async def initialize(self, process: int | None = None) -> dict[str, Any]:
        params: dict[str, Any] = {"processId": process, "rootUri": None, "capabilities": {}}
        await self.send({"id": 0, "method": "initialize", "params": params})
        answer = await self.answer_to(0)
        await self.send({"method": "initialized", "params": {}})
        return answer


@asynccontextmanager
async def server(state: Path) -> AsyncIterator[tuple[asyncio.subprocess.Process, Wire]]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "regreen", "--stdio", "--clientProcessId=1"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(state),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process, Wire(process.stdout, process.stdin)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        await close_pipes(process)


async def test_a_request_that_cannot_be_understood_is_answered(tmp_path: Path) -> None:
    async with server(tmp_path) as (_, wire):
        await wire.initialize()
        await wire.send({"id": 1, "method": "textDocument/codeAction", "params": {"textDocument": 5}})
        assert "error" in await wire.answer_to(1)
        await wire.send(
            {"id": 2, "method": "workspace/executeCommand", "params": {"command": "regreen.server.nothing"}}
        )
        assert "regreen.server.nothing" in (await wire.answer_to(2))["error"]["message"]
        await wire.send(
            {"id": 3, "method": "workspace/executeCommand", "params": {"command": "regreen.server.status"}}
        )
        assert (await wire.answer_to(3))["result"] == {"projects": []}


async def test_values_from_a_newer_protocol_are_taken_as_they_are(tmp_path: Path) -> None:
    async with server(tmp_path) as (_, wire):
        tags = {"textDocument": {"codeAction": {"tagSupport": {"valueSet": [1, 77]}}}}
        params = {"processId": None, "rootUri": None, "capabilities": tags}
        await wire.send({"id": 1, "method": "initialize", "params": params})
        assert (await wire.answer_to(1))["result"]["serverInfo"]["name"] == "regreen"


async def test_what_is_advertised_is_what_the_pages_promise(tmp_path: Path) -> None:
    async with server(tmp_path) as (_, wire):
        capabilities = (await wire.initialize())["result"]["capabilities"]
    assert capabilities["textDocumentSync"]["change"] == t.TextDocumentSyncKind.Full.value
    assert capabilities["codeActionProvider"]["resolveProvider"] is True
    assert "source.fixAll.regreen" in capabilities["codeActionProvider"]["codeActionKinds"]
    commands = set(capabilities["executeCommandProvider"]["commands"])
    manifest = json.loads((Path(__file__).parents[2] / "package.json").read_text("utf-8"))
    assert all(command.startswith("regreen.server.") for command in commands)
    shown = {entry["command"] for entry in manifest["contributes"]["commands"]}
    assert shown
    assert not shown & commands  # VS Code registers what a server advertises: the name would be taken


@pytest.mark.parametrize(("polite", "code"), [(True, 0), (False, 1)])
async def test_the_exit_code_tells_whether_the_client_said_goodbye(
    tmp_path: Path, polite: bool, code: int
) -> None:
    async with server(tmp_path) as (process, wire):
        await wire.initialize()
        if polite:
            await wire.send({"id": 9, "method": "shutdown"})
            assert (await wire.answer_to(9))["result"] is None
        await wire.send({"method": "exit"})
        assert await asyncio.wait_for(process.wait(), 20) == code


async def test_the_end_of_input_ends_the_server(tmp_path: Path) -> None:
    async with server(tmp_path) as (process, wire):
        await wire.initialize()
        assert process.stdin is not None
        process.stdin.close()
        assert await asyncio.wait_for(process.wait(), 20) == 1


async def test_the_server_ends_with_its_client_although_the_pipe_stays_open(tmp_path: Path) -> None:
    client = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=subprocess.PIPE)
    async with server(tmp_path) as (process, wire):
        await wire.initialize(client.pid)
        client.kill()
        await client.wait()
        await close_pipes(client)
        assert await asyncio.wait_for(process.wait(), 30) == 1


async def test_one_client_is_served_over_tcp(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "regreen", "serve", "--tcp", "127.0.0.1:0"),
        stderr=subprocess.PIPE,
        env=environment(tmp_path),
    )
    assert process.stderr is not None
    place = (await process.stderr.readline()).decode().split()[-1]
    host, _, port = place.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    wire = Wire(reader, writer)
    assert (await wire.initialize())["result"]["serverInfo"]["name"] == "regreen"
    await wire.send({"id": 9, "method": "shutdown"})
    await wire.answer_to(9)
    await wire.send({"method": "exit"})
    assert await asyncio.wait_for(process.wait(), 20) == 0
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()
    await close_pipes(process)


@given(
    st.text(alphabet="ab é漢😀\r\n\x0c\u2028", max_size=30),
    st.text(alphabet="ab é漢😀\r\n\x0c\u2028", max_size=30),
)
def test_an_edit_in_the_clients_units_gives_the_new_text(old: str, new: str) -> None:
    from regreen.edits import ColumnUnit
    from regreen.engine.documents import Documents

    for unit in (ColumnUnit.UTF8, ColumnUnit.UTF16, ColumnUnit.UTF32):
        change = to_proto.document_edit(Path.cwd() / "x.py", old, new, Documents(), unit)
        assert apply_edits(old, change.edits, unit.value) == new


@given(st.text(alphabet="a \té😀\r\n", max_size=30), st.integers(-2, 12))
def test_a_lines_range_lies_within_the_text(text: str, line: int) -> None:
    index = LineIndex(text)
    span = to_proto.line_span(index, line, Client().unit)
    assert 0 <= span.start.line == span.end.line < index.line_count
    assert span.start.character <= span.end.character


@pytest.mark.parametrize(
    ("kind", "only", "wanted"),
    [
        ("quickfix.regreen", None, True),
        ("quickfix.regreen", ["quickfix"], True),
        ("quickfix.regreen", [""], True),
        ("quickfix.regreen", ["quickfix.regreen"], True),
        ("quickfix.regreen", ["quickfix.regreenish"], False),
        ("quickfix.regreen", ["refactor"], False),
        ("source.fixAll.regreen", None, False),
        ("source.fixAll.regreen", ["source"], False),
        ("source.fixAll.regreen", ["source.fixAll"], False),
        ("source.fixAll.regreen", [t.CodeActionKind.SourceFixAll], False),
        ("source.fixAll.regreen", ["source.fixAll.regreen"], True),
    ],
)
def test_only_what_is_asked_for_is_offered(kind: str, only: list[str] | None, wanted: bool) -> None:
    assert from_proto.wants(kind, only) is wanted


def test_other_schemes_have_no_path() -> None:
    assert from_proto.path("untitled:Untitled-1") is None
    assert from_proto.path("vscode-notebook-cell:/a.ipynb#1") is None
    path = Path.cwd() / "a b é.py"
    assert from_proto.path(path.as_uri()) == path
