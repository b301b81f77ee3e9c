"""Which actions belong to a place, and what do our own documents and pages contain?"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from lsprotocol import types as t

from regreen.lsp import from_proto, to_proto
from regreen.lsp.session import Session
from regreen.platform import dirs
from regreen.platform.background import run_blocking
from regreen.platform.files import write_atomic

log = logging.getLogger(__name__)


def quick_fixes(session: Session, path: Path, params: t.CodeActionParams) -> Sequence[t.CodeAction]:
    """The quick fixes within reach of a range."""
    first, last = from_proto.lines(params.range)
    engine = session.engine
    notices = [m for m in engine.queries.marks(path) if m.kind == "notice" and first <= m.line <= last]
    folder = engine.registry.folder_of(path)
    if notices and folder is not None and not engine.registry.is_trusted(folder.path):
        return [to_proto.trust_action(folder.path)]
    reds = engine.queries.reds_at(path, first, last)
    return to_proto.quick_fixes(reds, params.context, engine.documents, session.client)


def fix_all(session: Session, path: Path) -> Sequence[t.CodeAction]:
    """All verified fixes of an open file, none when there is none."""
    document = session.engine.documents.get(path)
    offers = session.engine.queries.fixes_of(path)
    if document is None or not offers:
        return []
    return [to_proto.fix_all(offers, document, session.engine.documents, session.client.unit)]


def virtual_text(session: Session, uri: str) -> str:
    """The text of a document that `to_proto.virtual_uri` names; empty when the fix is gone."""
    kind, fix_id, number = [
        unquote(part) for part in (*uri.partition(":")[2].strip("/").split("/"), "", "", "")
    ][:3]
    offer = session.engine.queries.offer(fix_id)
    if offer is None:
        return ""
    if kind == "diff":
        return offer.fix.diff
    files = to_proto.diff(offer, session.engine.documents)["files"]
    return str(files[int(number)]["after"]) if number.isdecimal() and int(number) < len(files) else ""


async def show_page(session: Session, name: str, text: str, virtual: str = "") -> None:
    """Show a text as the answer to a command, by the best way the client has."""
    if not session.client.shows_documents:
        session.server.window_show_message(t.ShowMessageParams(t.MessageType.Info, text[:4000]))
        return
    uri = (
        virtual
        if virtual and session.shows_content
        else (await run_blocking(_write_page, name, text)).as_uri()
    )
    await session.server.window_show_document_async(t.ShowDocumentParams(uri=uri, take_focus=True))


def _write_page(name: str, text: str) -> Path:
    path = dirs.state_dir("pages") / name
    write_atomic(path, text.encode("utf-8"))
    return path
