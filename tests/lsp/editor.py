"""A scripted editor: it talks to a real server over stdio and keeps its buffers the way VS Code or Neovim does.

Positions are converted here by other means than the server's own, so that an error on one side shows.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Union

import cattrs
import pytest
from lsprotocol import types as t
from pygls.uris import to_fs_path
from pytest_lsp import LanguageClient, client_capabilities
from pytest_lsp.client import register_lsp_features
from tests.processes import close_pipes

from regreen.lsp.server import lenient_converter

PATIENCE_SECONDS = 180.0
"""Only ends a test that is broken; nothing waits that long."""

VS_CODE, NEOVIM = "visual_studio_code", "neovim"

ONE_CLIENT = pytest.mark.parametrize("editor", [VS_CODE], indirect=True)
"""For what takes long and where nothing depends on what a client can do."""

BRIEF = {"heal.maxCandidates": 12, "heal.offers": 1}
"""Ends each search soon after its fix: how long the search goes on looking for rivals is not what these tests ask."""

QUIET_SECONDS = 2.0
"""Longer than the moment without typing after which a fix would be applied by itself."""


def units(text: str, encoding: str) -> int:
    """How many columns a piece of one line is."""
    size = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    return len(text.encode(f"{encoding}-le" if size > 1 else encoding)) // size


def offset_of(text: str, position: t.Position, encoding: str) -> int:
    """The offset of a position, by counting characters one by one."""
    starts = [0, *(m.end() for m in re.finditer(r"\r\n|\n|\r", text))]
    at = starts[position.line]
    while units(text[starts[position.line] : at], encoding) < position.character:
        at += 1
    return at


def apply_edits(text: str, edits: Sequence[Any], encoding: str) -> str:
    """Apply the edits of one document, last first."""
    places = sorted(
        (
            (offset_of(text, e.range.start, encoding), offset_of(text, e.range.end, encoding), e.new_text)
            for e in edits
        ),
        reverse=True,
    )
    for start, end, new in places:
        text = text[:start] + new + text[end:]
    return text


@dataclass
class Buffer:
    """An open document. VS Code counts versions from 1, Neovim from 0."""

    uri: str
    path: Path
    version: int
    text: str
    bom: bool = False
    encoding: str = "utf-8"
    undo: list[str] = field(default_factory=list)

    @property
    def data(self) -> bytes:
        return (b"\xef\xbb\xbf" if self.bom else b"") + self.text.encode(self.encoding)


class Editor:
    """One editor window with its server process."""

    def __init__(self, kind: str, environment: Mapping[str, str]) -> None:
        self.kind = kind
        self.python = sys.executable
        self.environment = dict(environment)
        # Lenient, so that it can say what the protocol does not know.
        self.client = LanguageClient(converter_factory=_converter)
        register_lsp_features(self.client)
        self.capabilities = client_capabilities(kind)
        self.encoding = "utf-16"
        self.buffers: dict[Path, Buffer] = {}
        self.registered: list[t.Registration] = []
        self.statuses: list[dict[str, Any]] = []
        self.applied: list[t.ApplyWorkspaceEditParams] = []
        self.takes_edits = True
        self.questions: list[t.ShowMessageRequestParams] = []
        self.answers: list[str] = []  # what the user picks, one after the other; then the question is closed
        self.published: dict[Path, t.PublishDiagnosticsParams] = {}
        self.supports_content = False
        self._typed_at = time.monotonic()
        self._answer()

    def _answer(self) -> None:
        feature: Callable[[str], Callable[[Any], Any]] = self.client.feature

        @feature(t.CLIENT_REGISTER_CAPABILITY)
        def register(params: t.RegistrationParams) -> None:
            self.registered += params.registrations

        @feature(t.WORKSPACE_CODE_LENS_REFRESH)
        def refresh(_params: None) -> None:
            return

        @feature(t.WORKSPACE_APPLY_EDIT)
        def apply(params: t.ApplyWorkspaceEditParams) -> t.ApplyWorkspaceEditResult:
            self.applied.append(params)
            if self.takes_edits:
                # The edit reaches the server as a change, as in a real editor; the reply may overtake it.
                self.apply(params.edit)
            return t.ApplyWorkspaceEditResult(applied=True)

        @feature(t.WINDOW_SHOW_MESSAGE_REQUEST)
        def ask(params: t.ShowMessageRequestParams) -> t.MessageActionItem | None:
            self.questions.append(params)
            return t.MessageActionItem(self.answers.pop(0)) if self.answers else None

        @feature("regreen/status")
        def status(params: Any) -> None:
            self.statuses.append(params._asdict())

        self.client.protocol.fm.features.pop(t.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, None)

        @feature(t.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def publish(params: t.PublishDiagnosticsParams) -> None:
            self.client.diagnostics[params.uri] = params.diagnostics
            self.published[_path(params.uri)] = params

    # ------------------------------------------------------------------ life

    async def start(
        self,
        *folders: Path,
        trusted: bool | None = True,
        settings: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> t.InitializeResult:
        if self.supports_content:
            workspace = self.capabilities.workspace
            assert workspace is not None
            workspace.text_document_content = t.TextDocumentContentClientCapabilities(
                dynamic_registration=True
            )
        chosen = {"interpreter": sys.executable, **BRIEF, **(settings or {})}
        self.client.set_configuration({"regreen": _nested(chosen)})
        await self.client.start_io(self.python, "-m", "regreen", "--stdio", env=self.environment)
        initialization = {"client": {"status": True}, **options}
        if trusted is not None:
            initialization["trusted"] = trusted
        result = await self.client.initialize_session(
            t.InitializeParams(
                capabilities=self.capabilities,
                root_uri=folders[0].as_uri(),
                workspace_folders=[t.WorkspaceFolder(folder.as_uri(), folder.name) for folder in folders],
                initialization_options=initialization,
            )
        )
        encoding = result.capabilities.position_encoding
        self.encoding = getattr(encoding, "value", encoding) or "utf-16"
        return result

    @property
    def server(self) -> asyncio.subprocess.Process:
        server = self.client._server
        assert server is not None
        return server

    async def stop(self) -> None:
        if self.client._server is not None and self.client._server.returncode is None:
            await self.client.shutdown_session()
        await self.client.stop()  # type: ignore[no-untyped-call]
        if self.client._server is not None:
            await close_pipes(self.client._server)

    # ------------------------------------------------------------------ documents

    def open(self, path: Path) -> Buffer:
        data = path.read_bytes()
        bom = data.startswith(b"\xef\xbb\xbf")
        encoding = "latin-1" if b"coding: latin-1" in data[:100] else "utf-8"
        text = data.removeprefix(b"\xef\xbb\xbf").decode(encoding)
        buffer = Buffer(path.as_uri(), path, 1 if self.kind == VS_CODE else 0, text, bom, encoding)
        self.buffers[path] = buffer
        item = t.TextDocumentItem(buffer.uri, "python", buffer.version, text)
        self.client.text_document_did_open(t.DidOpenTextDocumentParams(item))
        return buffer

    def type(self, path: Path, text: str) -> None:
        buffer = self.buffers[path]
        buffer.undo.append(buffer.text)
        buffer.text, buffer.version = text, buffer.version + 1
        self._typed_at = time.monotonic()
        identifier = t.VersionedTextDocumentIdentifier(version=buffer.version, uri=buffer.uri)
        whole = t.TextDocumentContentChangeWholeDocument(text=text)
        self.client.text_document_did_change(t.DidChangeTextDocumentParams(identifier, [whole]))

    def undo(self, path: Path) -> None:
        self.type(path, self.buffers[path].undo[-1])

    def save(
        self,
        path: Path,
        text: str | None = None,
        reason: t.TextDocumentSaveReason = t.TextDocumentSaveReason.Manual,
    ) -> None:
        if text is not None:
            self.type(path, text)
        buffer = self.buffers[path]
        identifier = t.TextDocumentIdentifier(buffer.uri)
        self.client.text_document_will_save(t.WillSaveTextDocumentParams(identifier, reason))
        path.write_bytes(buffer.data)
        self.client.text_document_did_save(t.DidSaveTextDocumentParams(identifier))

    def close(self, path: Path) -> None:
        buffer = self.buffers.pop(path)
        self.client.text_document_did_close(
            t.DidCloseTextDocumentParams(t.TextDocumentIdentifier(buffer.uri))
        )

    def apply(self, edit: t.WorkspaceEdit) -> None:
        """Apply an edit as an editor does: closed files become modified buffers, stale versions are refused."""
        for change in edit.document_changes or ():
            assert isinstance(change, t.TextDocumentEdit)
            path = _path(change.text_document.uri)
            if path not in self.buffers:
                assert change.text_document.version is None
                self.open(path)
            elif change.text_document.version != self.buffers[path].version:
                return
            self.type(path, apply_edits(self.buffers[path].text, change.edits, self.encoding))

    # ------------------------------------------------------------------ requests

    async def actions(
        self, path: Path, line: int, *, only: Sequence[str] | None = None
    ) -> Sequence[t.CodeAction]:
        uri = path.as_uri()
        here = t.Range(t.Position(line, 0), t.Position(line, 0))
        near = [
            d for d in self.client.diagnostics.get(uri, ()) if d.range.start.line <= line <= d.range.end.line
        ]
        found = await self.client.text_document_code_action_async(
            t.CodeActionParams(t.TextDocumentIdentifier(uri), here, t.CodeActionContext(near, only))
        )
        return [action for action in found or () if isinstance(action, t.CodeAction)]

    async def fixes(self, path: Path, line: int) -> Sequence[t.CodeAction]:
        return [a for a in await self.actions(path, line) if a.title.startswith("Fix ")]

    async def fix_at(self, path: Path, line: int) -> t.CodeAction:
        """Wait until a verified fix is offered here."""
        offered: Sequence[t.CodeAction] = await self.until(lambda: self.fixes(path, line))
        return offered[0]

    async def resolve(self, action: t.CodeAction) -> t.WorkspaceEdit:
        assert action.edit is None
        resolved = await self.client.code_action_resolve_async(action)
        assert resolved.edit is not None
        return resolved.edit

    async def take(self, action: t.CodeAction) -> None:
        self.apply(await self.resolve(action))

    async def command(self, name: str, **argument: Any) -> Any:
        params = t.ExecuteCommandParams(f"regreen.server.{name}", [argument])
        return _plain(await self.client.workspace_execute_command_async(params))

    async def status(self) -> Sequence[Mapping[str, Any]]:
        return list((await self.command("status"))["projects"])

    async def idle(self) -> Sequence[Mapping[str, Any]]:
        """Wait until nothing runs in any project."""

        async def look() -> Any:
            states = await self.status()
            return states if states and not {s["state"] for s in states} & {"running", "healing"} else None

        return list(await self.until(look))

    async def all_quiet(self) -> None:
        """Wait until what would be applied by itself was: the run is over, and nobody typed for a while."""
        await self.idle()
        await asyncio.sleep(max(0.0, self._typed_at + QUIET_SECONDS - time.monotonic()))
        await self.status()  # the server's requests before its answer were taken

    # ------------------------------------------------------------------ what was seen

    def red(self, path: Path) -> Sequence[t.Diagnostic]:
        return [d for d in self.client.diagnostics.get(path.as_uri(), ()) if d.code == "test-failed"]

    def notices(self, path: Path) -> Sequence[t.Diagnostic]:
        return [d for d in self.client.diagnostics.get(path.as_uri(), ()) if d.code == "notice"]

    @property
    def log(self) -> str:
        return "\n".join(message.message for message in self.client.log_messages)

    async def until(self, condition: Callable[[], Any]) -> Any:
        """Wait until a condition (or what it awaits) is truthy, and give its value."""
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            value = condition()
            value = await value if asyncio.iscoroutine(value) else value
            if value:
                return value
            await asyncio.sleep(0.05)
        raise AssertionError(
            f"it never came to that; the server's log:\n{self.log}\n{self.client.diagnostics}"
        )


def _nested(settings: Mapping[str, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for key, value in settings.items():
        *parents, name = key.split(".")
        node = tree
        for parent in parents:
            node = node.setdefault(parent, {})
        node[name] = value
    return tree


def _plain(value: Any) -> Any:
    if hasattr(value, "_asdict"):
        return {key: _plain(item) for key, item in value._asdict().items()}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _converter() -> cattrs.Converter:
    """Tells a code action that has a command from a bare command, which the library's own does not."""
    converter = lenient_converter()

    def action(value: Any, _: Any) -> t.CodeAction | t.Command:
        bare = isinstance(value.get("command"), str)
        return converter.structure(value, t.Command) if bare else converter.structure(value, t.CodeAction)

    converter.register_structure_hook(Union[t.Command, t.CodeAction], action)  # noqa: UP007 — the library's own key
    return converter


def read_uri(uri: str) -> str:
    """The text of a file that was shown."""
    return _path(uri).read_text("utf-8")


def fix_of(action: t.CodeAction) -> str:
    """The id of the fix that an action stands for."""
    return str(_plain(action.data)["fix"])


def _path(uri: str) -> Path:
    return Path(to_fs_path(uri) or "")


def environment(state: Path) -> dict[str, str]:
    """The server's environment: nothing is written outside of `state`."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("REGREEN_", "PYTEST_", "VIRTUAL_ENV"))}
    # The plug-ins of the environment that runs these tests would be imported anew by every run.
    kept["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    return {**kept, "REGREEN_CACHE_DIR": str(state / "cache"), "REGREEN_STATE_DIR": str(state / "state")}
