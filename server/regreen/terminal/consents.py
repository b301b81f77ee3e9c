"""Which folders' code may go to which models, and how is that taken back?"""

from __future__ import annotations

from pathlib import Path

from regreen.llm.consent import ConsentStore
from regreen.terminal.archive import line
from regreen.terminal.console import outputs
from regreen.terminal.evidence import plural
from regreen.terminal.tables import columns


def list_consents() -> int:
    """Print every answer that the user gave."""
    out, _ = outputs()
    given = ConsentStore().given()
    rows = [
        [
            one.answer,
            one.at[:10],
            "any model" if one.answer == "refused" else line(one.model),
            line("any address" if one.answer == "refused" else one.address or "this machine"),
            line(one.folder),
        ]
        for one in given
    ]
    out.print(
        columns([["answer", "since", "model", "address", "folder"], *rows])
        if rows
        else "No folder's code may go to a model. You are asked before the first time."
    )
    return 0


def revoke_consent(path: Path) -> int:
    """Forget the answers for a folder, so that it is asked again; 1 when there were none."""
    out, err = outputs()
    gone = ConsentStore().revoke(path)
    if not gone:
        err.print(f"Nothing was answered for {path} itself. `regreen consent list` shows all answers.")
        return 1
    out.print(
        f"{plural(len(gone), 'answer')} for {path} forgotten; you will be asked before anything is sent."
    )
    return 0
