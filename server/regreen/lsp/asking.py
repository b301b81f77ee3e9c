"""How is the user of an editor asked before a model is told anything? By standard requests that every client shows."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types as t
from pygls.lsp.server import LanguageServer

from regreen.llm.parts import Sending
from regreen.platform import dirs
from regreen.platform.background import run_blocking
from regreen.platform.files import write_atomic

SEND, SHOW, NOT_NOW, NEVER = "Send", "Show the text", "Not now", "Never in this folder"
APPROVE, EDIT, REJECT, CONTINUE = "Approve", "Edit", "Reject", "Continue"


async def may_send(server: LanguageServer, sending: Sending, *, shows_documents: bool) -> bool | None:
    """Show provider, model and price, and the text where it is asked for.

    Returns:
        Whether it may be sent; None: not now.
    """
    info = sending.info
    price = "an unknown price" if sending.usd is None else f"at most about ${sending.usd:.4f}"
    where = f"{info.provider} at {info.address}" if info.address else f"{info.provider} on this machine"
    text = (
        f"Regreen: may {info.model} ({where}) be asked for a fix? The first request has {sending.tokens} tokens of "
        f"{sending.folder.name} for {price}; one red test may cost ${sending.limit_usd:g} at most."
    )
    while True:
        said = await _choice(server, text, [SEND, SHOW, NOT_NOW, NEVER])
        if said != SHOW:
            return {SEND: True, NEVER: False}.get(said)
        page = "\n\n".join(f"--- {message.role}\n{message.text}" for message in sending.messages)
        if not shows_documents:
            server.window_show_message(t.ShowMessageParams(t.MessageType.Info, page))
            continue
        await _show(server, "what-would-be-sent.txt", page)


async def review(server: LanguageServer, title: str, text: str, *, shows_documents: bool) -> str | None:
    """Show a plan or a patch; it is approved, edited in a file that the editor opens, or rejected (None)."""
    if not shows_documents:
        said = await _choice(server, f"Regreen: {title}\n\n{text}", [APPROVE, REJECT])
        return text if said == APPROVE else None
    uri = await _show(server, "review.txt", text)
    said = await _choice(server, f"Regreen: {title}", [APPROVE, EDIT, REJECT])
    if said == EDIT:
        said = await _choice(server, "Regreen: change the text, save it, then continue.", [CONTINUE, REJECT])
        if said == CONTINUE:
            return await run_blocking(_page_text, uri)
    return text if said == APPROVE else None


async def _choice(server: LanguageServer, text: str, actions: Sequence[str]) -> str:
    """What the user picked; "" when the question was closed."""
    params = t.ShowMessageRequestParams(
        type=t.MessageType.Info, message=text, actions=[t.MessageActionItem(title=one) for one in actions]
    )
    answer = await server.window_show_message_request_async(params)
    return answer.title if answer is not None else ""


async def _show(server: LanguageServer, name: str, text: str) -> str:
    path = dirs.state_dir("pages") / name
    await run_blocking(write_atomic, path, text.encode("utf-8"))
    await server.window_show_document_async(t.ShowDocumentParams(uri=path.as_uri(), take_focus=True))
    return name


def _page_text(name: str) -> str:
    return (dirs.state_dir("pages") / name).read_bytes().decode("utf-8")
