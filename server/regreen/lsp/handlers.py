"""Which message does what? Each handler converts, calls, and converts back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lsprotocol import types as t
from pygls.exceptions import JsonRpcException

from regreen.errors import StaleFix
from regreen.lsp import content, from_proto, to_proto
from regreen.lsp.from_proto import FIX_ALL, QUICK_FIX
from regreen.lsp.session import Session


def initialize(session: Session, params: t.InitializeParams) -> None:
    """Learn what the client can do."""
    session.initialize(params)


async def initialized(session: Session, _params: t.InitializedParams) -> None:
    """Open the folders."""
    await session.initialized()


async def shutdown(session: Session, _params: None) -> None:
    """End everything that runs."""
    await session.close()


def did_open(session: Session, params: t.DidOpenTextDocumentParams) -> None:
    """A document was opened."""
    document = params.text_document
    if (path := from_proto.path(document.uri)) is not None:
        session.engine.opened(path, document.uri, document.version, document.text)


def did_change(session: Session, params: t.DidChangeTextDocumentParams) -> None:
    """A document's text changed; with full synchronisation the last change is all of it."""
    path = from_proto.path(params.text_document.uri)
    if path is not None and params.content_changes:
        session.engine.edited(path, params.text_document.version, params.content_changes[-1].text)


def will_save(session: Session, params: t.WillSaveTextDocumentParams) -> None:
    """A document is about to be saved: remember why."""
    if (path := from_proto.path(params.text_document.uri)) is not None:
        session.save_reasons[path] = params.reason


def did_save(session: Session, params: t.DidSaveTextDocumentParams) -> None:
    """A document was saved."""
    if (path := from_proto.path(params.text_document.uri)) is not None:
        reason = session.save_reasons.pop(path, t.TextDocumentSaveReason.Manual)
        session.engine.saved(path, by_hand=reason == t.TextDocumentSaveReason.Manual)


def did_close(session: Session, params: t.DidCloseTextDocumentParams) -> None:
    """A document was closed."""
    if (path := from_proto.path(params.text_document.uri)) is not None:
        session.engine.closed(path)


def did_change_watched_files(session: Session, params: t.DidChangeWatchedFilesParams) -> None:
    """Files may have changed outside of the editor."""
    for change in params.changes:
        if (path := from_proto.path(change.uri)) is not None:
            session.engine.changed_on_disk(path)


def did_change_configuration(session: Session, params: t.DidChangeConfigurationParams) -> None:
    """Settings changed."""
    session.change_settings(params.settings)


def did_change_folders(session: Session, params: t.DidChangeWorkspaceFoldersParams) -> None:
    """Folders were added or removed."""
    session.change_folders(params.event)


def cancel_progress(session: Session, params: t.WorkDoneProgressCancelParams) -> None:
    """The user pressed cancel."""
    session.face.cancel_token(params.token)


def code_action(session: Session, params: t.CodeActionParams) -> list[t.CodeAction] | None:
    """What can be done here, from memory."""
    path, only = from_proto.path(params.text_document.uri), params.context.only
    if path is None:
        return None
    fixes = content.quick_fixes(session, path, params) if from_proto.wants(QUICK_FIX, only) else []
    return [*fixes, *(content.fix_all(session, path) if from_proto.wants(FIX_ALL, only) else [])]


async def resolve_code_action(session: Session, action: t.CodeAction) -> t.CodeAction:
    """The edit of an action, if the text is still the one it was verified against."""
    if isinstance(action.data, dict) and action.edit is None:
        offer = await stale_means_modified(session, str(action.data.get("fix")))
        action.edit = to_proto.offer_edit(offer, session.engine.documents, session.client.unit)
    return action


def code_lens(session: Session, params: t.CodeLensParams) -> list[t.CodeLens]:
    """The lenses of a document."""
    path = from_proto.path(params.text_document.uri)
    return [to_proto.code_lens(lens) for lens in session.engine.queries.lenses(path)] if path else []


def text_document_content(
    session: Session, params: t.TextDocumentContentParams
) -> t.TextDocumentContentResult:
    """The text of a `regreen:` document."""
    return t.TextDocumentContentResult(text=content.virtual_text(session, params.uri))


async def stale_means_modified(session: Session, fix_id: str) -> Any:
    """The offer; a stale one is the protocol's ContentModified, which clients drop without a pop-up."""
    try:
        return await session.engine.queries.resolve(fix_id)
    except StaleFix as stale:
        raise JsonRpcException(message=str(stale), code=t.LSPErrorCodes.ContentModified) from stale


@dataclass(frozen=True, slots=True)
class Feature:
    """A method, what handles it, and what is advertised of it."""

    method: str
    handler: Callable[[Session, Any], Any]
    options: Any = None


FEATURES: Sequence[Feature] = (
    Feature(t.INITIALIZE, initialize),
    Feature(t.INITIALIZED, initialized),
    Feature(t.SHUTDOWN, shutdown),
    Feature(t.TEXT_DOCUMENT_DID_OPEN, did_open),
    Feature(t.TEXT_DOCUMENT_DID_CHANGE, did_change),
    Feature(t.TEXT_DOCUMENT_WILL_SAVE, will_save),
    Feature(t.TEXT_DOCUMENT_DID_SAVE, did_save, t.SaveOptions(include_text=False)),
    Feature(t.TEXT_DOCUMENT_DID_CLOSE, did_close),
    Feature(t.WORKSPACE_DID_CHANGE_WATCHED_FILES, did_change_watched_files),
    Feature(t.WORKSPACE_DID_CHANGE_CONFIGURATION, did_change_configuration),
    Feature(t.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, did_change_folders),
    Feature(t.WINDOW_WORK_DONE_PROGRESS_CANCEL, cancel_progress),
    Feature(
        t.TEXT_DOCUMENT_CODE_ACTION,
        code_action,
        t.CodeActionOptions(
            code_action_kinds=[t.CodeActionKind.QuickFix, QUICK_FIX, FIX_ALL], resolve_provider=True
        ),
    ),
    Feature(t.CODE_ACTION_RESOLVE, resolve_code_action),
    Feature(t.TEXT_DOCUMENT_CODE_LENS, code_lens, t.CodeLensOptions(resolve_provider=False)),
    Feature(t.WORKSPACE_TEXT_DOCUMENT_CONTENT, text_document_content),
)
