"""What do the commands `regreen.server.*` do? Each takes one object and answers at once but `settled`, which waits for what the others started."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from lsprotocol import types as t

from regreen.engine import Again, Change, ProjectState, fix_title
from regreen.errors import StaleFix
from regreen.lsp import content, from_proto, to_proto
from regreen.lsp.session import Session
from regreen.platform.waiting import within

Argument = Mapping[str, Any]
READY_SECONDS = 10.0


async def heal(session: Session, argument: Argument) -> dict[str, Any]:
    """Look for fixes: of `nodeid`, of the red tests of the file `uri`, or of everything red."""
    states, nodeids = await _about(session, argument)
    return {"message": session.engine.heal(nodeids, states)}


async def resume(session: Session, argument: Argument) -> dict[str, Any]:
    """Take up the last heal of `nodeid` by a model, with a `hint`, another `model`, or from an earlier `round`."""
    states, nodeids = await _about(session, argument)
    number = argument.get("round")
    again = Again(
        nodeids[0] if nodeids else "",
        from_proto.text(argument, "hint") or "",
        from_proto.text(argument, "model") or "",
        number if isinstance(number, int) else None,
    )
    return {"message": session.engine.resume(again, states)}


async def run_tests(session: Session, argument: Argument) -> dict[str, Any]:
    """Run tests: `nodeid`, the file `uri`, or the whole suite."""
    states, nodeids = await _about(session, argument, run=True)
    return {"message": session.engine.run_tests(nodeids, states)}


async def cancel(session: Session, argument: Argument) -> dict[str, Any]:
    """Stop what runs in the project of `uri` or `root`, or everywhere."""
    states = session.engine.queries.projects(from_proto.place(argument))
    return {"cancelled": session.engine.cancel(states)}


async def settled(session: Session, argument: Argument) -> dict[str, Any]:
    """Answer once all that was asked for in the project of `uri` or `root`, or everywhere, is over: the one that waits."""
    await session.engine.settled(from_proto.place(argument))
    return {"projects": [to_proto.status(value) for value in session.engine.queries.statuses()]}


async def trust(session: Session, argument: Argument) -> dict[str, Any]:
    """Trust the folder that holds `uri` or `root`, or the only open folder."""
    registry = session.engine.registry
    place = from_proto.place(argument)
    if place is None and len(registry.folders) == 1:
        place = next(iter(registry.folders))
    folder = registry.folder_of(place) if place is not None else None
    if folder is None:
        return {"trusted": False, "message": "Name the folder to trust as `uri`."}
    await session.engine.trust(folder.path)
    return {"trusted": True, "folder": folder.path.as_uri()}


async def show_diff(session: Session, argument: Argument) -> dict[str, Any] | None:
    """Show a fix's diff as a document."""
    answer = await diff(session, argument)
    if answer is not None:
        virtual = to_proto.virtual_uri("diff", answer["fix"], "fix.diff")
        await content.show_page(session, f"fix-{answer['fix'][:16]}.diff", answer["diff"], virtual)
    return answer


async def diff(session: Session, argument: Argument) -> dict[str, Any] | None:
    """A fix as unified diff and as text before and after, for clients that show it by themselves."""
    offer = session.engine.queries.offer(from_proto.text(argument, "fix") or "")
    return to_proto.diff(offer, session.engine.documents) if offer is not None else None


async def explain(session: Session, argument: Argument) -> dict[str, Any]:
    """All that is known about `nodeid`, as Markdown; shown as a document unless `show` is false."""
    nodeid = from_proto.text(argument, "nodeid") or ""
    page = session.engine.queries.explain(nodeid, docs=session.client.docs)
    if page and argument.get("show", True):
        await content.show_page(session, "explanation.md", page)
    return {"markdown": page}


async def mute(session: Session, argument: Argument) -> dict[str, Any]:
    """Suggest no more fixes for `nodeid` in this session."""
    nodeid = from_proto.text(argument, "nodeid")
    if nodeid is not None:
        session.engine.mute(nodeid, session.engine.queries.projects(from_proto.place(argument)))
    return {"muted": nodeid}


async def apply(session: Session, argument: Argument) -> dict[str, Any]:
    """Apply a fix as one edit of the editor, for lenses and clients without code actions."""
    try:
        offer = await session.engine.queries.resolve(from_proto.text(argument, "fix") or "")
    except StaleFix as stale:
        session.server.window_show_message(t.ShowMessageParams(t.MessageType.Info, str(stale)))
        return {"applied": False, "message": str(stale)}
    await session.face.apply(Change(fix_title(offer), offer.fix.fix_id, offer.before, offer.after))
    return {"applied": True}


async def fix_applied(session: Session, argument: Argument) -> dict[str, Any]:
    """A client says that it applied `fix`; whether the text is there is looked up, not believed."""
    offer = session.engine.queries.offer(from_proto.text(argument, "fix") or "")
    return {"known": offer is not None}


async def toggle_auto_heal(session: Session, argument: Argument) -> dict[str, Any]:
    """Turn healing on save on or off in the folder of `uri` or `root`, or in every open folder."""
    registry = session.engine.registry
    await _ready(session)
    place = from_proto.place(argument)
    holding = registry.folder_of(place) if place is not None else None
    folders = [holding] if holding is not None else list(registry.folders.values())
    return {"autoHeal": any([session.engine.toggle_auto_heal(folder.path) for folder in folders])}  # noqa: C419 — every folder is toggled


async def status(session: Session, _argument: Argument) -> dict[str, Any]:
    """What is going on in every project."""
    await _ready(session)
    return {"projects": [to_proto.status(value) for value in session.engine.queries.statuses()]}


async def reds(session: Session, _argument: Argument) -> dict[str, Any]:
    """Every red test with its fixes, for lists and menus."""
    return {"reds": [to_proto.red(red, session.engine.documents) for red in session.engine.queries.reds()]}


async def _about(
    session: Session, argument: Argument, *, run: bool = False
) -> tuple[Sequence[ProjectState], Sequence[str]]:
    """The projects and node ids that an argument names."""
    await _ready(session)
    place = from_proto.place(argument)
    if place is not None:
        await session.engine.registry.find(place)
    states = session.engine.queries.projects(place)
    if (nodeid := from_proto.text(argument, "nodeid")) is not None:
        return states, [nodeid]
    if place is not None and place.is_file() and states:
        return states, session.engine.queries.tests_of_file(place, states[0], run=run)
    return states, []


async def _ready(session: Session) -> None:
    try:
        await within(READY_SECONDS, session.engine.ready())
    except asyncio.TimeoutError:  # a huge folder: answer by what is known
        return


COMMANDS: Mapping[str, Callable[[Session, Argument], Awaitable[Any]]] = {
    "regreen.server.heal": heal,
    "regreen.server.resume": resume,
    "regreen.server.runTests": run_tests,
    "regreen.server.cancel": cancel,
    "regreen.server.settled": settled,
    "regreen.server.trust": trust,
    "regreen.server.showDiff": show_diff,
    "regreen.server.diff": diff,
    "regreen.server.explain": explain,
    "regreen.server.mute": mute,
    "regreen.server.apply": apply,
    "regreen.server.fixApplied": fix_applied,
    "regreen.server.toggleAutoHeal": toggle_auto_heal,
    "regreen.server.status": status,
    "regreen.server.reds": reds,
}
