"""What belongs to one connection: the client's facts, the engine, and the folders the client opened."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types as t
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from regreen.engine import Engine, World
from regreen.lsp import client as clients
from regreen.lsp import from_proto, to_proto
from regreen.lsp.reporter import EditorFace
from regreen.settings import without_defaults

log = logging.getLogger(__name__)

WATCHED = ("**/*.py", "**/pyproject.toml", "**/pytest.ini", "**/setup.cfg", "**/tox.ini")


class Session:
    """One client, from initialize to shutdown."""

    def __init__(self, server: LanguageServer, world: World) -> None:
        self.server = server
        self.face = EditorFace(server)
        self.engine = Engine(world, self.face)
        self.face.attach(self.engine)
        self.save_reasons: dict[Path, t.TextDocumentSaveReason | int] = {}
        self.shows_content = False
        self._folders: list[Path] = []
        self._pushed: Mapping[str, Any] = {}

    @property
    def client(self) -> clients.Client:
        """The client's facts."""
        return self.face.client

    # ------------------------------------------------------------------ begin and end

    def initialize(self, params: t.InitializeParams) -> None:
        """Learn what the client can do; nothing is opened yet."""
        encoding = self.server.workspace.position_encoding
        self.face.client = clients.read(params, getattr(encoding, "value", encoding))
        uris = [folder.uri for folder in params.workspace_folders or ()]
        if not uris and params.root_uri:
            uris = [params.root_uri]
        self._folders = [path for uri in uris if (path := from_proto.path(uri)) is not None]

    async def initialized(self) -> None:
        """Open the folders, then register what only this client can do, each by itself."""
        for folder in self._folders:
            self.open_folder(folder)
        if self.client.registers_configuration:
            await self._register(t.WORKSPACE_DID_CHANGE_CONFIGURATION, {"section": "regreen"})
        if self.client.registers_watchers:
            watchers = [t.FileSystemWatcher(glob_pattern=pattern) for pattern in WATCHED]
            options = t.DidChangeWatchedFilesRegistrationOptions(watchers=watchers)
            await self._register(t.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        if self.client.registers_content:
            content = t.TextDocumentContentRegistrationOptions(schemes=[to_proto.SCHEME])
            self.shows_content = await self._register(t.WORKSPACE_TEXT_DOCUMENT_CONTENT, content)

    async def _register(self, method: str, options: Any) -> bool:
        registration = t.Registration(id=f"regreen:{method}", method=method, register_options=options)
        try:
            await self.server.client_register_capability_async(t.RegistrationParams([registration]))
        except JsonRpcException as error:
            log.info("The client does not register %s: %s", method, error)
            return False
        return True

    async def close(self) -> None:
        """End everything that runs; safe to call twice."""
        await self.engine.close()
        self.face.close()

    # ------------------------------------------------------------------ folders and settings

    def open_folder(self, path: Path) -> None:
        """Open a workspace folder with the client's settings for it."""
        self.engine.open_folder(
            path,
            sources=self.sources,
            trusted=self.client.trusts(path),
            watch=not self.client.registers_watchers,
        )

    def change_folders(self, event: t.WorkspaceFoldersChangeEvent) -> None:
        """Folders were added or removed."""
        for removed in event.removed:
            if (path := from_proto.path(removed.uri)) is not None:
                self.engine.close_folder(path)
        for added in event.added:
            if (path := from_proto.path(added.uri)) is not None:
                self.open_folder(path)

    async def sources(self, folder: Path) -> Sequence[Mapping[str, Any]]:
        """The client's settings of a folder or of a project in it, oldest first."""
        sources = [self.client.settings or {}, self._pushed]
        if self.client.answers_configuration:
            item = t.ConfigurationItem(scope_uri=folder.as_uri(), section="regreen")
            try:
                answers = await self.server.workspace_configuration_async(t.ConfigurationParams([item]))
            except JsonRpcException as error:
                log.info("The client has no settings: %s", error)
            else:
                sources.append(from_proto.settings(answers[0] if answers else None))
        return [without_defaults(source) for source in sources]

    def change_settings(self, pushed: Any) -> None:
        """Settings changed: take what was sent along, and ask again for every folder."""
        self._pushed = from_proto.settings(pushed)
        for folder in list(self.engine.registry.folders):
            self.engine.configure(folder)
