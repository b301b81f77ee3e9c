"""How does what the engine knows reach the editor? Diagnostics, lenses, progress, log and status; never a pop-up."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from lsprotocol import types as t
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from regreen import edits
from regreen.engine import Change, Engine, Level, Status
from regreen.engine.core import read_bytes
from regreen.errors import UnreadableText
from regreen.llm.parts import Sending
from regreen.lsp import asking, to_proto
from regreen.lsp.client import Client
from regreen.platform.background import run_blocking

log = logging.getLogger(__name__)

_TYPES = {
    Level.INFO: t.MessageType.Info,
    Level.WARNING: t.MessageType.Warning,
    Level.ERROR: t.MessageType.Error,
}
REPORT_SECONDS = 0.1


class Progress:
    """One work-done progress of the client; it may be created after the work is over, or never."""

    def __init__(self, title: str, cancel: Callable[[], object]) -> None:
        self.token = str(uuid.uuid4())
        self.title = title
        self.cancel = cancel
        self.shown = False
        self.over = False
        self.reported_at = 0.0


class EditorFace:
    """The editor, as the engine sees it.

    Args:
        server: sends to the client.
    """

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._engine: Engine | None = None
        self.client = Client()
        self._progress: dict[Path, Progress] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def attach(self, engine: Engine) -> None:
        """Show what this engine knows."""
        self._engine = engine

    @property
    def engine(self) -> Engine:
        """The engine whose knowledge is shown."""
        if self._engine is None:
            raise RuntimeError("no engine is attached yet")
        return self._engine

    # ------------------------------------------------------------------ what is shown in files

    def publish(self, paths: frozenset[Path]) -> None:
        """The marks or lenses of these files changed."""
        closed = []
        for path in sorted(paths):
            document = self.engine.documents.get(path)
            if document is not None:
                self._send(path, document.text)
            else:
                closed.append(path)
        if closed:
            self._spawn(self._publish_closed(closed))
        if self.client.refreshes_lenses:
            self._spawn(self._refresh_lenses())

    async def _publish_closed(self, paths: list[Path]) -> None:
        for path in paths:
            data = await run_blocking(read_bytes, path)
            document = self.engine.documents.get(path)
            self._send(path, document.text if document is not None else _text(data))

    def _send(self, path: Path, text: str) -> None:
        engine = self.engine
        params = to_proto.diagnostics(path, engine.queries.marks(path), text, engine.documents, self.client)
        self._server.text_document_publish_diagnostics(params)

    async def _refresh_lenses(self) -> None:
        await self._server.workspace_code_lens_refresh_async(None)

    # ------------------------------------------------------------------ what goes on

    def log(self, level: Level, text: str) -> None:
        """A line for the client's log."""
        self._server.window_log_message(t.LogMessageParams(_TYPES[level], text))

    def status(self, status: Status) -> None:
        """Tell clients that asked for it."""
        if self.client.shows_status:
            self._server.protocol.notify("regreen/status", to_proto.status(status))

    def begin(self, root: Path, title: str, cancel: Callable[[], object]) -> None:
        """A run began."""
        if self.client.shows_progress:
            progress = self._progress[root] = Progress(title, cancel)
            self._spawn(self._show(progress))

    async def _show(self, progress: Progress) -> None:
        await self._server.work_done_progress.create_async(progress.token)
        if not progress.over:
            progress.shown = True
            begin = t.WorkDoneProgressBegin(title=progress.title, cancellable=True)
            self._server.work_done_progress.begin(progress.token, begin)

    def report(self, root: Path, message: str, fraction: float | None) -> None:
        """The run moved on; clients hear of it at most ten times a second."""
        progress = self._progress.get(root)
        now = time.monotonic()
        if progress is not None and progress.shown and now - progress.reported_at > REPORT_SECONDS:
            progress.reported_at = now
            percentage = None if fraction is None else round(100 * fraction)
            report = t.WorkDoneProgressReport(message=message, percentage=percentage, cancellable=True)
            self._server.work_done_progress.report(progress.token, report)

    def end(self, root: Path, message: str) -> None:
        """The run ended."""
        if (progress := self._progress.pop(root, None)) is not None:
            progress.over = True
            if progress.shown:
                end = t.WorkDoneProgressEnd(message=message or None)
                self._server.work_done_progress.end(progress.token, end)
            self._server.work_done_progress.tokens.pop(progress.token, None)

    def cancel_token(self, token: int | str) -> None:
        """The user pressed cancel in the client."""
        for progress in list(self._progress.values()):
            if progress.token == token:
                progress.cancel()

    # ------------------------------------------------------------------ changes

    async def apply(self, change: Change) -> None:
        """Ask the client to make a change; whether it did is seen in the documents."""
        if not self.client.applies_edits:
            self.log(Level.INFO, f"This editor takes no edits from a server: {change.label}")
            return
        documents = self.engine.documents
        edit = to_proto.workspace_edit(change.before, change.after, documents, self.client.unit)
        params = t.ApplyWorkspaceEditParams(edit=edit, label=change.label)
        await self._server.workspace_apply_edit_async(params)

    # ------------------------------------------------------------------ questions

    @property
    def keys(self) -> Mapping[str, str]:
        """API keys that the client keeps."""
        return self.client.keys

    remembers = True

    async def may_send(self, sending: Sending) -> bool | None:
        """Ask the user whether a model may be told this."""
        return await asking.may_send(self._server, sending, shows_documents=self.client.shows_documents)

    async def review(self, title: str, text: str) -> str | None:
        """Let the user approve, change or reject a plan or a patch."""
        return await asking.review(self._server, title, text, shows_documents=self.client.shows_documents)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(_logged(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: work.close())  # where it was cancelled before it began

    def close(self) -> None:
        """Send nothing more that waits for an answer."""
        for task in list(self._tasks):
            task.cancel()


async def _logged(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except JsonRpcException as error:  # the client refused or does not know the request
        log.info("The client answered: %s", error)
    except Exception:
        log.exception("Telling the client failed.")


def _text(data: bytes | None) -> str:
    try:
        return edits.decode(data or b"").text
    except UnreadableText:
        return (data or b"").decode("utf-8", "replace")
