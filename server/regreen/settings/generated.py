"""How do the settings read in package.json, in the manual, and in an editor's configuration?

`scripts/generate.py` writes these texts into the files; a test compares.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from regreen.settings import SCHEMA, Setting

VSCODE_GROUPS: Mapping[str, tuple[str, ...]] = {
    "Regreen": ("enable", "runTests", "interpreter", "autoHeal"),
    "Fixes": ("heal",),
    "Tests": ("tests", "envFile"),
    "Isolation": ("isolation",),
    "Language models": ("llm",),
    "Budget": ("budget",),
    "Private copy": ("mirror",),
}
"""The headings of VS Code's settings page, with the first words of the keys below each."""

VSCODE_ONLY: Mapping[str, dict[str, Any]] = {
    "path": {
        "type": "string",
        "default": "",
        "scope": "machine",
        "markdownDescription": "The `regreen` to start. Empty: the one on `PATH`, else one of the extension's own.",
    },
    "testExplorer": {
        "type": "boolean",
        "default": False,
        "scope": "window",
        "markdownDescription": "List red tests with their fixes in the Test Explorer, beside what other extensions list there.",
    },
}
"""What is the extension's own to read; the server never sees it."""


def vscode_configuration() -> list[dict[str, Any]]:
    """The `contributes.configuration` block of package.json."""
    groups = []
    for title, words in VSCODE_GROUPS.items():
        properties = {f"regreen.{s.key}": _vscode_property(s) for s in SCHEMA if s.key.split(".")[0] in words}
        if title == "Regreen":
            properties |= {f"regreen.{key}": dict(value) for key, value in VSCODE_ONLY.items()}
        for order, value in enumerate(properties.values()):
            value["order"] = order
        groups.append({"title": title, "properties": properties})
    return groups


def _vscode_property(setting: Setting) -> dict[str, Any]:
    result: dict[str, Any] = {
        "type": setting.type,
        "default": setting.default,
        "scope": setting.scope,
        "markdownDescription": setting.description,
    }
    if setting.choices:
        result["enum"] = [name for name, _ in setting.choices]
        result["enumDescriptions"] = [meaning for _, meaning in setting.choices]
    if setting.type == "array":
        result["items"] = {"type": "string"}
    if setting.minimum is not None:
        result["minimum"] = setting.minimum
    if setting.maximum is not None:
        result["maximum"] = setting.maximum
    return result


_REPOSITORY_WORDS = {"never": "no", "restrict": "only to restrict", "free": "yes"}


def markdown_table() -> str:
    """The table of docs/settings.md."""
    rows = [
        "| setting | type | default | what it does | may the repository set it? |",
        "|---|---|---|---|---|",
    ]
    for s in SCHEMA:
        meaning = s.description + "".join(f" `{name}`: {text}." for name, text in s.choices)
        default = f"`{json.dumps(s.default)}`"
        rows.append(
            f"| `regreen.{s.key}` | {s.type} | {default} | {meaning} | {_REPOSITORY_WORDS[s.repository]} |"
        )
    return "\n".join(rows) + "\n"


def defaults_tree() -> dict[str, Any]:
    """The defaults as nested objects, the way clients without a settings page send them."""
    tree: dict[str, Any] = {}
    for setting in SCHEMA:
        *parents, name = setting.key.split(".")
        node = tree
        for parent in parents:
            node = node.setdefault(parent, {})
        node[name] = setting.default
    return tree


def neovim_snippet() -> str:
    """What a Neovim user writes to change settings, with every default."""
    return f'vim.lsp.config("regreen", {{ settings = {{ regreen = {_lua(defaults_tree())} }} }})\n'


def helix_snippet() -> str:
    """What a Helix user writes into languages.toml to change settings, with every default."""
    lines = [
        "[language-server.regreen]",
        'command = "regreen"',
        "",
        "[language-server.regreen.config.regreen]",
    ]
    return "\n".join([*lines, *(f"{s.key} = {json.dumps(s.default)}" for s in SCHEMA)]) + "\n"


def _lua(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {_lua(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "{ " + ", ".join(map(_lua, value)) + " }" if value else "{}"
    return json.dumps(value)
