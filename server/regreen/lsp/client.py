"""What can the client on the other side do, and what did it say about itself?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsprotocol import types as t
from pygls.capabilities import get_capability

from regreen.edits import ColumnUnit
from regreen.lsp import from_proto


@dataclass(frozen=True, slots=True)
class Client:
    """The facts that decide how we answer.

    Args:
        unit: what columns count.
        resolves_edits: asks for an action's edit when the user picks it, and sends our data back.
        trusted: what `initializationOptions.trusted` says: of all folders, or the folders it names.
        shows_status: `initializationOptions.client.status`: it takes `regreen/status` notifications.
        docs: `initializationOptions.client.docs`: the URI of a folder with the documentation; "" when there is none.
        settings: `initializationOptions.settings`.
        keys: `initializationOptions.keys`: API keys from the client's secret store, by name of the variable.
    """

    unit: ColumnUnit = ColumnUnit.UTF16
    resolves_edits: bool = False
    shows_related: bool = False
    shows_progress: bool = False
    shows_documents: bool = False
    applies_edits: bool = False
    refreshes_lenses: bool = False
    answers_configuration: bool = False
    registers_configuration: bool = False
    registers_watchers: bool = False
    registers_content: bool = False
    trusted: bool | frozenset[Path] | None = None
    shows_status: bool = False
    docs: str = ""
    settings: Mapping[str, Any] | None = None
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)

    def trusts(self, folder: Path) -> bool | None:
        """What the client says about a folder; None when it says nothing."""
        return (folder in self.trusted or None) if isinstance(self.trusted, frozenset) else self.trusted


def read(params: t.InitializeParams, encoding: str | None) -> Client:
    """Read the facts from the initialize request and the negotiated position encoding."""
    capabilities = params.capabilities
    options = params.initialization_options
    options = options if isinstance(options, Mapping) else {}
    about = options.get("client")
    about = about if isinstance(about, Mapping) else {}
    settings = options.get("settings")

    def can(path: str) -> bool:
        return bool(get_capability(capabilities, path, False))

    resolvable = (
        get_capability(capabilities, "text_document.code_action.resolve_support.properties", ()) or ()
    )
    return Client(
        unit=ColumnUnit(encoding) if encoding in {"utf-8", "utf-32"} else ColumnUnit.UTF16,
        resolves_edits="edit" in resolvable and can("text_document.code_action.data_support"),
        shows_related=can("text_document.publish_diagnostics.related_information"),
        shows_progress=can("window.work_done_progress"),
        shows_documents=can("window.show_document.support"),
        applies_edits=can("workspace.apply_edit"),
        refreshes_lenses=can("workspace.code_lens.refresh_support"),
        answers_configuration=can("workspace.configuration"),
        registers_configuration=can("workspace.did_change_configuration.dynamic_registration"),
        registers_watchers=can("workspace.did_change_watched_files.dynamic_registration"),
        registers_content=can("workspace.text_document_content.dynamic_registration"),
        trusted=_trusted(options.get("trusted")),
        shows_status=bool(about.get("status")),
        docs=str(about.get("docs") or "").rstrip("/"),
        settings=settings if isinstance(settings, Mapping) else None,
        keys=_keys(options.get("keys")),
    )


def _keys(value: Any) -> Mapping[str, str]:
    given = value if isinstance(value, Mapping) else {}
    return {str(name): key for name, key in given.items() if isinstance(key, str) and key}


def _trusted(value: Any) -> bool | frozenset[Path] | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, (list, tuple)):
        return frozenset(path for uri in value if (path := from_proto.path(str(uri))) is not None)
    return None
