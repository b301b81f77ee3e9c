"""How do our values read in the client's words and units?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lsprotocol import types as t

from regreen import edits
from regreen.edits import ColumnUnit, LineIndex
from regreen.engine import Lens, Mark, Offer, Status, fix_title
from regreen.engine.documents import Document, Documents
from regreen.engine.queries import RedHere
from regreen.engine.state import short_name
from regreen.engine.views import describe, failing_line, outcome_note
from regreen.lsp.client import Client
from regreen.lsp.from_proto import FIX_ALL, QUICK_FIX

_SEVERITY = {
    "failure": t.DiagnosticSeverity.Error,
    "known": t.DiagnosticSeverity.Warning,
    "suspect": t.DiagnosticSeverity.Hint,
    "fix": t.DiagnosticSeverity.Information,
    "notice": t.DiagnosticSeverity.Information,
}
_CODE = {
    "failure": "test-failed",
    "known": "test-failed-before",
    "suspect": "suspect",
    "fix": "verified-fix",
    "notice": "notice",
}
COMMAND = "regreen.server."
SCHEME = "regreen"


def uri(path: Path, documents: Documents) -> str:
    """The URI of a file, spelt as the client spelt it if the document is open."""
    document = documents.get(path)
    return document.uri if document is not None else path.as_uri()


def span(index: LineIndex, start: int, end: int, unit: ColumnUnit) -> t.Range:
    """The range between two offsets."""
    first, last = index.position(start, unit), index.position(end, unit)
    return t.Range(t.Position(first.line, first.column), t.Position(last.line, last.column))


def line_span(index: LineIndex, line: int, unit: ColumnUnit) -> t.Range:
    """The content of one line without its indentation; the last line for one beyond the text."""
    line = max(0, min(line, index.line_count - 1))
    content = index.line_text(line)
    start = index.start(line) + len(content) - len(content.lstrip())
    return span(index, start, index.end(line), unit)


# --------------------------------------------------------------------------- diagnostics


def diagnostics(
    path: Path, marks: Sequence[Mark], text: str, documents: Documents, client: Client
) -> t.PublishDiagnosticsParams:
    """Everything to show in one file; the version only if the document holds the text that was run."""
    index = LineIndex(text)
    document = documents.get(path)
    tested = document is not None and all(mark.digest == document.digest for mark in marks)
    return t.PublishDiagnosticsParams(
        uri=uri(path, documents),
        version=document.version if document is not None and tested else None,
        diagnostics=[_diagnostic(mark, index, documents, client) for mark in marks],
    )


def _diagnostic(mark: Mark, index: LineIndex, documents: Documents, client: Client) -> t.Diagnostic:
    related = None
    if client.shows_related and mark.related:
        related = [
            t.DiagnosticRelatedInformation(t.Location(uri(path, documents), _whole_line(line)), text)
            for path, line, text in mark.related
        ]
    return t.Diagnostic(
        range=line_span(index, mark.line, client.unit),
        message=mark.message,
        severity=_SEVERITY[mark.kind],
        code=_CODE[mark.kind],
        source="regreen",
        related_information=related,
        data={"nodeid": mark.nodeid} if mark.nodeid else None,
    )


def _whole_line(line: int) -> t.Range:
    return t.Range(t.Position(line, 0), t.Position(line, 0))


# --------------------------------------------------------------------------- edits and actions


def workspace_edit(
    before: Mapping[Path, bytes], after: Mapping[Path, bytes], documents: Documents, unit: ColumnUnit
) -> t.WorkspaceEdit:
    """The smallest edit from one text to the other, bound to the versions of the open documents."""
    return t.WorkspaceEdit(
        document_changes=[
            document_edit(path, edits.decode(data).text, edits.decode(after[path]).text, documents, unit)
            for path, data in before.items()
        ]
    )


def document_edit(
    path: Path, old: str, new: str, documents: Documents, unit: ColumnUnit
) -> t.TextDocumentEdit:
    """The smallest edit of one document."""
    index = LineIndex(old)
    document = documents.get(path)
    return t.TextDocumentEdit(
        text_document=t.OptionalVersionedTextDocumentIdentifier(
            uri=uri(path, documents), version=document.version if document is not None else None
        ),
        edits=[
            t.TextEdit(span(index, edit.start, edit.end, unit), edit.new) for edit in edits.minimal(old, new)
        ],
    )


def offer_edit(offer: Offer, documents: Documents, unit: ColumnUnit) -> t.WorkspaceEdit:
    """The edit of a verified fix."""
    return workspace_edit(offer.before, offer.after, documents, unit)


def quick_fixes(
    reds: Sequence[RedHere], context: t.CodeActionContext, documents: Documents, client: Client
) -> list[t.CodeAction]:
    """One action per verified fix, best first, then what else can be done about a single red test."""
    actions: list[t.CodeAction] = []
    shown: set[str] = set()
    for red in reds:
        for rank, offer in enumerate(red.offers):
            if offer.fix.diff in shown:
                continue
            shown.add(offer.fix.diff)
            actions.append(
                t.CodeAction(
                    title=fix_title(offer),
                    kind=QUICK_FIX,
                    is_preferred=True if red.preferred and rank == 0 else None,
                    diagnostics=_about(red.nodeid, context) or None,
                    data={"fix": offer.fix.fix_id},
                    edit=None if client.resolves_edits else offer_edit(offer, documents, client.unit),
                )
            )
    if len(reds) == 1:
        actions += _more(reds[0], context)
        actions += _stale(reds[0], context, documents, client.unit)
    elif reds and not actions:
        argument = {"root": str(reds[0].state.root)}
        actions.append(_action(f"Find fixes for {len(reds)} red tests", "heal", argument, []))
    return actions


def _more(red: RedHere, context: t.CodeActionContext) -> Iterable[t.CodeAction]:
    name = short_name(red.nodeid)
    argument: dict[str, Any] = {"nodeid": red.nodeid, "root": str(red.state.root)}
    about = _about(red.nodeid, context)
    for offer in red.offers:
        title = "Show the diff" if len(red.offers) == 1 else f"Show the diff of {offer.fix.candidate.title}"
        yield _action(title, "showDiff", {**argument, "fix": offer.fix.fix_id}, about)
    if not red.offers:
        yield _action(f"Find a fix for {name}", "heal", argument, about)
    yield _action(f"Explain {name}", "explain", argument, about)
    if red.nodeid not in red.state.muted_tests:
        yield _action(f"Don't suggest fixes for {name}", "mute", argument, about)


def _stale(
    red: RedHere, context: t.CodeActionContext, documents: Documents, unit: ColumnUnit
) -> Iterable[t.CodeAction]:
    """Where the test looks stale, the change of it: for a person to take, so the last of all, and never preferred."""
    change = red.expectation
    document = documents.get(change.edit.path) if change is not None else None
    if change is None or document is None:
        return
    new = edits.apply(document.text, change.edit.edits)
    edit = document_edit(document.path, document.text, new, documents, unit)
    yield t.CodeAction(
        title=f"Update the expectation (changes a TEST): {_brief(change.old)} → {_brief(change.new)}",
        kind=QUICK_FIX,
        diagnostics=_about(red.nodeid, context) or None,
        edit=t.WorkspaceEdit(document_changes=[edit]),
    )


def _brief(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"


def trust_action(root: Path) -> t.CodeAction:
    """The quick fix of an untrusted folder."""
    return _action("Trust this folder and run its tests", "trust", {"root": str(root)}, [])


def fix_all(
    offers: Sequence[Offer], document: Document, documents: Documents, unit: ColumnUnit
) -> t.CodeAction:
    """All verified fixes of one file that don't touch each other, as one edit."""
    text = document.text
    parts = sorted(
        {edit for offer in offers for change in offer.fix.candidate.edits for edit in change.edits}
    )
    change = document_edit(document.path, text, edits.apply(text, parts), documents, unit)
    edit = t.WorkspaceEdit(document_changes=[change])
    return t.CodeAction(title="Apply every verified fix of this file", kind=FIX_ALL, edit=edit)


def _about(nodeid: str, context: t.CodeActionContext) -> list[t.Diagnostic]:
    return [
        d
        for d in context.diagnostics
        if d.source == "regreen" and isinstance(d.data, Mapping) and d.data.get("nodeid") == nodeid
    ]


def _action(title: str, command: str, argument: Mapping[str, Any], about: list[t.Diagnostic]) -> t.CodeAction:
    return t.CodeAction(
        title=title,
        kind=QUICK_FIX,
        diagnostics=about or None,
        command=t.Command(title=title, command=COMMAND + command, arguments=[dict(argument)]),
    )


def code_lens(lens: Lens) -> t.CodeLens:
    """A lens at the beginning of its line."""
    command = t.Command(title=lens.title, command=COMMAND + lens.command, arguments=[dict(lens.argument)])
    return t.CodeLens(range=_whole_line(lens.line), command=command)


# --------------------------------------------------------------------------- custom


def status(value: Status) -> dict[str, Any]:
    """A project's state, for `regreen/status` and the command `status`."""
    return {
        "root": value.root.as_uri(),
        "state": value.state,
        "message": value.message,
        "red": value.red,
        "fixes": value.fixes,
        "autoHeal": value.auto_heal,
        "isolation": value.isolation,
        "model": value.model,
        "usdToday": value.usd_today,
    }


def virtual_uri(kind: str, fix_id: str, *place: str) -> str:
    """The URI of a document that exists only here: a fix's diff, or a file with the fix applied."""
    return "/".join([f"{SCHEME}:/{kind}", *(quote(part, safe="") for part in (fix_id, *place))])


def diff(offer: Offer, documents: Documents) -> dict[str, Any]:
    """A fix as text, for clients that show it by themselves; `afterUri` is a document of ours with the text after."""
    return {
        "title": fix_title(offer),
        "fix": offer.fix.fix_id,
        "diff": offer.fix.diff,
        "files": [
            {
                "uri": uri(path, documents),
                "before": edits.decode(data).text,
                "after": edits.decode(offer.after[path]).text,
                "afterUri": virtual_uri("after", offer.fix.fix_id, str(number), path.name),
            }
            for number, (path, data) in enumerate(offer.before.items())
        ],
    }


def red(value: RedHere, documents: Documents) -> dict[str, Any]:
    """A red test with the fixes that fit the text as it is, best first, for lists and menus.

    `line` is where the test is defined, 0-based; `expected` and `actual` are null without a comparison by `==`.
    """
    state, nodeid = value.state, value.nodeid
    outcome, known = state.outcomes.get(nodeid), state.known_reds.get(nodeid)
    failure = outcome.failure if outcome is not None else None
    path, line = (known.path, known.line) if known is not None else (state.root, 0)
    if outcome is not None:
        path, line = outcome.path, outcome.line
    shown = failing_line(failure) if failure is not None else (path, line)
    comparison = failure.comparison if failure is not None and failure.comparison is not None else None
    compared = comparison if comparison is not None and comparison.op == "==" else None
    return {
        "nodeid": nodeid,
        "name": short_name(nodeid),
        "root": state.root.as_uri(),
        "uri": uri(path, documents),
        "line": line,
        "at": {"uri": uri(shown[0], documents), "line": shown[1]},
        "message": describe(failure) if failure is not None else "It failed in the last pytest run.",
        "expected": compared.right if compared is not None else None,
        "actual": compared.left if compared is not None else None,
        "searching": nodeid in state.searching,
        "note": outcome_note(state, nodeid),
        "fixes": [
            {"fix": offer.fix.fix_id, "title": fix_title(offer), "short": offer.fix.candidate.title}
            for offer in value.offers
        ],
    }
